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

// Closing is why an issue is closed, and by whom.
type Closing struct {
	Reason   string        // what exists now that did not before
	Evidence gate.Evidence // a verdict that passed, or a waiver; nil where none is needed
	Actor    string        // "" when unknown
	Edited   *Edited       // what became of its criteria since they were committed; nil for nothing
	Despite  string        // why it closes though a question on it waits for an answer; "" waits

	// What is not done needs no evidence, and may wait for others.
	NotPlanned  bool   // nobody will do it, and Reason says why
	DuplicateOf string // the issue that it repeats; gives the reason
}

// Undone reports whether the issue is closed without having been done.
func (c Closing) Undone() bool { return c.NotPlanned || c.DuplicateOf != "" }

// Closed says how an issue was closed, and what follows.
type Closed struct {
	ID           string      `json:"id"`
	Title        string      `json:"title"`
	Reason       string      `json:"close_reason"`
	Already      bool        `json:"already"`                   // it was closed before, and nothing changed
	Unkept       string      `json:"reason_not_kept,omitempty"` // the reason given, where it was closed before for another
	Unblocked    []beads.Ref `json:"unblocked"`                 // what can be started now and could not before
	Changed      []Changed   `json:"changed"`                   // signals that the closing set
	StillBlocked int         `json:"nearer"`                    // how many more issues wait for one thing less
	Epic         *EpicTold   `json:"epic,omitempty"`            // the epic that holds it
	Alerts       []Alert     `json:"alerts"`
	Told         []string    `json:"told,omitempty"` // ids of those who waited for it, and have a comment that it was not done
	Warnings     []string    `json:"warnings"`

	stored
}

// EpicTold is how far an epic is.
type EpicTold struct {
	beads.Ref
	Closed int `json:"closed"` // of its children
	Total  int `json:"total"`

	Undone string `json:"undone,omitempty"` // where all are closed: how those ended that were not done
	done   bool   // all are closed, one was done, and nothing holds the epic

	NoCriteria bool `json:"-"` // it has no acceptance criteria, and closes on its children
}

// Complete tells that all is done in an epic that is not closed yet.
func (e *EpicTold) Complete() bool {
	return e != nil && e.done && e.Status != beads.StatusClosed
}

// Command is what closes the epic, which needs no reason where it closes on its children.
func (e *EpicTold) Command() string {
	if e.NoCriteria {
		return "stig close " + e.ID
	}
	return "stig close " + e.ID + " --reason …"
}

// Candidate is an issue that is to be closed.
type Candidate struct {
	ID         string
	Title      string
	Criteria   gate.Criteria
	Already    bool       // it is closed, and nothing else was looked at
	Reason     string     // then, why
	Obstacles  []Obstacle // what keeps it open, besides what its checks show
	ByChildren bool       // it has no criteria, and closes on its children
}

// Closed says of a candidate that is closed how it was closed, with the reason
// given now.
func (c *Candidate) Closed(reason string) *Closed {
	closed := &Closed{ID: c.ID, Title: c.Title, Already: true, Reason: c.Reason, Changed: []Changed{}}
	closed.compare(reason)
	return closed
}

// compare keeps the reason given for what is closed already, unless the issue
// was closed for that.
func (c *Closed) compare(reason string) {
	rest, same := strings.CutPrefix(gate.Bare(c.Reason), gate.Bare(reason))
	if !same || rest != "" && !strings.ContainsAny(rest[:1], ".;") {
		c.Unkept = reason
	}
}

// closePermit is what a close may change in notes.
var closePermit = notes.Permit{Change: []string{signals.Section, signals.EscalationSection}}

// Closable looks before any check runs what keeps the issue from being closed so even if
// its checks pass, and writes nothing: no evidence is asked for. The error is of an issue that
// cannot be read or written, or is none to be closed by this actor.
func Closable(ctx context.Context, s beads.Store, o beads.Options, id string, c Closing, rules Rules) (*Candidate, error) {
	var candidate *Candidate
	o.DryRun, o.Notes = true, closePermit.Check
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

// Close closes an issue on evidence: status, closed_at, close_reason and
// updated_at, and progress verifying where it has a signal table, in one edit.
// An epic without criteria closes on how its children were closed; what is not planned or a
// duplicate closes without evidence, and those who wait for it get a comment.
// What is closed stays as it is, and that is no error; Closed.Unkept says that
// its reason is another. It refuses (fault.Found)
// an issue that waits for others, an epic that is not complete, what is no
// work, and evidence that does not allow it; (fault.Waits) an issue on which a
// question waits, unless Despite says why; and (fault.Usage) a reason that
// says nothing. Criteria that are no longer those that were run are a
// fault.Changed.
func Close(ctx context.Context, s beads.Store, o beads.Options, id string, c Closing, rules Rules) (*Closed, error) {
	o.Notes = closePermit.Check
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

// allowed says why the issue must not be closed so.
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

// sentence is the close reason: what those who build on the issue read. children are those
// of an epic that closes on them, and despite is what it adds of questions.
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

// verifying sets progress where the issue has a signal table, withdraws what was asked of some
// workers alone, and gives what changed.
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

// warnings tell what does not keep an issue from being closed, and is seldom
// meant.
func (c Closing) warnings(r *beads.Record) []string {
	list := []string{}
	if holder := r.Text(beads.Assignee); holder != "" && c.Actor != "" && !clone.MayTake(c.Actor, holder) && !clone.BelongsTo(holder, c.Actor) {
		list = append(list, fmt.Sprintf("it was claimed by %s, and is closed by %s", holder, c.Actor))
	}
	return list
}
