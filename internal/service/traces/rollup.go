package traces

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// RollupRequest asks for the results of an epic's children. With Write they are saved in the
// notes of the epic.
type RollupRequest struct {
	Epic   string
	Write  bool
	DryRun bool
}

// Rollup is the results of the closed issues within an epic, dependencies first.
type Rollup struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Results []Outcome `json:"results"`
	Missing []Missing `json:"missing"`

	Markdown string         `json:"markdown"`
	Changes  []beads.Change `json:"-"`
}

// Outcome is the result of one issue.
type Outcome struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	From  string `json:"from"` // "completion", with Trace, or "close reason"
	Trace string `json:"trace,omitempty"`
	Text  string `json:"text"`
}

// Missing is an issue without a known result, and why.
type Missing struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Reason string `json:"reason"`
}

// RollUp collects the results of the issues within an epic: of each the newest completion, or
// else the close reason and the state estimate.
func RollUp(ctx context.Context, a *workspace.Run, r RollupRequest) (*Rollup, error) {
	rollup, err := rollupOf(a, r.Epic)
	if err != nil || !r.Write {
		return rollup, err
	}
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	options.Notes = notes.Permit{Change: []string{signals.SynthesisSection}}.Check
	changes, err := store.Edit(ctx, options, func(tx *beads.Tx) error {
		// Read the store again: otherwise the result of a child that was closed and rolled up
		// meanwhile would be lost.
		now, err := rollupIn(tx.Snapshot(), rollup.ID)
		if err != nil {
			return err
		}
		if rollup = now; len(rollup.Results) == 0 {
			return &fault.Error{Code: fault.Found, ID: rollup.ID, Reason: "nothing within it is closed, so there is nothing to keep"}
		}
		record, err := tx.Record(rollup.ID)
		if err != nil {
			return err
		}
		doc, err := notes.Parse(record.Text(beads.Notes)).Replace(signals.SynthesisSection, strings.TrimSpace(rollup.Markdown))
		if err != nil {
			return err
		}
		return tx.Set(rollup.ID, beads.Set{Key: beads.Notes, Text: doc.Text()})
	})
	if err != nil {
		return nil, err
	}
	rollup.Changes = changes
	return rollup, nil
}

func rollupOf(a *workspace.Run, id string) (*Rollup, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return rollupIn(file, id)
}

func rollupIn(file *beads.Snapshot, id string) (*Rollup, error) {
	epic, err := file.Find(id)
	if err != nil {
		return nil, err
	}
	graph := dag.New(file)
	at, _ := file.Index(epic.ID)
	if len(graph.Inside(at)) == 0 {
		return nil, workspace.Usage(epic.ID+": contains no issues", "name an epic")
	}
	rollup := &Rollup{ID: epic.ID, Title: epic.Title, Results: []Outcome{}, Missing: []Missing{}}
	for _, i := range inOrder(graph, at) {
		if err := rollup.gather(file.At(i), graph.Closed(i)); err != nil {
			return nil, err
		}
	}
	rollup.Markdown = rollup.markdown()
	return rollup, nil
}

// inOrder returns the issues within an epic: dependencies and children first; ties by id.
func inOrder(graph *dag.Graph, epic int) (order []int) {
	within, seen := map[int]bool{}, map[int]bool{}
	for _, i := range graph.Inside(epic) {
		within[i] = true
	}
	var visit func(i int)
	visit = func(i int) {
		if seen[i] || !within[i] {
			return
		}
		seen[i] = true
		for _, d := range graph.ClosedDependencies(i) {
			visit(d.Index)
		}
		for _, child := range graph.Children(i) {
			visit(child)
		}
		order = append(order, i)
	}
	for _, i := range graph.Inside(epic) {
		visit(i)
	}
	return order
}

// gather adds the result of one issue, or that it has none.
func (r *Rollup) gather(issue *beads.Issue, closed bool) error {
	if !closed {
		r.Missing = append(r.Missing, Missing{issue.ID, issue.Title, "is " + cmp.Or(issue.Status, beads.StatusOpen)})
		return nil
	}
	record, err := issue.Record()
	if err != nil {
		return err
	}
	o := Outcome{ID: issue.ID, Title: issue.Title, From: "close reason", Text: strings.TrimSpace(record.Text(beads.CloseReason))}
	if estimate, has := signals.LastEstimate(notes.Parse(record.Text(beads.Notes))); has {
		o.Text = strings.TrimSpace(o.Text + "\n\n" + estimate.Body)
	}
	list := trace.Of(record)
	trace.Sort(list)
	for _, l := range list {
		if l.Type == trace.Completion {
			o.From, o.Trace, o.Text = "completion", l.Name, strings.TrimSpace(l.Summary+"\n\n"+l.Body)
		}
	}
	if o.Text == "" {
		r.Missing = append(r.Missing, Missing{issue.ID, issue.Title, "is closed, and left no result and no reason"})
		return nil
	}
	r.Results = append(r.Results, o)
	return nil
}

// markdown returns the rollup as one document.
func (r *Rollup) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n%d of %s closed with a result.\n", r.ID, visible.OneLine(r.Title), len(r.Results), visible.Counted(len(r.Results)+len(r.Missing), "issue"))
	if len(r.Missing) > 0 {
		b.WriteString("\nMissing:\n\n")
		for _, m := range r.Missing {
			fmt.Fprintf(&b, "- %s: %s (%s)\n", m.ID, visible.OneLine(m.Title), m.Reason)
		}
	}
	for _, o := range r.Results {
		fmt.Fprintf(&b, "\n## %s: %s\n\n%s\n", o.ID, visible.OneLine(o.Title), bodied(o.Text))
	}
	return b.String()
}

// bodied returns a text as it can be put into a section of notes: in a code block if it
// contains a delimiter or an unclosed block.
func bodied(text string) string {
	if _, err := notes.Parse("").Replace(signals.SynthesisSection, text); err != nil {
		return strings.TrimSuffix(visible.Fenced(text), "\n")
	}
	return text
}
