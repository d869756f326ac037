package checkpoint

import (
	"context"
	"fmt"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/swarm"
	"stig/internal/trace"
	"stig/notes"
	"stig/signals"
)

// Claimed says who works on an issue now.
type Claimed struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Status   string `json:"status"`
	Assignee string `json:"assignee"`
	Changed  bool   `json:"changed"`
	Until    string `json:"until,omitempty"` // RFC 3339: when the claim ends unless it is renewed, or a person's may be taken; "" without a lease

	stored
}

// Claiming is who claims an issue, and what they may take.
type Claiming struct {
	Who     string
	MayTake func(issue, holder string) bool // nil: nothing of others
	// Lease takes the lease on an issue that can be claimed, before the store is written;
	// nil for none. It is called again where the edit starts over.
	Lease func(f *beads.Snapshot, issue string) error
	// Held is why an issue cannot be claimed that another holds; nil says by whom alone.
	Held func(issue, holder string) *fault.Error
}

// Claim makes an issue the actor's work: in progress and assigned to them.
// What was read and what is written are one edit under the lock, so of several
// who claim an issue one gets it. Claiming what one holds changes nothing. It
// refuses (fault.Conflict) channels, issues that wait for others, that another holds from whom
// the actor may not take them, and that are neither open nor in progress, and
// (fault.Waits) those with an unanswered question.
func Claim(ctx context.Context, s beads.Store, o beads.Options, id string, c Claiming) (*Claimed, error) {
	return changeHands(ctx, s, o, id, func(f *beads.Snapshot, r *beads.Record) ([]beads.Set, error) {
		full, sets := r.Text(beads.ID), []beads.Set(nil)
		if r.Text(beads.Status) != beads.StatusInProgress || r.Text(beads.Assignee) != c.Who {
			if err := c.claimable(f, r); err != nil {
				return nil, err
			}
			sets = []beads.Set{{Key: beads.Status, Text: beads.StatusInProgress}, {Key: beads.Assignee, Text: c.Who}}
		}
		if c.Lease != nil {
			if err := c.Lease(f, full); err != nil {
				return nil, err
			}
		}
		return sets, nil
	})
}

// claimable refuses what cannot be claimed, as Claim says.
func (c Claiming) claimable(f *beads.Snapshot, r *beads.Record) error {
	full, status, holder := r.Text(beads.ID), r.Text(beads.Status), r.Text(beads.Assignee)
	switch {
	case status == beads.StatusClosed:
		return held(full, "is closed")
	case holder != "" && holder != c.Who && (c.MayTake == nil || !c.MayTake(full, holder)):
		if c.Held != nil {
			return c.Held(full, holder)
		}
		return held(full, "is claimed by "+holder)
	case status != beads.StatusOpen && status != beads.StatusInProgress:
		return held(full, fmt.Sprintf("only open issues can be claimed; its status is %q", status))
	}
	at, _ := f.Index(full)
	if f.At(at).Channel {
		return channel(full)
	}
	if err := blocked(f, dag.New(f), at); err != nil {
		return err
	}
	if doc := notes.Parse(r.Text(beads.Notes)); signals.Asks(doc, signals.Read(doc, nil)) {
		return &fault.Error{Code: fault.Waits, ID: full, Reason: "has an unanswered question",
			Hint: "type stig orient " + full + " to read it, or stig ready to see what can be taken"}
	}
	return nil
}

// foreign refuses (fault.Conflict) a subagent an issue that it did not claim itself:
// whoever started it checkpoints and closes that.
func foreign(r *beads.Record, by string) error {
	holder := r.Text(beads.Assignee)
	if !clone.IsSubagent(by) || holder == by {
		return nil
	}
	e := held(r.Text(beads.ID), "is not claimed by "+by+", and a subagent checkpoints and closes only what it claimed itself")
	e.Hint = "report to " + clone.ParentActor(by) + ", which started you"
	if holder == "" {
		e.Hint += ", or type stig claim " + e.ID + " --actor " + by
	}
	return e
}

