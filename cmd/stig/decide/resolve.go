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

// resolveOptions are the flags of one answer.
type resolveOptions struct {
	answer checkpoint.Answer
	text   cli.Text
	dryRun bool
}

func ResolveCommand(a *cli.App) *cobra.Command {
	var o resolveOptions
	cmd := &cobra.Command{
		Use:   "resolve ID",
		Short: "answer the questions that wait on an issue",
		Long: "Answer the questions that stand on an issue, all of them or the one that --question\n" +
			"names; when none is left escalation becomes resolved, and the next briefing shows the\n" +
			"answer. On a terminal the briefing and the questions are shown first, and the options\n" +
			"can be chosen by number. Who answers is on record. Whoever asked may not answer, unless\n" +
			"--self is given: the point of asking is that somebody else decides.",
		GroupID: "decide",
		Args:    cli.Takes(1, 2, "one issue, and - to read the answer from standard input"),
		Example: "  stig resolve demo-1\n  stig resolve demo-1 --option 2 -m \"until spring\"\n  stig resolve demo-1 --question 2 -m \"the old one\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			args = o.text.Dash(args)
			if len(args) != 1 {
				return workspace.Usage(fmt.Sprintf("%s: takes one issue; found %d arguments", cli.Called(cmd), len(args)), "quote the answer, and give it with -m")
			}
			if cmd.Flags().Changed("option") && o.answer.Option < 1 {
				return workspace.Usage(fmt.Sprintf("--option: must be at least 1; found %d", o.answer.Option), "")
			}
			if cmd.Flags().Changed("question") && o.answer.Question == "" {
				return workspace.Usage("--question: must be the number or the hash of a question; found nothing", "type stig escalations to see them")
			}
			return resolve(cmd.Context(), a, args[0], o)
		},
	}
	cli.TakesText(cmd, &o.text, "the answer")
	flags := cmd.Flags()
	flags.IntVar(&o.answer.Option, "option", 0, "take option `N` of the question that offers options; a text is added to it")
	flags.StringVar(&o.answer.Question, "question", "", "answer this `QUESTION` alone: its number, or its hash")
	flags.BoolVar(&o.answer.Self, "self", false, "answer a question of one's own")
	a.Writes(cmd, &o.dryRun)
	return cmd
}

func resolve(ctx context.Context, a *cli.App, id string, o resolveOptions) error {
	answering, err := service.OpenQuestion(ctx, a.Run, id, o.dryRun)
	if err != nil {
		return err
	}
	answer := o.answer
	if answer.Text, err = a.Read(o.text); err != nil {
		return err
	}
	var d cli.Draft
	if answer.Option == 0 && !answer.Withdraw && !o.text.Given() && a.Asks() {
		if answer, d, err = askFor(ctx, a, answering, answer); err != nil {
			return err
		}
	}
	r, err := answering.Resolve(ctx, answer)
	if err = a.Keep(d, err); err != nil {
		return err
	}
	return a.EditResult("resolve", r, r.Lines, o.dryRun, func() error {
		left, err := answering.Unanswered()
		if err != nil {
			return err
		}
		return printResolved(a, r, left)
	})
}
