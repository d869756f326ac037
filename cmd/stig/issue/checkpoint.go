package issue

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/notes"
	"stig/signals"
)

// checkpointOptions are the flags of one checkpoint.
type checkpointOptions struct {
	update checkpoint.Update
	text   app.Text
	draft  cli.Draft
	dryRun bool
	commit bool
}

func CheckpointCommand(a *cli.App) *cobra.Command {
	var o checkpointOptions
	cmd := &cobra.Command{
		Use:        "checkpoint ID",
		SuggestFor: []string{"update", "comment", "note"},
		Short:      "leave signals and a state estimate for whoever comes next",
		Long: "Write signals and the state estimate of an issue, at once or not at all.\n" +
			"The estimate describes the state as it is now. --done, --learned, --remains and\n" +
			"--downstream each replace that part of it; the others stay, with their day.\n" +
			"With --replace, or as one text with -m, --file, or - for standard input, it\n" +
			"replaces all of the estimate before; on a terminal and with nothing given the editor\n" +
			"opens with the estimate that is there. The texts that disappear are printed.\n" +
			"--fold prints what merges of branches kept beside the estimate, and takes it away.",
		GroupID: "work",
		Args:    cli.Takes(1, 2, "one issue, and - to read the estimate from standard input"),
		Example: "  stig checkpoint demo-1 --surprise 0.2 --progress implementing \\\n" +
			"    --done \"parser reads both forms\" --remains \"error places\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := readCheckpoint(a, cmd, args, &o); err != nil {
				return err
			}
			return a.Keep(o.draft, runCheckpoint(a, cmd, args[0], o))
		},
	}
	flags := cmd.Flags()
	for _, s := range signals.All() {
		if s != signals.SchemaVersion && s != signals.Escalation {
			flags.String(flagName(s), "", usageOf(s))
		}
	}
	e := &o.update.Estimate
	flags.StringVar(&e.Done, "done", "", "what was done")
	flags.StringVar(&e.Learned, "learned", "", "what was learned")
	flags.StringVar(&e.Remains, "remains", "", "what remains")
	flags.StringVar(&e.Downstream, "downstream", "", "what issues that depend on this one should know")
	flags.BoolVar(&o.update.Replace, "replace", false, "replace the whole estimate with the parts given")
	cli.TakesText(cmd, &o.text, "the whole state estimate")
	flags.StringVar(&o.update.Question.Text, "escalate", "", "also ask a person this `QUESTION`: escalation becomes pending")
	flags.StringVar(&o.update.Ran, "evidence", "", "what was `RUN` to show that it works, and what it said: evidence-freshness becomes today")
	flags.BoolVar(&o.update.Fold, "fold", false, "print what branches also learned, and take it away")
	flags.BoolVar(&o.update.NoContext, "no-context", false, "allow implementing or blocked without a state estimate")
	flags.BoolVar(&o.update.Reaffirm, "reaffirm", false, "date the given signals even where their value stays")
	flags.BoolVar(&o.commit, "commit", false, "commit the store alone, as chore(beads): checkpoint ID")
	a.Writes(cmd, &o.dryRun)
	return cmd
}

// flagName is the flag that sets a signal.
func flagName(s signals.Signal) string {
	if s == signals.PlanningDepth {
		return "depth"
	}
	return s.String()
}

// readCheckpoint turns flags and texts into an update.
func readCheckpoint(a *cli.App, cmd *cobra.Command, args []string, o *checkpointOptions) error {
	o.update.Signals = map[signals.Signal]string{}
	for _, s := range signals.All() {
		if flag := cmd.Flags().Lookup(flagName(s)); flag != nil && flag.Changed {
			o.update.Signals[s] = flag.Value.String()
		}
	}
	if rest := o.text.Dash(args); len(rest) != 1 {
		return app.Usage(fmt.Sprintf("%s: takes one issue; found %q after it", cli.Called(cmd), rest[len(rest)-1]), "quote texts, and give them by a flag")
	}
	text, err := a.Read(o.text)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" && (o.text.Given() || cmd.Flags().Changed("message")) {
		return app.Usage("the state estimate is empty", "say how things stand, or leave out -m, --file and -")
	}
	if text != "" && !o.update.Estimate.Empty() {
		return app.Usage("the state estimate is given twice", "give one text, or --done --learned --remains --downstream")
	}
	if text != "" {
		o.update.Estimate.Body = text
	}
	if o.update.Replace && o.update.Estimate.Empty() {
		return app.Usage("--replace: no state estimate is given", "give one with --done … --learned … --remains … --downstream …")
	}
	if cmd.Flags().Changed("escalate") && strings.TrimSpace(o.update.Question.Text) == "" {
		return app.Usage("--escalate: the question is empty", "say what a person has to decide, or leave it out")
	}
	if err := checkEvidence(cmd, o.update); err != nil {
		return err
	}
	if len(o.update.Signals) == 0 && o.update.Estimate.Empty() && o.update.Question.Text == "" && o.update.Ran == "" && !o.update.Fold {
		if a.Asks() {
			return composeEstimate(cmd.Context(), a, args[0], o)
		}
		return app.Usage("nothing to write", "give a signal such as --surprise 0.2, or a state estimate with --done … or -m …")
	}
	return nil
}

