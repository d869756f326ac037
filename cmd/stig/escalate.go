package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/checkpoint"
	"stig/dag"
	"stig/orient"
	"stig/signals"
)

// escalateOptions are the flags of one question.
type escalateOptions struct {
	question checkpoint.Question
	text     text
	holds    string // the option that holds when nobody answers: its number or its text
	after    string
	dryRun   bool
}

func (a *app) escalateCommand() *cobra.Command {
	var o escalateOptions
	cmd := &cobra.Command{
		Use:   "escalate ID",
		Short: "ask a person what the issues do not hold enough to decide",
		Long: "Ask a person. The question is kept with the issue, every briefing on it shows the\n" +
			"question, and escalation becomes pending. Say what has to be decided, what speaks\n" +
			"for each option, and why the issues do not hold enough to choose; then move on.\n" +
			"A default is shown when its time has come. It is never executed.",
		GroupID: "decide",
		Args:    takes(1, 2, "one issue, and - to read the question from standard input"),
		Example: "  stig escalate demo-1 -m \"Which quay first?\" --option north --option \"south, which the ferry needs\"\n" +
			"  stig escalate demo-1 -m \"…\" --option yes --option no --default no --after 24h",
		RunE: func(cmd *cobra.Command, args []string) error {
			args = o.text.dash(args)
			if len(args) != 1 {
				return usage(fmt.Sprintf("%s: takes one issue; found %d arguments", called(cmd), len(args)), "quote the question, and give it with -m")
			}
			if err := o.readDefault(); err != nil {
				return err
			}
			return a.escalate(cmd, args[0], o)
		},
	}
	takesText(cmd, &o.text, "the question")
	flags := cmd.Flags()
	flags.StringArrayVar(&o.question.Options, "option", nil, "an alternative as one `TEXT`; once for each")
	flags.StringVar(&o.holds, "default", "", "the `OPTION`, by its number or text, that holds when nobody answers")
	flags.StringVar(&o.after, "after", "", "the `TIME` after which the default holds, such as 24h or 3d")
	flags.BoolVar(&o.question.Process, "process", false, "ask whether the way of working should change")
	a.writes(cmd, &o.dryRun)
	return cmd
}

// readDefault turns the flags of a default into the number of an option and a time.
func (o *escalateOptions) readDefault() (err error) {
	if (o.holds == "") != (o.after == "") {
		return usage("--default and --after go together", "say which option holds, and after how long")
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
	return usage(fmt.Sprintf("--default: must be the number or the text of an option; found %q", o.holds),
		"give the options with --option")
}

// afterOf reads a time span of at least a minute: 90m, 24h, 3d.
func afterOf(text string) (time.Duration, error) {
	const most = 3650 * 24 * time.Hour
	span, err := spanOf(text)
	if err != nil || span < time.Minute || span > most || span%time.Minute != 0 {
		return 0, usage(fmt.Sprintf("--after: must be a time of whole minutes such as 90m, 24h or 3d; found %q", text), "")
	}
	return span, nil
}

func (a *app) escalate(cmd *cobra.Command, id string, o escalateOptions) error {
	store, options, err := a.toWrite(cmd.Context(), o.dryRun)
	if err != nil {
		return err
	}
	q := o.question
	q.Evidence = a.config.Signals.Evidence
	if q.By, err = a.mustActor(cmd.Context()); err != nil {
		return err
	}
	var d draft
	if q.Text, d, err = a.textOrDraft(cmd.Context(), o.text, "", "What has to be decided about "+id+", what speaks for each option, and why the issues do\nnot hold enough to choose. The options given with --option follow by themselves.\n"); err != nil {
		return err
	}
	report, err := checkpoint.Escalate(cmd.Context(), store, options, id, q, checkpoint.Rules{Schema: a.schema, Now: options.Now})
	if err = a.keep(d, err); err != nil {
		return err
	}
	if !o.dryRun {
		a.notify(cmd.Context(), store, options.Now, reportNotices(report, q, signals.Day(options.Now)))
	}
	if o.dryRun && !a.json {
		return a.printDiff(report.Lines)
	}
	ready, err := a.elsewhere(store, report.ID, q.By, options.Now)
	if err != nil {
		return err
	}
	if a.json {
		return a.printEdit("escalate", struct {
			*checkpoint.Report
			Ready []readyRow `json:"ready"`
		}{report, ready}, report.Lines, o.dryRun)
	}
	return a.printEscalated(report, ready)
}

// elsewhereRows is how many other issues whoever asked is told of.
const elsewhereRows = 3

// elsewhere lists the first issues that whoever asked can take meanwhile: ready,
// nobody else's, and waiting for no answer themselves.
func (a *core) elsewhere(store beads.Store, asked, actor string, now time.Time) ([]readyRow, error) {
	file, err := beads.Read(store)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph := dag.New(file)
	var ready []int
	for _, i := range graph.Ready(now) {
		issue := file.At(i)
		if issue.ID == asked || issue.Assignee != "" && issue.Assignee != actor {
			continue
		}
		waits, err := orient.Pending(file, []int{i}, a.schema)
		if err != nil {
			return nil, err
		}
		if waits[0] {
			continue
		}
		if ready = append(ready, i); len(ready) == elsewhereRows {
			break
		}
	}
	return a.readyRows(file, graph, ready)
}

func (a *app) printEscalated(r *checkpoint.Report, ready []readyRow) error {
	s := a.sheet()
	s.line(plain, r.ID+": asked; a person has to answer")
	for _, c := range r.Changed {
		s.line(plain, fmt.Sprintf("  %s: %s → %s", c.Signal, c.From, c.To))
	}
	for _, name := range r.Sections {
		if name != signals.Section {
			s.line(plain, "  "+name+": written")
		}
	}
	for _, d := range r.Dependents {
		s.line(plain, "waiting for it: "+d.ID+" "+folded(d.Title))
	}
	s.blank()
	s.wrap(plain, "", "", "Move on: do not decide this yourself. Work on what does not depend on the answer, or on another issue.")
	for _, row := range ready {
		s.put(typed, "  stig claim "+row.ID)
		s.line(plain, "  "+folded(row.Title))
	}
	if len(ready) == 0 {
		s.line(plain, "Nothing else is ready.")
	}
	s.put(plain, "To wait for the answer: ")
	s.line(typed, "stig await "+r.ID)
	if err := a.show(s); err != nil {
		return err
	}
	a.warnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}

// folded folds white space, so that a text cannot break the line it stands in.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }
