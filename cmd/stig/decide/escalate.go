package decide

import (
	"context"
	"fmt"
	"time"

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
	holds    string // the option proposed as the answer: its number or its text
	after    string
	withdraw bool
	wait     bool
	which    string        // with wait, the question: its number, or its hash
	limit    time.Duration // with wait, the timeout; 0 is none
	dryRun   bool
}

func EscalateCommand(a *cli.App) *cobra.Command {
	var o escalateOptions
	cmd := &cobra.Command{
		Use:   "escalate ID [QUESTION]",
		Short: "ask a person a question, and wait for the answer",
		Long: "Ask a person. The question is kept with the issue, every briefing on the issue shows it, and\n" +
			"the signal escalation becomes pending. Say what needs a decision, what speaks for each\n" +
			"option, and what information is missing. A default is a proposal: a person still has to\n" +
			"confirm it. --withdraw takes a question back, by its number or hash.\n\n" +
			"--wait waits for the answer and prints it, at once if the question is answered already. On a\n" +
			"timeout, the exit code is 6.",
		Args: cli.Takes(1, -1, "one issue and the question, or - to read the question from standard input"),
		Example: "  stig escalate demo-1 \"Which quay first?\" --option north --option \"south, for the ferry\"\n" +
			"  stig escalate demo-1 --wait --timeout 10m && stig orient demo-1\n" +
			"  stig escalate demo-1 --withdraw 2 -m \"the survey of 2019 says which\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEscalate(a, cmd, o.text.Dash(args), &o)
		},
	}
	cli.TakesText(cmd, &o.text, "the question")
	flags := cmd.Flags()
	flags.StringArrayVar(&o.question.Options, "option", nil, "an option, as `TEXT`; may be repeated")
	flags.StringVar(&o.holds, "default", "", "propose `OPTION` (number or text); a person still has to confirm it")
	flags.StringVar(&o.after, "after", "", "propose the default after `TIME`, such as 24h or 3d")
	flags.BoolVar(&o.withdraw, "withdraw", false, "take back your own question, and say why")
	flags.BoolVar(&o.question.Process, "process", false, "ask whether the way of working should change")
	flags.BoolVar(&o.wait, "wait", false, "wait for the answer, and print it")
	flags.StringVar(&o.which, "question", "", "with --wait, the `QUESTION` to wait for: its number or its hash (default any)")
	cli.SpanVar(flags, &o.limit, "timeout", "with --wait, wait at most this long, such as 90s or 10m (default, and 0: until it is answered)")
	a.Writes(cmd, &o.dryRun)
	cli.Exclude(cmd, "withdraw", "option", "default", "after", "process", "wait")
	cli.Needs(cmd, "wait", "question", "timeout")
	return cmd
}

func runEscalate(a *cli.App, cmd *cobra.Command, args []string, o *escalateOptions) (err error) {
	if o.limit < 0 {
		return workspace.Usage(fmt.Sprintf("--timeout: must not be negative; found %s", o.limit), "")
	}
	if o.withdraw {
		return withdraw(a, cmd, args, *o)
	}
	if len(args) == 2 && !o.text.Given() {
		o.text.Message, args = args[1], args[:1]
	}
	switch {
	case len(args) != 1:
		return workspace.Usage(fmt.Sprintf("%s: takes one issue and one question; found %d arguments", cli.Called(cmd), len(args)), "put the question in quotes")
	case o.wait && !o.text.Given():
		return await(cmd.Context(), a, args[0], o.which, o.limit)
	}
	if o.question.Default, o.question.After, err = service.DefaultOf(o.question.Options, o.holds, o.after); err != nil {
		return err
	}
	return escalate(cmd.Context(), a, args[0], *o)
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
	if _, err := a.MustActor(ctx); err != nil { // fail before somebody writes a question in the editor
		return err
	}
	text, d, err := a.TextOrDraft(ctx, o.text, "What needs a decision about "+id+", what speaks for each option, and which information\nis missing. stig adds the options given with --option itself.\n")
	if err != nil {
		return err
	}
	o.question.Text = text
	asked, err := service.Escalate(ctx, a.Run, service.EscalateRequest{ID: id, Question: o.question, DryRun: o.dryRun})
	if err = a.Keep(d, err); err != nil {
		return err
	}
	if o.wait && !o.dryRun {
		a.Note("%s: asked, question %s; waiting for the answer", asked.ID, asked.Asked)
		return await(ctx, a, asked.ID, asked.Asked, o.limit)
	}
	return a.EditResult("escalate", asked, asked.Lines, o.dryRun, func() error { return printEscalated(a, asked.Report, asked.Ready) })
}