// Release gives an issue back: nobody's, and open if it was in progress. An
// issue that nobody holds is not changed. It refuses (fault.Conflict) closed
// issues, those that another holds from whom the actor may not take them, and those on
// which a swarm runs. who is "" where the release is forced.
func Release(ctx context.Context, s beads.Store, o beads.Options, id, who string, mayTake func(holder string) bool) (*Claimed, error) {
	return changeHands(ctx, s, o, id, func(_ *beads.Snapshot, r *beads.Record) ([]beads.Set, error) {
		if holder := r.Text(beads.Assignee); holder != "" && holder != who && !mayTake(holder) {
			e := held(r.Text(beads.ID), "is claimed by "+holder+", not by "+who)
			e.Hint = "let them release it, or type stig release " + e.ID + " --force"
			return nil, e
		}
		if who != "" {
			if err := explored(r); err != nil {
				return nil, err
			}
		}
		return given(r)
	})
}

// explored refuses (fault.Conflict) an issue on which a swarm runs: until it ends, the issue
// is the work of whoever started it.
func explored(r *beads.Record) error {
	s := swarm.Running(trace.Of(r))
	if s == nil {
		return nil
	}
	e := held(r.Text(beads.ID), fmt.Sprintf("swarm %s runs, started by %s", s.Swarm, s.StartedBy))
	e.Hint = "type stig swarm end " + e.ID
	return e
}

// given are the keys of an issue that is given back.
func given(r *beads.Record) ([]beads.Set, error) {
	sets := []beads.Set{{Key: beads.Assignee}}
	switch r.Text(beads.Status) {
	case beads.StatusClosed:
		return nil, &fault.Error{Code: fault.Conflict, ID: r.Text(beads.ID), Reason: "is closed, and who closed it stays on record",
			Hint: "to work on it again, type stig reopen " + r.Text(beads.ID) + " --reason …"}
	case beads.StatusInProgress:
		sets = append(sets, beads.Set{Key: beads.Status, Text: beads.StatusOpen})
	}
	return sets, nil
}

func held(id, reason string) *fault.Error {
	return &fault.Error{Code: fault.Conflict, ID: id, Reason: reason, Hint: "type stig orient to see what is ready"}
}

// channel refuses an issue that is a place to talk.
func channel(id string) *fault.Error {
	e := held(id, "is a channel: a place to talk, and no work")
	e.Hint = "type stig trace list " + id + " to read it, or stig edit " + id + " --remove-label " + beads.ChannelLabel + " to make it work"
	return e
}

// blocked says what the issue at an index waits for; nil when it does not.
func blocked(f *beads.Snapshot, g *dag.Graph, at int) *fault.Error {
	if !g.Blocked(at) {
		return nil
	}
	holder, through := at, ""
	if epic, ok := g.HeldThrough(at); ok {
		holder, through = epic, ", which its epic "+f.At(epic).ID+" waits for"
	}
	var ids []string
	for _, b := range g.OpenBlockers(holder) {
		ids = append(ids, f.At(b).ID)
	}
	return held(f.At(at).ID, "is blocked by "+strings.Join(ids, ", ")+through)
}

// changeHands makes the edit that decide asks for; none when it gives no sets.
func changeHands(ctx context.Context, s beads.Store, o beads.Options, id string, decide func(*beads.Snapshot, *beads.Record) ([]beads.Set, error)) (*Claimed, error) {
	claimed, err := editIssue(ctx, s, o, id, func(tx *beads.Tx, record *beads.Record) (*Claimed, error) {
		sets, err := decide(tx.Snapshot(), record)
		if err != nil {
			return nil, err
		}
		full := record.Text(beads.ID)
		if err := tx.Set(full, sets...); err != nil {
			return nil, err
		}
		if record, err = tx.Record(full); err != nil {
			return nil, err
		}
		return &Claimed{
			ID: full, Title: record.Text(beads.Title),
			Status: record.Text(beads.Status), Assignee: record.Text(beads.Assignee),
		}, nil
	})
	if err == nil {
		claimed.Changed = len(claimed.Lines) > 0
	}
	return claimed, err
}
