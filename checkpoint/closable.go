package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/visible"
)

// Obstacle is one reason why an issue stays open regardless of its checks, and how to remove
// it.
type Obstacle struct {
	*fault.Error        // its hint is an alternative to the command
	Before       string // what must be done first: "close pier-2"; "" for nothing
	Run          string // a command to run first: "stig trust"; "" for none
	Flag         string // what stig close is to be given: `--despite-question "WHY"`; "" for nothing
	Instead      string // the command to run in place of the refused one
}

// Refused returns the error of an issue that cannot be closed: all obstacles, and one command
// that then closes it. command is the refused command, or "" to use only the hints of the
// obstacles. Without obstacles Refused returns nil.
func Refused(obstacles []Obstacle, command string) error {
	if len(obstacles) == 0 {
		return nil
	}
	var reasons, before, runs, others []string
	all := *obstacles[0].Error
	for _, o := range obstacles {
		reasons = append(reasons, o.Reason)
		before, runs, others = appendSome(before, o.Before), appendSome(runs, o.Run), appendSome(others, o.Hint)
		if o.Flag != "" {
			command += " " + o.Flag
		}
		if command = cmp.Or(o.Instead, command); slices.Index(demands, o.Code) > slices.Index(demands, all.Code) {
			all.Code = o.Code
		}
		if !errors.Is(o.Error, all.Err) {
			all.Err = nil // the causes differ, so it matches none
		}
	}
	all.Reason = strings.Join(reasons, "\n"+all.ID+": ")
	first := ""
	if before != nil {
		first = strings.Join(before, "; ") + "; then "
	}
	hint := first + "type " + strings.Join(append(runs, command), " && ")
	if all.Hint = strings.Join(append([]string{hint}, others...), "\n"); command == "" {
		all.Hint = strings.Join(append(before, others...), "; ")
	}
	return &all
}

func appendSome(list []string, text string) []string {
	if text == "" {
		return list
	}
	return append(list, text)
}

// demands lists the codes of obstacles, the least severe first.
var demands = []fault.Code{fault.Usage, fault.Found, fault.Waits}

// obstacles lists what prevents the close regardless of the issue's checks. It returns an error
// for issues that are not work.
func (c Closing) obstacles(f *beads.Snapshot, r *beads.Record, rules Rules) (list []Obstacle, err error) {
	id := r.Text(beads.ID)
	at, _ := f.Index(id)
	issue := f.At(at)
	if issue.Template || issue.IsPinned() {
		return nil, &fault.Error{Code: fault.Found, ID: id, Reason: "is a template or pinned and cannot be closed", Hint: "leave it open"}
	}
	g := dag.New(f)
	held := g.Standing(at, dag.Worker{}).KeepsOpen()
	held.Holds = slices.DeleteFunc(held.Holds, func(h dag.Hold) bool {
		return h.Kind == dag.HeldByChildren || h.Kind == dag.HeldByStack && c.Stacked
	})
	if !c.Undone() && !held.Free() {
		list = append(list, notDone(refusal(f, at, held), f.Refs(g.OpenBlockers(at))))
	}
	var open, states []string
	for _, child := range g.Children(at) {
		if !g.Closed(child) {
			open = append(open, f.At(child).ID)
			states = append(states, f.At(child).ID+" ("+f.At(child).Status+")")
		}
	}
	children, byChildren := c.byChildren(f, r)
	switch {
	case open != nil:
		list = append(list, Obstacle{Error: &fault.Error{Code: fault.Found, ID: id, Reason: "has unclosed children: " + strings.Join(states, ", ")},
			Before: "close " + strings.Join(open, ", ") + ", or move them elsewhere with stig edit --parent"})
	case byChildren && children.Done() == 0:
		list = append(list, Obstacle{Error: &fault.Error{Code: fault.Found, ID: id, Reason: "its children did none of the work: " + children.String(),
			Hint: "what is left of it: stig create TITLE --parent " + id}, Instead: "stig close " + id + ` --not-planned "WHY"`})
	}
	if held := HeldByQuestion(r, rules); held != nil && c.Despite == "" {
		question := Obstacle{Error: held.Refusal, Flag: `--despite-question "WHY IT DOES NOT WAIT FOR THE ANSWER"`}
		if c.DuplicateOf != "" { // --duplicate-of excludes this flag
			question.Flag, question.Before = "", "answer it"
		}
		list = append(list, question)
	}
	if c.DuplicateOf == "" && !(byChildren && c.Reason == "") && gate.SaysNothing(gate.Bare(c.Reason)) {
		list = append(list, sayingNothing(id, c))
	}
	return list, nil
}