// composeEstimate opens the editor with the estimate that is there.
func composeEstimate(ctx context.Context, a *cli.App, id string, o *checkpointOptions) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	file, at, err := a.OpenIssue(id)
	if err != nil {
		return err
	}
	defer file.Close()
	record, err := file.At(at).Record()
	if err != nil {
		return err
	}
	doc := notes.Parse(record.Text(beads.Notes))
	there, _ := signals.LastEstimate(doc)
	o.draft, err = a.Compose(ctx, signals.EstimateForm(doc, signals.Day(now)),
		"The state of "+id+" as it is now, for whoever comes next. This text replaces the estimate that is there.\n"+
			"A day in parentheses says when a part was written: remove it where you change the part.\n")
	o.update.Estimate.Body, o.update.Seen = o.draft.Text, &there.Body
	return err
}

// checkEvidence refuses evidence that says nothing, and a second day for it.
func checkEvidence(cmd *cobra.Command, u checkpoint.Update) error {
	if !cmd.Flags().Changed("evidence") {
		return nil
	}
	if strings.TrimSpace(u.Ran) == "" {
		return app.Usage("--evidence: says nothing", "say what was run, and what it said")
	}
	if _, given := u.Signals[signals.EvidenceFreshness]; given {
		return app.Usage("--evidence is of today, and --evidence-freshness gives a day too", "leave one of them out")
	}
	return nil
}

func runCheckpoint(a *cli.App, cmd *cobra.Command, id string, o checkpointOptions) error {
	store, options, err := a.ToWrite(cmd.Context(), o.dryRun)
	if err != nil {
		return err
	}
	o.update.Evidence = a.Config.Signals.Evidence
	if o.update.Question.Text != "" { // who asks is on record; nothing else of a checkpoint names its actor
		if o.update.Question.By, err = a.ActorName(cmd.Context()); err != nil {
			return err
		}
	}
	commit := func(string) (string, error) { return "", nil }
	if o.commit && !o.dryRun {
		if commit, err = a.PrepareCommit(cmd.Context(), store.Place()); err != nil {
			return err
		}
	}
	report, err := checkpoint.Write(cmd.Context(), store, options, id, o.update,
		checkpoint.Rules{Schema: a.Schema, Now: options.Now})
	if err != nil {
		return err
	}
	if report.Commit, err = commit(report.ID); err != nil {
		return err
	}
	if !o.dryRun {
		a.Notify(cmd.Context(), store.Place(), options.Now, app.ReportNotices(report, o.update.Question, signals.Day(options.Now)))
	}
	if a.JSON {
		return a.PrintEdit("checkpoint", report, report.Lines, o.dryRun)
	}
	if o.dryRun {
		return a.PrintDiff(report.Lines)
	}
	return printCheckpoint(a, report)
}

// shownText is the most characters of a text that disappeared, as one line shows it.
const shownText = 120

// changedLine says what became of a signal, or of a text of the estimate.
func changedLine(c checkpoint.Changed) string {
	if _, is := signals.Named(c.Signal); is {
		return fmt.Sprintf("%s: %s → %s", c.Signal, c.From, c.To)
	}
	what := "replaced"
	if c.To == "" {
		what = "removed"
	}
	return fmt.Sprintf("%s: %s; was %s", c.Signal, what, cli.OneLine(c.From, shownText))
}

