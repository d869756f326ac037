package decide

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/signals"
)

// escalateOptions are the flags of one question.
type escalateOptions struct {
	question checkpoint.Question
	text     app.Text
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
			"A default is shown when its time has come. It is never executed. Several questions\n" +
			"may stand on an issue; whoever asked one can withdraw it, by its number or hash.",
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
				return app.Usage(fmt.Sprintf("%s: takes one issue; found %d arguments", cli.Called(cmd), len(args)), "quote the question, and give it with -m")
			}
			if err := o.readDefault(); err != nil {
				return err
			}
			return escalate(cmd.Context(), a, args[0], o)
		},
	}
	cli.TakesText(cmd, &o.text, "the question")
	flags := cmd.Flags()
	flags.StringArrayVar(&o.question.Options, "option", nil, "an alternative as one `TEXT`; once for each")
	flags.StringVar(&o.holds, "default", "", "the `OPTION`, by its number or text, that holds when nobody answers")
	flags.StringVar(&o.after, "after", "", "the `TIME` after which the default holds, such as 24h or 3d")
	flags.BoolVar(&o.withdraw, "withdraw", false, "take back a question of one's own, and say why")
	flags.BoolVar(&o.question.Process, "process", false, "ask whether the way of working should change")
	a.Writes(cmd, &o.dryRun)
	cli.Exclude(cmd, "withdraw", "option", "default", "after", "process")
	return cmd
}

// withdraw takes back the question that an argument names, or the only one.
func withdraw(a *cli.App, cmd *cobra.Command, args []string, o escalateOptions) error {
	if len(args) < 1 || len(args) > 2 {
		return app.Usage(fmt.Sprintf("%s: --withdraw takes one issue and a question; found %d arguments", cli.Called(cmd), len(args)), "quote the reason, and give it with -m")
	}
	r := resolveOptions{text: o.text, dryRun: o.dryRun, answer: checkpoint.Answer{Withdraw: true}}
	if len(args) == 2 {
		r.answer.Question = args[1]
	}
	return resolve(a, cmd, args[0], r)
}

// readDefault turns the flags of a default into the number of an option and a time.
func (o *escalateOptions) readDefault() (err error) {
	if (o.holds == "") != (o.after == "") {
		return app.Usage("--default and --after go together", "say which option holds, and after how long")
	}
	if o.holds == "" {
		return nil
	}
	if o.question.After, err = afterOf(o.after); err != nil {
		return err
	}
	for i, option := range o.question.Options {
		if o.holds == strconv.Itoa(i+1) || o.holds == option {
			o.question.Default = i + 1
			return nil
		}
	}
	return app.Usage(fmt.Sprintf("--default: must be the number or the text of an option; found %q", o.holds),
		"give the options with --option")
}

// afterOf reads a time span of at least a minute: 90m, 24h, 3d.
func afterOf(text string) (time.Duration, error) {
	const most = 3650 * 24 * time.Hour
	span, err := checkpoint.ParseSpan(text)
	if err != nil || span < time.Minute || span > most || span%time.Minute != 0 {
		return 0, app.Usage(fmt.Sprintf("--after: must be a time of whole minutes such as 90m, 24h or 3d; found %q", text), "")
	}
	return span, nil
}

func escalate(ctx context.Context, a *cli.App, id string, o escalateOptions) error {
	if _, err := a.MustActor(ctx); err != nil { // before anybody writes a question in the editor
		return err
	}
	text, d, err := a.TextOrDraft(ctx, o.text, "", "What has to be decided about "+id+", what speaks for each option, and why the issues do\nnot hold enough to choose. The options given with --option follow by themselves.\n")
	if err != nil {
		return err
	}
	o.question.Text = text
	asked, err := a.Escalate(ctx, app.EscalateRequest{ID: id, Question: o.question, DryRun: o.dryRun})
	if err = a.Keep(d, err); err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.PrintOutput(app.EscalateOutput(asked, o.dryRun))
	case o.dryRun:
		return a.PrintDiff(asked.Lines)
	}
	return printEscalated(a, asked.Report, asked.Ready)
}

func printEscalated(a *cli.App, r *checkpoint.Report, ready []app.ReadyRow) error {
	s := a.Sheet()
	s.Line(cli.Plain, r.ID+": asked, question "+r.Asked+"; a person has to answer")
	for _, c := range r.Changed {
		s.Line(cli.Plain, fmt.Sprintf("  %s: %s → %s", c.Signal, c.From, c.To))
	}
	for _, name := range r.Sections {
		if name != signals.Section {
			s.Line(cli.Plain, "  "+name+": written")
		}
	}
	for _, d := range r.Dependents {
		s.Line(cli.Plain, "waiting for it: "+d.ID+" "+app.Folded(d.Title))
	}
	if err := a.Show(s); err != nil {
		return err
	}
	if !a.Quiet {
		if err := printMoveOn(a, r.ID, ready); err != nil {
			return err
		}
	}
	a.WarnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}

// printMoveOn says what to do while the question waits.
func printMoveOn(a *cli.App, id string, ready []app.ReadyRow) error {
	s := a.Sheet()
	s.Blank()
	s.Wrap(cli.Plain, "", "", "Move on: do not decide this yourself. Work on what does not depend on the answer, or on another issue.")
	for _, row := range ready {
		s.Put(cli.Typed, "  stig claim "+row.ID)
		s.Line(cli.Plain, "  "+app.Folded(row.Title))
	}
	if len(ready) == 0 {
		s.Line(cli.Plain, "Nothing else is ready.")
	}
	s.Put(cli.Plain, "To wait for the answer: ")
	s.Line(cli.Typed, "stig await "+id)
	return a.Show(s)
}