// sayingNothing returns the obstacle for a missing or empty reason.
func sayingNothing(id string, c Closing) Obstacle {
	o := Obstacle{Error: &fault.Error{Code: fault.Usage, ID: id, Reason: fmt.Sprintf("the reason %q says nothing; %s", c.Reason, gate.NotAReason)},
		Flag: `--reason "WHAT EXISTS NOW THAT DID NOT BEFORE"`}
	if strings.TrimSpace(c.Reason) == "" {
		o.Reason = "a reason is missing"
	}
	if c.NotPlanned {
		o.Flag = `--not-planned "WHY"`
	}
	return o
}

// byChildren counts how the children of an epic without criteria were closed; the epic closes
// on them. ok is false for any other issue.
func (c Closing) byChildren(f *beads.Snapshot, r *beads.Record) (children gate.Children, ok bool) {
	at, _ := f.Index(r.Text(beads.ID))
	if c.Evidence != nil || c.Undone() || len(gate.Of(r)) > 0 {
		return gate.Children{}, false
	}
	inside := dag.New(f).Children(at)
	return ChildrenOf(f, inside), len(inside) > 0
}

// ChildrenOf counts how the issues were closed. Unclosed issues are not counted.
func ChildrenOf(f *beads.Snapshot, children []int) (c gate.Children) {
	for _, i := range children {
		if f.At(i).Status != beads.StatusClosed {
			continue
		}
		switch f.Outcome(i).End {
		case beads.EndDuplicate:
			c.Duplicate++
		case beads.EndNotPlanned:
			c.NotPlanned++
		case beads.EndFailed:
			c.Failed++
		case beads.EndUnknown:
			c.Unread++
		default:
			*of(&c, f.At(i))++
		}
	}
	return c
}

// of returns the counter for the way in which an issue was done.
func of(c *gate.Children, issue *beads.Issue) *int {
	record, err := issue.Record()
	switch {
	case err != nil:
		return &c.Unread
	case strings.HasPrefix(record.Text(beads.CloseReason), gate.Verified):
		return &c.Verified
	case strings.HasPrefix(record.Text(beads.CloseReason), gate.Unverified):
		return &c.Waived
	}
	return &c.Unshown
}

// tell comments on each unclosed issue that waited for an issue that was not done.
func (c Closing) tell(tx *beads.Tx, r *beads.Record) (ids []string, err error) {
	f, id := tx.Snapshot(), r.Text(beads.ID)
	at, _ := f.Index(id)
	how := "as not planned: " + gate.Bare(c.Reason)
	if c.DuplicateOf != "" {
		how = "as a " + c.Reason
	}
	for _, i := range dag.New(f).Waiting(at) {
		text := fmt.Sprintf("%s (%s), for which this issue waited, was closed %s. What it was to provide is not there.", id, visible.OneLine(r.Text(beads.Title)), how)
		if err := tx.AddComment(f.At(i).ID, beads.Comment{Author: c.Actor, Text: text}); err != nil {
			return nil, err
		}
		ids = append(ids, f.At(i).ID)
	}
	return ids, nil
}

// ahead returns the part of a close reason that says what an epic above the issue still waits
// for; "" if it waits for nothing.
func ahead(f *beads.Snapshot, id string) string {
	at, _ := f.Index(id)
	held := dag.New(f).Standing(at, dag.Worker{}).Inherited()
	if held.Free() {
		return ""
	}
	return "; done ahead of its epic: it " + strings.Join(held.Words(at, func(i int) string { return f.At(i).ID }), "; it ")
}

// notDone turns the error that prevents a claim into the obstacle that prevents a close.
func notDone(held *fault.Error, blockers []beads.Ref) Obstacle {
	o := Obstacle{Error: &fault.Error{Code: fault.Found, ID: held.ID, Reason: held.Reason}, Before: held.Hint}
	if !strings.Contains(held.Reason, "blocked by") {
		return o
	}
	var ids []string
	for _, b := range blockers {
		ids = append(ids, b.ID)
	}
	o.Before = fmt.Sprintf("close %s, or remove a dependency that does not apply with stig dep rm %s --on ID", strings.Join(ids, ", "), held.ID)
	return o
}