// foldedText shows a merged estimate that was taken away, indented.
func foldedText(f checkpoint.Folded) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  also learned, on a branch%s; taken away:\n", ofDay(f.Date))
	for line := range strings.Lines(f.Text + "\n") {
		text.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
	}
	return text.String()
}

// ofDay is a day in parentheses, and nothing for one that is not known.
func ofDay(day string) string {
	if day == "" {
		return ""
	}
	return " (" + day + ")"
}

func printCheckpoint(a *cli.App, r *checkpoint.Report) error {
	var text strings.Builder
	nothing := r.Folded != nil && len(r.Folded) == 0
	switch {
	case len(r.Lines) > 0 && nothing:
		fmt.Fprintf(&text, "%s: checkpoint written\n  nothing to fold\n", r.ID)
	case len(r.Lines) > 0:
		fmt.Fprintf(&text, "%s: checkpoint written\n", r.ID)
	case nothing:
		fmt.Fprintf(&text, "%s: nothing to fold\n", r.ID)
	default:
		fmt.Fprintf(&text, "%s: nothing changed\n", r.ID)
	}
	for _, c := range r.Changed {
		fmt.Fprintf(&text, "  %s\n", changedLine(c))
	}
	for _, name := range r.Sections {
		if name != signals.Section {
			fmt.Fprintf(&text, "  %s: written\n", name)
		}
	}
	for _, f := range r.Folded {
		text.WriteString(foldedText(f))
	}
	for _, alert := range r.Alerts {
		fmt.Fprintf(&text, "alert %s: %s\n", alert.Rule, alert.Message)
	}
	for _, d := range r.Dependents {
		fmt.Fprintf(&text, "waiting for it: %s %s\n", d.ID, d.Title)
	}
	if r.Commit != "" {
		fmt.Fprintf(&text, "committed as %s\n", r.Commit)
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	a.WarnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}

func PropagateCommand(a *cli.App) *cobra.Command {
	var to []string
	var discovery app.Text
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "propagate ID --to ID…",
		Short: "put a discovery into the notes of the issues that it bears on",
		Long: "Put a text into the notes of other issues, as a section propagated-from ID DATE,\n" +
			"into all of them or none. Without --to these are the unclosed issues that wait\n" +
			"for ID. Their briefings show it.",
		GroupID: "work",
		Args:    cli.Takes(1, -1, "one issue, and - to read the text from standard input"),
		Example: "  stig propagate demo-1 --to demo-2 --to demo-3 -m \"times are UTC now\"\n  stig propagate demo-1 -m \"…\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			rest := discovery.Dash(args[1:])
			// --to A B C names three, as the usage line has it.
			if len(rest) > 0 && len(to) == 0 {
				return app.Usage(fmt.Sprintf("%s: takes one issue; found %q after it", cli.Called(cmd), rest[0]), "name who is to be told with --to ID")
			}
			text, d, err := a.TextOrDraft(cmd.Context(), discovery, "", "What was found out in "+args[0]+", as those need to know it whom it concerns.\n")
			if err != nil {
				return err
			}
			return a.Keep(d, propagate(a, cmd, args[0], append(to, rest...), text, dryRun))
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&to, "to", nil, "`ID`s of the issues to tell (default those that wait for it)")
	cli.TakesText(cmd, &discovery, "the discovery")
	a.Writes(cmd, &dryRun)
	return cmd
}

func propagate(a *cli.App, cmd *cobra.Command, id string, to []string, text string, dryRun bool) error {
	store, options, err := a.ToWrite(cmd.Context(), dryRun)
	if err != nil {
		return err
	}
	report, err := checkpoint.Propagate(cmd.Context(), store, options, id, to, text, checkpoint.Rules{Schema: a.Schema, Now: options.Now})
	if err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.PrintEdit("propagate", report, report.Lines, dryRun)
	case dryRun:
		return a.PrintDiff(report.Lines)
	}
	var out strings.Builder
	for _, t := range report.Targets {
		if t.Changed {
			fmt.Fprintf(&out, "%s: told, in section %s\n", t.ID, t.Section)
		} else {
			fmt.Fprintf(&out, "%s: was told already, in section %s\n", t.ID, t.Section)
		}
	}
	if err := a.Print(out.String()); err != nil {
		return err
	}
	a.WarnOfEdit("", report.Warnings, report.Lines)
	return nil
}
