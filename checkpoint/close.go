package checkpoint

import (
	"context"
	"fmt"
	"strings"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/notes"
	"stig/signals"
)

// Closing says why an issue is closed, and by whom.
type Closing struct {
	Reason   string        // what exists now that did not exist before
	Evidence gate.Evidence // a passing verdict or a waiver; nil if none is needed
	Actor    string        // "" when unknown
	Edited   *Edited       // how its criteria changed since they were committed; nil for no change
	Despite  string        // why it closes with an unanswered question; "" refuses that
	Stacked  bool          // what it is built upon may still be in review

	// Issues that are not done need no evidence and may have open dependencies.
	NotPlanned  bool   // nobody will do it; Reason says why
	DuplicateOf string // the issue that this one duplicates; it becomes the reason
}

// Undone reports whether the issue closes without being done.
func (c Closing) Undone() bool { return c.NotPlanned || c.DuplicateOf != "" }

// Closed says how an issue was closed, and its consequences.
type Closed struct {
	ID           string      `json:"id"`
	Title        string      `json:"title"`
	Reason       string      `json:"close_reason"`
	Already      bool        `json:"already"`                   // it was closed already, and nothing changed
	Unkept       string      `json:"reason_not_kept,omitempty"` // the given reason, if it was closed before for another one
	Unblocked    []beads.Ref `json:"unblocked"`                 // issues that can be started now and could not before
	Changed      []Changed   `json:"changed"`                   // signals that the close changed
	StillBlocked int         `json:"nearer"`                    // unclosed issues that waited for it and still cannot be started
	Epic         *EpicTold   `json:"epic,omitempty"`            // the epic that contains it
	Alerts       []Alert     `json:"alerts"`
	Told         []string    `json:"told,omitempty"` // ids of issues that waited for it and got a comment that it was not done
	Warnings     []string    `json:"warnings"`

	stored
}

// EpicTold is the progress of an epic.
type EpicTold struct {
	beads.Ref
	Closed int `json:"closed"` // number of closed children
	Total  int `json:"total"`

	Undone string `json:"undone,omitempty"` // if all are closed: how the undone ones ended
	done   bool   // all children are closed, at least one was done, and nothing blocks the epic

	NoCriteria bool `json:"-"` // it has no acceptance criteria and closes on its children
}

// Complete reports whether all work in an unclosed epic is done.
func (e *EpicTold) Complete() bool {
	return e != nil && e.done && e.Status != beads.StatusClosed
}

// Command returns the command that closes the epic. An epic that closes on its children needs
// no reason.
func (e *EpicTold) Command() string {
	if e.NoCriteria {
		return "stig close " + e.ID
	}
	return "stig close " + e.ID + " --reason …"
}

// Candidate is an issue to close.
type Candidate struct {
	ID         string
	Title      string
	Criteria   gate.Criteria
	Already    bool       // it is closed already; the other fields are not computed
	Reason     string     // its close reason, if closed already
	Obstacles  []Obstacle // what keeps it open, apart from failing checks
	ByChildren bool       // it has no criteria and closes on its children
}

// Closed describes a candidate that is closed already; reason is the one given now.
func (c *Candidate) Closed(reason string) *Closed {
	closed := &Closed{ID: c.ID, Title: c.Title, Already: true, Reason: c.Reason, Changed: []Changed{}}
	closed.compare(reason)
	return closed
}

// compare sets Unkept to the given reason unless the issue was closed for that reason.
func (c *Closed) compare(reason string) {
	rest, same := strings.CutPrefix(gate.Bare(c.Reason), gate.Bare(reason))
	if !same || rest != "" && !strings.ContainsAny(rest[:1], ".;") {
		c.Unkept = reason
	}
}

// closePermit lists the sections of the notes that a close may change.
var closePermit = notes.Permit{Change: []string{signals.Section, signals.EscalationSection}}

// Closable checks before any check runs what would prevent the close even if all checks pass.
// It writes nothing and requires no evidence. It returns an error if the issue cannot be read
// or written, or if the actor may not close it.
func Closable(ctx context.Context, s beads.Store, o beads.Options, id string, c Closing, rules Rules) (*Candidate, error) {
	var candidate *Candidate
	o.DryRun, o.Notes, o.Scope = true, closePermit.Check, beads.Scope{IDs: []string{id}}
	_, err := s.Edit(ctx, o, func(tx *beads.Tx) error {
		record, err := tx.Record(id)
		if err != nil {
			return err
		}
		candidate = &Candidate{
			ID: record.Text(beads.ID), Title: record.Text(beads.Title), Criteria: gate.Of(record),
			Already: record.Text(beads.Status) == beads.StatusClosed, Reason: record.Text(beads.CloseReason),
		}
		if candidate.Already {
			return nil
		}
		if err := foreign(record, c.Actor); err != nil {
			return err
		}
		_, candidate.ByChildren = c.byChildren(tx.Snapshot(), record)
		if candidate.Obstacles, err = c.obstacles(tx.Snapshot(), record, rules); err == nil && candidate.Obstacles == nil {
			_, err = c.verifying(tx, record, rules)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return candidate, nil
}

// Close closes an issue on evidence. One edit sets status, closed_at, close_reason and
// updated_at, and progress verifying if the issue has a signal table. An epic without criteria
// closes on how its children were closed. An issue that is not planned or a duplicate closes
// without evidence, and the issues that wait for it get a comment. Closing a closed issue
// changes nothing and is no error; Closed.Unkept has the new reason if it differs. Close
// returns a fault.Found for an issue with open dependencies, an incomplete epic, an issue that
// is not work, and insufficient evidence; a fault.Waits for an unanswered question unless
// Despite is set; a fault.Usage for a reason that says nothing; and a fault.Changed if the
// criteria changed since they were run.
func Close(ctx context.Context, s beads.Store, o beads.Options, id string, c Closing, rules Rules) (*Closed, error) {
	o.Notes, o.Scope.Beside = closePermit.Check, true
	return editIssue(ctx, s, o, id, func(tx *beads.Tx, record *beads.Record) (closed *Closed, err error) {
		closed = &Closed{
			ID: record.Text(beads.ID), Title: record.Text(beads.Title),
			Unblocked: []beads.Ref{}, Changed: []Changed{}, Alerts: []Alert{}, Warnings: []string{},
		}
		if record.Text(beads.Status) == beads.StatusClosed {
			closed.Already, closed.Reason = true, record.Text(beads.CloseReason)
			closed.compare(c.Reason)
			return closed, nil
		}
		c := c
		if c.DuplicateOf != "" {
			if c.Reason, err = c.duplicate(tx, closed.ID); err != nil {
				return nil, err
			}
		}
		if err := c.allowed(tx.Snapshot(), record, rules); err != nil {
			return nil, err
		}
		children, _ := c.byChildren(tx.Snapshot(), record)
		closed.Reason = c.sentence(children, c.despite(record, rules)+ahead(tx.Snapshot(), closed.ID))
		if err := tx.MarkClosed(closed.ID, closed.Reason); err != nil {
			return nil, err
		}
		if closed.Changed, err = c.verifying(tx, record, rules); err != nil {
			return nil, err
		}
		if c.Undone() {
			if closed.Told, err = c.tell(tx, record); err != nil {
				return nil, err
			}
		}
		closed.Warnings = c.warnings(record)
		return closed, closed.follow(tx.Snapshot(), record, rules)
	})
}

// allowed returns an error if the issue must not be closed.
func (c Closing) allowed(f *beads.Snapshot, r *beads.Record, rules Rules) error {
	id, criteria := r.Text(beads.ID), gate.Of(r).Text()
	obstacles, err := c.obstacles(f, r, rules)
	if err == nil {
		err = Refused(obstacles, "")
	}
	if err != nil || c.Undone() {
		return err
	}
	if _, ok := c.byChildren(f, r); ok {
		return nil
	}
	if c.Evidence == nil {
		return &fault.Error{Code: fault.Found, ID: id, Reason: "no evidence to close it: its criteria were not run", Hint: "type stig close " + id + " --reason …"}
	}
	err = c.Evidence.Allows(id, criteria)
	if v, ran := c.Evidence.(*gate.Verdict); err != nil && ran && v.Passed() && v.Issue() == id {
		return &fault.Error{Code: fault.Changed, Path: f.Place().Name(), Reason: id + ": its criteria changed while they ran",
			Hint: "read them again with stig show " + id + ", then run the command again"}
	}
	if err != nil {
		return &fault.Error{Code: fault.Found, ID: id, Reason: strings.TrimPrefix(err.Error(), id+": "), Hint: "type stig verify " + id + " to see what fails"}
	}
	return nil
}

// sentence returns the close reason, which workers on dependent issues read. children are those
// of an epic that closes on them; despite is the part about unanswered questions.
func (c Closing) sentence(children gate.Children, despite string) string {
	what := gate.Bare(c.Reason)
	said := gate.Verified + " " + what
	switch evidence := c.Evidence.(type) {
	case *gate.Verdict:
		said += ". " + evidence.Passing()
	case gate.Waiver:
		said = evidence.Reason(what)
	case nil:
		if said = children.Reason(what); c.NotPlanned {
			said = gate.NotPlanned + " " + what
		}
	}
	if c.Edited != nil {
		said += "; " + c.Edited.String()
	}
	return said + despite + "."
}

// verifying sets progress if the issue has a signal table, withdraws questions that blocked
// single workers, and returns the changes.
func (c Closing) verifying(tx *beads.Tx, r *beads.Record, rules Rules) ([]Changed, error) {
	id, d := r.Text(beads.ID), notes.Parse(r.Text(beads.Notes))
	after, err := withdrawn(d, c.Actor, rules)
	set := map[signals.Signal]string{signals.Progress: signals.ProgressVerifying}
	if after != d {
		set[signals.Escalation] = signals.EscalationResolved
	} else if !signals.Read(d, rules.Schema).Present() {
		return []Changed{}, err
	}
	var changes []signals.Change
	if err == nil {
		after, changes, _, err = signals.Apply(after, signals.Update{Set: set, Today: rules.today()}, rules.Schema)
	}
	if err != nil {
		return nil, &IssueError{ID: id, Err: err}
	}
	return append([]Changed{}, changedBy(changes)...), tx.Set(id, beads.Set{Key: beads.Notes, Text: after.Text()})
}

// warnings lists what does not prevent a close but is rarely intended.
func (c Closing) warnings(r *beads.Record) []string {
	list := []string{}
	if holder := r.Text(beads.Assignee); holder != "" && c.Actor != "" && !clone.MayTake(c.Actor, holder) && !clone.BelongsTo(holder, c.Actor) {
		list = append(list, fmt.Sprintf("it was claimed by %s but closed by %s", holder, c.Actor))
	}
	return list
}
