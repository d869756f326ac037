package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/signals"
)

// checkpointOptions are the flags of one checkpoint.
type checkpointOptions struct {
	update checkpoint.Update
	text   text
	draft  draft
	dryRun bool
	commit bool
}

func (a *app) checkpointCommand() *cobra.Command {
	var o checkpointOptions
	cmd := &cobra.Command{
		Use:        "checkpoint ID",
		SuggestFor: []string{"update", "comment", "note"},
		Short:      "leave signals and a state estimate for whoever comes next",
		Long: "Write signals and the state estimate of an issue, at once or not at all.\n" +
			"The estimate describes the state as it is now; it replaces the one before.\n" +
			"Give it as four texts, or as one with -m, --file, or - for standard input; on a\n" +
			"terminal and with nothing given the editor opens.",
		GroupID: "work",
		Args:    takes(1, 2, "one issue, and - to read the estimate from standard input"),
		Example: "  stig checkpoint demo-1 --surprise 0.2 --progress implementing \\\n" +
			"    --done \"parser reads both forms\" --remains \"error places\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.readCheckpoint(cmd, args, &o); err != nil {
				return err
			}
			return a.keep(o.draft, a.checkpoint(cmd, args[0], o))
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
	takesText(cmd, &o.text, "the whole state estimate")
	flags.StringVar(&o.update.Question.Text, "escalate", "", "also ask a person this `QUESTION`: escalation becomes pending")
	flags.StringVar(&o.update.Ran, "evidence", "", "what was `RUN` to show that it works, and what it said: evidence-freshness becomes today")
	flags.BoolVar(&o.update.NoContext, "no-context", false, "allow implementing or blocked without a state estimate")
	flags.BoolVar(&o.update.Reaffirm, "reaffirm", false, "date the given signals even where their value stays")
	flags.BoolVar(&o.commit, "commit", false, "commit the store alone, as chore(beads): checkpoint ID")
	a.writes(cmd, &o.dryRun)
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
func (a *app) readCheckpoint(cmd *cobra.Command, args []string, o *checkpointOptions) error {
	o.update.Signals = map[signals.Signal]string{}
	for _, s := range signals.All() {
		if flag := cmd.Flags().Lookup(flagName(s)); flag != nil && flag.Changed {
			o.update.Signals[s] = flag.Value.String()
		}
	}
	if rest := o.text.dash(args); len(rest) != 1 {
		return usage(fmt.Sprintf("%s: takes one issue; found %q after it", called(cmd), rest[len(rest)-1]), "quote texts, and give them by a flag")
	}
	text, err := a.read(o.text)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" && (o.text.given() || cmd.Flags().Changed("message")) {
		return usage("the state estimate is empty", "say how things stand, or leave out -m, --file and -")
	}
	if text != "" && !o.update.Estimate.Empty() {
		return usage("the state estimate is given twice", "give one text, or --done --learned --remains --downstream")
	}
	if text != "" {
		o.update.Estimate.Body = text
	}
	if cmd.Flags().Changed("escalate") && strings.TrimSpace(o.update.Question.Text) == "" {
		return usage("--escalate: the question is empty", "say what a person has to decide, or leave it out")
	}
	if err := checkEvidence(cmd, o.update); err != nil {
		return err
	}
	if len(o.update.Signals) == 0 && o.update.Estimate.Empty() && o.update.Question.Text == "" && o.update.Ran == "" {
		if a.asks() {
			o.draft, err = a.compose(cmd.Context(), signals.EstimateForm(), "The state of "+args[0]+" as it is now, for whoever comes next. It replaces the estimate before.\n")
			o.update.Estimate.Body = o.draft.text
			return err
		}
		return usage("nothing to write", "give a signal such as --surprise 0.2, or a state estimate with --done … or -m …")
	}
	return nil
}

// checkEvidence refuses evidence that says nothing, and a second day for it.
func checkEvidence(cmd *cobra.Command, u checkpoint.Update) error {
	if !cmd.Flags().Changed("evidence") {
		return nil
	}
	if strings.TrimSpace(u.Ran) == "" {
		return usage("--evidence: says nothing", "say what was run, and what it said")
	}
	if _, given := u.Signals[signals.EvidenceFreshness]; given {
		return usage("--evidence is of today, and --evidence-freshness gives a day too", "leave one of them out")
	}
	return nil
}

func (a *app) checkpoint(cmd *cobra.Command, id string, o checkpointOptions) error {
	store, options, err := a.toWrite(cmd.Context(), o.dryRun)
	if err != nil {
		return err
	}
	o.update.Evidence = a.config.Signals.Evidence
	if o.update.Question.Text != "" { // who asks is on record; nothing else of a checkpoint names its actor
		if o.update.Question.By, err = a.actorName(cmd.Context()); err != nil {
			return err
		}
	}
	commit := func(string) (string, error) { return "", nil }
	if o.commit && !o.dryRun {
		if commit, err = a.prepareCommit(cmd.Context(), store); err != nil {
			return err
		}
	}
	report, err := checkpoint.Write(cmd.Context(), store, options, id, o.update,
		checkpoint.Rules{Schema: a.schema, Now: options.Now})
	if err != nil {
		return err
	}
	if report.Commit, err = commit(report.ID); err != nil {
		return err
	}
	if !o.dryRun {
		a.notify(cmd.Context(), store, options.Now, reportNotices(report, o.update.Question, options.Now.Format(time.DateOnly)))
	}
	if a.json {
		return a.printEdit("checkpoint", report, report.Lines, o.dryRun)
	}
	if o.dryRun {
		return a.printDiff(report.Lines)
	}
	return a.printCheckpoint(report)
}

func (a *app) printCheckpoint(r *checkpoint.Report) error {
	var text strings.Builder
	if len(r.Lines) == 0 {
		fmt.Fprintf(&text, "%s: nothing changed\n", r.ID)
	} else {
		fmt.Fprintf(&text, "%s: checkpoint written\n", r.ID)
	}
	for _, c := range r.Changed {
		fmt.Fprintf(&text, "  %s: %s → %s\n", c.Signal, c.From, c.To)
	}
	for _, name := range r.Sections {
		if name != signals.Section {
			fmt.Fprintf(&text, "  %s: written\n", name)
		}
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
	if err := a.print(text.String()); err != nil {
		return err
	}
	a.warnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}
