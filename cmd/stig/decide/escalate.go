package decide

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
)

// escalateOptions are the flags of one question.
type escalateOptions struct {
	question checkpoint.Question
	text     cli.Text
	holds    string // the option that holds when nobody answers: its number or its text
	after    string
	withdraw bool
	dryRun   bool
}

func EscalateCommand(a *cli.App) *cobra.Command {
	var o escalateOptions
	cmd := &cobra.Command{
		Use:   "escalate ID",
		Short: "ask a person what the issues do not hold enough to decide",
		Long: "Ask a person. The question is kept with the issue, every briefing on it shows the\n" +
			"question, and escalation becomes pending. Say what has to be decided, what speaks\n" +
			"for each option, and why the issues do not hold enough to choose; then move on.\n" +
			"stig never chooses an answer, not the --default either: a person does, with stig\n" +
			"resolve. An issue may have several questions; whoever asked one can withdraw it,\n" +
			"by its number or hash.",
		GroupID: "decide",
		Args:    cli.Takes(1, 3, "one issue, with --withdraw a question, and - to read the text from standard input"),
		Example: "  stig escalate demo-1 -m \"Which quay first?\" --option north --option \"south, which the ferry needs\"\n" +
			"  stig escalate demo-1 -m \"…\" --option yes --option no --default no --after 24h\n" +
			"  stig escalate demo-1 --withdraw 2 -m \"the survey of 2019 says which\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			args = o.text.Dash(args)
			if o.withdraw {
				return withdraw(a, cmd, args, o)
			}
			if len(args) != 1 {
				return workspace.Usage(fmt.Sprintf("%s: takes one issue; found %d arguments", cli.Called(cmd), len(args)), "quote the question, and give it with -m")
			}
			var err error
			if o.question.Default, o.question.After, err = service.DefaultOf(o.question.Options, o.holds, o.after); err != nil {
				return err
			}
			return escalate(cmd.Context(), a, args[0], o)
		},
	}
	cli.TakesText(cmd, &o.text, "the question")
	flags := cmd.Flags()
	flags.StringArrayVar(&o.question.Options, "option", nil, "an alternative as one `TEXT`; once for each")
	flags.StringVar(&o.holds, "default", "", "the `OPTION`, by number or text, to propose if nobody answers: a person still has to choose it")
	flags.StringVar(&o.after, "after", "", "the `TIME` without an answer after which to show the default as due, such as 24h or 3d")
	flags.BoolVar(&o.withdraw, "withdraw", false, "take back a question of one's own, and say why")
	flags.BoolVar(&o.question.Process, "process", false, "ask whether the way of working should change")
	a.Writes(cmd, &o.dryRun)
	cli.Exclude(cmd, "withdraw", "option", "default", "after", "process")
	return cmd
}

// withdraw takes back the question that an argument names, or the only one.
func withdraw(a *cli.App, cmd *cobra.Command, args []string, o escalateOptions) error {
	if len(args) < 1 || len(args) > 2 {
		return workspace.Usage(fmt.Sprintf("%s: --withdraw takes one issue and a question; found %d arguments", cli.Called(cmd), len(args)), "quote the reason, and give it with -m")
	}
	r := resolveOptions{text: o.text, dryRun: o.dryRun, answer: checkpoint.Answer{Withdraw: true}}
	if len(args) == 2 {
		r.answer.Question = args[1]
	}
	return resolve(cmd.Context(), a, args[0], r)
}

func escalate(ctx context.Context, a *cli.App, id string, o escalateOptions) error {
	if _, err := a.MustActor(ctx); err != nil { // before anybody writes a question in the editor
		return err
	}
	text, d, err := a.TextOrDraft(ctx, o.text, "What has to be decided about "+id+", what speaks for each option, and why the issues do\nnot hold enough to choose. The options given with --option follow by themselves.\n")
	if err != nil {
		return err
	}
	o.question.Text = text
	asked, err := service.Escalate(ctx, a.Run, service.EscalateRequest{ID: id, Question: o.question, DryRun: o.dryRun})
	if err = a.Keep(d, err); err != nil {
		return err
	}
	return a.EditResult("escalate", asked, asked.Lines, o.dryRun, func() error { return printEscalated(a, asked.Report, asked.Ready) })
}
