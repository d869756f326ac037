package issue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/notes"
	"stig/signals"
)

func ListCommand(a *cli.App) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:        "list",
		SuggestFor: []string{"ls", "search"},
		Short:      "the issues that are not closed, or those that match",
		Long: "List issues by priority, then id: those that are not closed, unless --all or\n" +
			"--status asks for others. Every filter must match; of several values of one\n" +
			"filter, separated by commas, one is enough.",
		GroupID: "graph",
		Args:    cli.Takes(0, 0, "no arguments; filters are flags"),
		Example: "  stig list --status open,in_progress --priority 0,1\n" +
			"  stig list --signal cynefin=complex --signal progress=exploring",
		RunE: func(*cobra.Command, []string) error {
			file, err := a.Open()
			if err != nil {
				return err
			}
			defer file.Close()
			f, err := o.filter(file)
			if err != nil {
				return err
			}
			rows, err := listed(a, file, f)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON("list", map[string]any{"issues": rows})
			}
			return a.Print(listText(rows))
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.status, "status", nil, "`STATUS`es such as open,in_progress")
	flags.StringSliceVar(&o.kinds, "type", nil, "`TYPE`s such as bug,task")
	flags.StringSliceVar(&o.priority, "priority", nil, "priorities, 0 (most urgent) to 4, or P0 to P4")
	flags.StringArrayVar(&o.labels, "label", nil, "a `LABEL`; of several each must be there")
	flags.StringSliceVar(&o.assignee, "assignee", nil, "`NAME`s of those who do it")
	flags.StringArrayVar(&o.signals, "signal", nil, "a `NAME=VALUE` such as cynefin=complex; of several each must hold")
	flags.BoolVar(&o.all, "all", false, "closed issues too")
	return cmd
}

// listOptions are the flags of list as they were typed.
type listOptions struct {
	status, kinds, priority, labels, assignee, signals []string
	all                                                bool
}

// filter says which issues to list. An empty set lets everything through.
type filter struct {
	status, kinds, labels, assignee []string
	priority                        []int
	signals                         []wanted
	all                             bool
}

// wanted is a signal with the value to have, as it stands in a table.
type wanted struct {
	signal signals.Signal
	value  string
}

// filter checks the flags: a value that no issue can have is a mistake, not an
// empty list.
func (o listOptions) filter(file *beads.Snapshot) (f filter, err error) {
	f = filter{labels: o.labels, assignee: o.assignee, all: o.all}
	statuses := []string{"open", "in_progress", "blocked", "deferred", "closed", "tombstone", "pinned", "hooked"}
	if f.status, err = oneOf(file, "--status", o.status, statuses, func(i *beads.Issue) string { return i.Status }); err != nil {
		return f, err
	}
	if f.kinds, err = oneOf(file, "--type", o.kinds, checkpoint.Types(), func(i *beads.Issue) string { return i.Type }); err != nil {
		return f, err
	}
	for _, text := range o.priority {
		p, err := priorityOf(text)
		if err != nil {
			return f, err
		}
		f.priority = append(f.priority, p)
	}
	for _, text := range o.signals {
		w, err := wantedSignal(text)
		if err != nil {
			return f, err
		}
		f.signals = append(f.signals, w)
	}
	return f, nil
}

// oneOf lets through what is usual or what the store itself holds.
func oneOf(file *beads.Snapshot, flag string, given, usual []string, of func(*beads.Issue) string) ([]string, error) {
	allowed := slices.Clone(usual)
	if len(given) > 0 {
		var own []string
		for _, issue := range file.All() {
			if value := of(issue); value != "" && !slices.Contains(allowed, value) {
				own = append(own, value)
				allowed = append(allowed, value)
			}
		}
		slices.Sort(own)
		allowed = append(allowed[:len(usual)], own...)
	}
	for _, value := range given {
		if !slices.Contains(allowed, value) {
			return nil, app.Usage(fmt.Sprintf("%s: must be one of %s; found %q", flag, strings.Join(allowed, ", "), value), "")
		}
	}
	return given, nil
}

