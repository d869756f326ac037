package checkpoint

import (
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
)

// refuseClosing says what keeps an issue from being closed, whatever its
// checks show. A duplicate may wait for others.
func refuseClosing(f *beads.Snapshot, r *beads.Record, duplicate bool) error {
	id := r.Text(beads.ID)
	at, _ := f.Index(id)
	issue := f.At(at)
	if issue.Template || issue.IsPinned() {
		return &fault.Error{Code: fault.Found, ID: id, Reason: "is a template or pinned, and so no work that could be done", Hint: "leave it open"}
	}
	g := dag.New(f)
	held := g.Standing(at, dag.Worker{}).KeepsOpen()
	held.Holds = slices.DeleteFunc(held.Holds, func(h dag.Hold) bool { return h.Kind == dag.HeldByChildren })
	if !duplicate && !held.Free() {
		return notDone(refusal(f, at, held))
	}
	var open []string
	for _, child := range g.Children(at) {
		if !g.Closed(child) {
			open = append(open, f.At(child).ID+" ("+f.At(child).Status+")")
		}
	}
	if open != nil {
		return &fault.Error{Code: fault.Found, ID: id, Reason: "holds what is not closed: " + strings.Join(open, ", "), Hint: "close these first, or move them elsewhere"}
	}
	return nil
}

// ahead says in a close reason what an epic above the issue waits for, "" for nothing: the
// issue was finished before that.
func ahead(f *beads.Snapshot, id string) string {
	at, _ := f.Index(id)
	held := dag.New(f).Standing(at, dag.Worker{}).Inherited()
	if held.Free() {
		return ""
	}
	return "; done ahead of its epic: it " + strings.Join(held.Words(at, func(i int) string { return f.At(i).ID }), "; it ")
}

// notDone turns what keeps an issue from being claimed into what keeps it from
// being closed.
func notDone(held *fault.Error) error {
	hint := "close these first, or drop a dependency that is none with stig dep rm"
	if !strings.Contains(held.Reason, "blocked by") {
		hint = held.Hint
	}
	return &fault.Error{Code: fault.Found, ID: held.ID, Reason: held.Reason, Hint: hint}
}
