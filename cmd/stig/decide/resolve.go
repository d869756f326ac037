package decide

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
)

// resolveOptions are the flags of one answer.
type resolveOptions struct {
	answer           checkpoint.Answer
	text             cli.Text
	list, all, watch bool
	dryRun           bool
}

func ResolveCommand(a *cli.App) *cobra.Command {
	var o resolveOptions
	cmd := &cobra.Command{
		Use:   "resolve ID [N] [ANSWER]",
		Short: "answer the questions on an issue, or list all questions",
		Long: "Answer the questions on an issue: all of them, or the one that --question names. When none\n" +
			"is left, the signal escalation becomes resolved, and the next briefing shows the answer. N is\n" +
			"the number that is shown: of the question if there are several, else of the option. On a\n" +
			"terminal, without an answer, stig shows the briefing and the questions first. The answer\n" +
			"names who gave it. Who asked may not answer, unless --self is given.\n\n" +
			"--list lists the questions that wait for a person, oldest first: who asked, the options,\n" +
			"which issues wait, and what to type.",
		Args:    cobra.ArbitraryArgs, // runResolve checks them
		Example: "  stig resolve --list\n  stig resolve demo-1 \"the north quay\"\n  stig resolve demo-1 2 \"until spring\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runResolve(a, cmd, o.text.Dash(args), &o)
		},
	}
	cli.TakesText(cmd, &o.text, "the answer")
	flags := cmd.Flags()
	flags.IntVar(&o.answer.Option, "option", 0, "choose option `N` of the question; a text is added to it")
	flags.StringVar(&o.answer.Question, "question", "", "answer only this `QUESTION`: its number or its hash")
	flags.BoolVar(&o.answer.Self, "self", false, "answer your own question")
	flags.BoolVar(&o.list, "list", false, "list the questions that wait for a person")
	flags.BoolVar(&o.all, "all", false, "with --list, also list answered questions, and those of all projects")
	flags.BoolVar(&o.watch, "watch", false, "with --list, keep running and print new ones")
	a.Writes(cmd, &o.dryRun)
	cli.Exclude(cmd, "list", "message", "file", "option", "question", "self", "dry-run")
	cli.Exclude(cmd, "all", "watch")
	cli.Needs(cmd, "list", "all", "watch")
	return cmd
}

func runResolve(a *cli.App, cmd *cobra.Command, args []string, o *resolveOptions) error {
	switch {
	case o.list && len(args) > 0:
		return workspace.Usage(fmt.Sprintf("%s: --list takes no arguments; found %d", cli.Called(cmd), len(args)), "type stig resolve --list, or stig show "+args[0])
	case o.list:
		return listEscalations(cmd.Context(), a, o.all, o.watch)
	case len(args) == 0:
		return workspace.Usage(cli.Called(cmd)+": no issue given", "type stig resolve --list to see the questions")
	case cmd.Flags().Changed("option") && o.answer.Option < 1:
		return workspace.Usage(fmt.Sprintf("--option: must be at least 1; found %d", o.answer.Option), "")
	case cmd.Flags().Changed("question") && o.answer.Question == "":
		return workspace.Usage("--question: must be the number or the hash of a question; found nothing", "type stig resolve --list to see them")
	}
	id, said := args[0], args[1:]
	if len(said) > 0 && o.answer.Option == 0 && o.answer.Question == "" {
		if n, err := strconv.Atoi(said[0]); err == nil {
			if o.answer.Question, o.answer.Option, err = service.NumberedIn(a.Run, id, n); err != nil {
				return err
			}
			said = said[1:]
		}
	}
	if len(said) == 1 && !o.text.Given() {
		o.text.Message, said = said[0], nil
	}
	if len(said) > 0 {
		return workspace.Usage(fmt.Sprintf("%s: takes one issue and one answer; found %d arguments", cli.Called(cmd), len(args)), "put the answer in quotes")
	}
	return resolve(cmd.Context(), a, id, *o)
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