// wantedSignal reads NAME=VALUE.
func wantedSignal(text string) (w wanted, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return w, app.Usage(fmt.Sprintf("--signal: must be NAME=VALUE; found %q", text), "for example --signal cynefin=complex")
	}
	if w.signal, err = signalNamed(name); err != nil {
		return w, err
	}
	if domain := w.signal.Domain(); domain != nil && !slices.Contains(domain, value) {
		return w, app.Usage(fmt.Sprintf("--signal: %s: must be one of %s; found %q", w.signal, strings.Join(domain, ", "), value), "")
	}
	table := "<!-- " + signals.Section + " -->\n| Signal | Value |\n|---|---|\n| " + w.signal.String() + " | " + value + " |\n<!-- /" + signals.Section + " -->"
	read := signals.Read(notes.Parse(table), nil)
	for _, found := range read.Findings() {
		if found.Signal == w.signal.String() {
			return w, app.Usage("--signal: "+found.Message, "")
		}
	}
	w.value = read.Value(w.signal)
	return w, nil
}

// listRow is one issue as it is listed.
type listRow struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"`
	Status    string         `json:"status"`
	IssueType string         `json:"issue_type"`
	Priority  int            `json:"priority"`
	Assignee  string         `json:"assignee"`
	Signals   *signals.Table `json:"signals"`
}

// listed gives the issues that pass, by priority, then id. Lines are read only
// of issues that pass what the index knows.
func listed(a *cli.App, file *beads.Snapshot, f filter) ([]listRow, error) {
	rows := []listRow{}
	none := signals.Read(notes.Parse(""), a.Schema)
	reader := file.Reader()
	for i, issue := range file.All() {
		if at, _ := file.Index(issue.ID); at != i || !f.indexed(issue) {
			continue
		}
		table := none
		if len(f.labels) > 0 || issue.HasNotes && (a.JSON || len(f.signals) > 0) {
			record, err := reader.Record(issue)
			if err != nil {
				return nil, err
			}
			if labels := record.Labels(); slices.ContainsFunc(f.labels, func(l string) bool { return !slices.Contains(labels, l) }) {
				continue
			}
			if issue.HasNotes {
				table = signals.Read(notes.Parse(record.Text(beads.Notes)), a.Schema)
			}
		}
		if slices.ContainsFunc(f.signals, func(w wanted) bool { return table.Value(w.signal) != w.value }) {
			continue
		}
		rows = append(rows, listRow{
			ID: issue.ID, Title: issue.Title, Status: issue.Status, IssueType: issue.Type,
			Priority: issue.Priority, Assignee: issue.Assignee, Signals: table,
		})
	}
	slices.SortFunc(rows, func(x, y listRow) int {
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.ID, y.ID))
	})
	return rows, nil
}

// indexed reports whether an issue passes by what the index knows of it.
func (f filter) indexed(issue *beads.Issue) bool {
	switch {
	case len(f.status) > 0:
		if !slices.Contains(f.status, issue.Status) {
			return false
		}
	case issue.Status == "tombstone", issue.Status == "closed" && !f.all:
		return false
	}
	return (len(f.kinds) == 0 || slices.Contains(f.kinds, issue.Type)) &&
		(len(f.priority) == 0 || slices.Contains(f.priority, issue.Priority)) &&
		(len(f.assignee) == 0 || slices.Contains(f.assignee, issue.Assignee))
}

// listText puts each issue on one line.
func listText(rows []listRow) string {
	var id, status, kind int
	for _, r := range rows {
		id, status, kind = max(id, utf8.RuneCountInString(r.ID)), max(status, len(r.Status)), max(kind, len(r.IssueType))
	}
	var b strings.Builder
	for _, r := range rows {
		line := fmt.Sprintf("P%d  %-*s  %-*s  %-*s  %s", r.Priority, id, r.ID, status, r.Status, kind, r.IssueType, r.Title)
		if r.Assignee != "" {
			line = fmt.Sprintf("P%d  %-*s  %-*s  %-*s  @%s  %s", r.Priority, id, r.ID, status, r.Status, kind, r.IssueType, r.Assignee, r.Title)
		}
		b.WriteString(cli.CutLine(line, cli.ListWidth) + "\n")
	}
	fmt.Fprintf(&b, "%s\n", app.Counted(len(rows), "issue"))
	return b.String()
}
