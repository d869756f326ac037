package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/swarm"
	"stig/internal/trace"
	"stig/notes"
	"stig/signals"
)

// Claimed describes an issue after a claim or release.
type Claimed struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Status   string `json:"status"`
	Assignee string `json:"assignee"`
	Changed  bool   `json:"changed"`
	Upon     string `json:"upon,omitempty"`  // the request that work on it is stacked upon, and its branch, in words
	Until    string `json:"until,omitempty"` // RFC 3339: when the claim ends unless renewed, or others may take a person's claim; "" without a lease

	stored
}

// Claiming says who claims an issue, and from whom they may take it.
type Claiming struct {
	Who     string
	MayTake func(issue, holder string) bool // nil: from nobody
	// Lease acquires the lease on a claimable issue before the store is written; nil for no
	// lease. It is called again if the edit is retried.
	Lease func(f *beads.Snapshot, issue string) error
	// Held returns the error for an issue that another actor holds; if nil, the error names the
	// holder only.
	Held func(issue, holder string) *fault.Error
	// DespiteExternal is the reason for claiming an issue that waits for another store; it is
	// recorded in a comment. "" refuses the claim.
	DespiteExternal string
}

// Claim sets an issue to in progress and assigns it to the actor. Read and write are one edit
// under the lock, so only one of several concurrent claims succeeds. Claiming an issue that the
// actor already holds changes nothing. Claim refuses what dag.Graph.Standing reports as not
// takeable: with fault.Waits if only an unanswered question blocks the issue, otherwise with
// fault.Conflict.
func Claim(ctx context.Context, s beads.Store, o beads.Options, id string, c Claiming) (*Claimed, error) {
	o.Notes = notes.Permit{Change: []string{signals.ElsewhereSection}}.Check
	upon := ""
	claimed, err := changeHands(ctx, s, o, id, func(tx *beads.Tx, r *beads.Record) ([]beads.Set, error) {
		f, full, sets := tx.Snapshot(), r.Text(beads.ID), []beads.Set(nil)
		if r.Text(beads.Status) != beads.StatusInProgress || r.Text(beads.Assignee) != c.Who {
			graph, at := dag.New(f), 0
			at, _ = f.Index(full)
			var err error
			if err = c.claimable(tx, r, graph.Standing(at, c.worker(r, o.Now))); err != nil {
				return nil, err
			}
			if upon, err = uponWords(f, graph, at); err != nil {
				return nil, err
			}
			for _, i := range graph.Above(at) {
				if err := recordExternal(tx, i, o.Now); err != nil {
					return nil, err
				}
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
	if err == nil {
		claimed.Upon = upon
	}
	return claimed, err
}

// uponWords says upon which request and branch work on an issue is to begin; "" for none.
func uponWords(f *beads.Snapshot, graph *dag.Graph, at int) (string, error) {
	u, stacked := graph.Upon(at)
	if !stacked {
		return "", nil
	}
	record, err := f.At(u.On).Record()
	if err != nil {
		return "", err
	}
	review, _ := signals.LastReview(notes.Parse(record.Text(beads.Notes)))
	return u.Words(func(i int) string { return f.At(i).ID }) + ": begin at branch " + review.Branch, nil
}

// worker returns who claims an issue.
func (c Claiming) worker(r *beads.Record, now time.Time) dag.Worker {
	return dag.Worker{
		Now: now, Name: c.Who, MayTake: func(holder string) bool { return c.MayTake != nil && c.MayTake(r.Text(beads.ID), holder) },
		Asked: func(int) bool {
			doc := notes.Parse(r.Text(beads.Notes))
			return signals.HoldsBack(doc, signals.Read(doc, nil), c.Who)
		},
		Reviewed: func(int) string { return signals.InReview(notes.Parse(r.Text(beads.Notes))) },
	}
}

// recordExternal records in the notes of an issue which of its dependencies on other stores are
// done, for readers who cannot ask those stores. Malformed notes get no record.
func recordExternal(tx *beads.Tx, at int, now time.Time) error {
	f := tx.Snapshot()
	issue := f.At(at)
	for _, dep := range issue.Deps {
		if !dag.Blocks(dep.Type) || !dag.IsExternal(dep.On) {
			continue
		}
		e := f.External(at, dep.On)
		if !e.Done || e.Recorded {
			continue
		}
		record, err := tx.Record(issue.ID)
		if err != nil {
			return err
		}
		kept := signals.Elsewhere{On: dep.On, Issue: e.Issue, Commit: e.Commit, Day: signals.Day(now)}
		doc, err := notes.Parse(record.Text(beads.Notes)).Extend(signals.ElsewhereSection, kept.Text())
		if err != nil {
			return nil
		}
		if err := tx.Set(issue.ID, beads.Set{Key: beads.Notes, Text: doc.Text()}); err != nil {
			return err
		}
	}
	return nil
}

// claimable returns an error if the issue cannot be claimed; see Claim.
func (c Claiming) claimable(tx *beads.Tx, r *beads.Record, standing dag.Standing) error {
	f, full := tx.Snapshot(), r.Text(beads.ID)
	at, _ := f.Index(full)
	if c.DespiteExternal != "" {
		if err := c.despite(tx, full, &standing); err != nil {
			return err
		}
	}
	if standing.Free() {
		return nil
	}
	if h, others := standing.Has(dag.HeldByAssignee); others && c.Held != nil {
		return c.Held(full, h.Raw)
	}
	return refusal(f, at, standing)
}

// despite removes external dependencies from the issue's holds and records the reason in a
// comment.
func (c Claiming) despite(tx *beads.Tx, id string, s *dag.Standing) error {
	var outside []string
	s.Holds = slices.DeleteFunc(slices.Clone(s.Holds), func(h dag.Hold) bool {
		if h.Kind == dag.HeldByExternal {
			outside = append(outside, h.Raw)
		}
		return h.Kind == dag.HeldByExternal
	})
	if outside == nil {
		return nil
	}
	return tx.AddComment(id, beads.Comment{Author: c.Who, Text: "Claimed despite " + strings.Join(outside, ", ") + ": " + strings.TrimSpace(c.DespiteExternal)})
}

// refusal returns the error for an issue that cannot be taken, with a hint.
func refusal(f *beads.Snapshot, at int, s dag.Standing) *fault.Error {
	id := f.At(at).ID
	words := s.Words(at, func(i int) string { return f.At(i).ID })
	e := held(id, strings.Join(words, "; "))
	switch first := s.Holds[0]; first.Kind {
	case dag.HeldByClose:
		e.Hint = "to work on it again, type stig reopen " + id + " --reason …"
	case dag.HeldByKind:
		if f.At(at).Channel {
			e.Hint = "type stig trace list " + id + " to read it, or stig edit " + id + " --remove-label " + beads.ChannelLabel + " to make it work"
		}
	case dag.HeldByRing:
		e.Hint = "type stig cycles to see which row to remove"
	case dag.HeldByExternal:
		e.Hint = fmt.Sprintf("when that is done, type stig dep rm %s --on %s; to start now, type stig claim %s --despite-external WHY", f.At(first.Through).ID, first.Raw, id)
	case dag.HeldByRow, dag.HeldByTime, dag.HeldByLine:
		e.Hint = "correct the line of " + f.At(first.Through).ID + " by hand: stig check names it"
	case dag.HeldByDeferral:
		e.Hint = "type stig edit " + f.At(first.Through).ID + " --defer none to start now, or stig orient to see what is ready"
	case dag.HeldByChildren:
		e.Hint = "type stig orient " + id + " to see which child is ready"
	case dag.HeldByComplete:
		e.Hint = "type stig close " + id + " --reason …"
	case dag.HeldByEnds:
		e.Hint = "type stig create TITLE --parent " + id + " to add what is left, or stig close " + id + " --not-planned WHY"
	case dag.HeldByReview, dag.HeldByStack:
		e.Code, e.Hint = fault.Waits, "type stig land --sync to see whether it landed, or stig ready to see what can be taken"
	case dag.HeldByQuestion:
		e.Code, e.Hint = fault.Waits, "type stig orient "+id+" to read it, or stig ready to see what can be taken"
	}
	return e
}

// foreign returns a fault.Conflict if a subagent did not claim the issue itself: the actor that
// started it checkpoints and closes other issues.
func foreign(r *beads.Record, by string) error {
	holder := r.Text(beads.Assignee)
	if !clone.IsSubagent(by) || holder == by {
		return nil
	}
	e := held(r.Text(beads.ID), "is not claimed by "+by+"; a subagent can checkpoint and close only issues that it claimed itself")
	e.Hint = "report to " + clone.ParentActor(by) + ", which started you"
	if holder == "" {
		e.Hint += ", or type stig claim " + e.ID + " --actor " + by
	}
	return e
}

// Release unassigns an issue, and sets it to open if it was in progress. An unassigned issue is
// not changed. Release returns a fault.Conflict for closed issues, for issues of a holder from
// whom the actor may not take them, and for issues with a running swarm. who is "" for a forced
// release.
func Release(ctx context.Context, s beads.Store, o beads.Options, id, who string, mayTake func(holder string) bool) (*Claimed, error) {
	return changeHands(ctx, s, o, id, func(_ *beads.Tx, r *beads.Record) ([]beads.Set, error) {
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

// explored returns a fault.Conflict for an issue with a running swarm: until the swarm ends,
// the issue belongs to whoever started it.
func explored(r *beads.Record) error {
	s := swarm.Running(trace.Of(r))
	if s == nil {
		return nil
	}
	e := held(r.Text(beads.ID), fmt.Sprintf("swarm %s runs, started by %s", s.Swarm, s.StartedBy))
	e.Hint = "type stig swarm end " + e.ID
	return e
}

// unlessExploring returns a fault.Usage if the actor explores the issue in a running swarm: the
// state estimate is one for all, and explorers keep their own state.
func unlessExploring(r *beads.Record, by string) error {
	if by == "" || !r.MayHold(beads.Comments, "swarm") {
		return nil
	}
	s := swarm.Running(trace.Of(r))
	if s == nil || s.Agent(by) == nil {
		return nil
	}
	return &fault.Error{Code: fault.Usage, ID: r.Text(beads.ID), Reason: fmt.Sprintf("%s explores it in swarm %s, whose agents do not checkpoint the issue", by, s.Swarm),
		Hint: fmt.Sprintf("type stig swarm state %s -m TEXT to keep a note, or stig swarm finding %[1]s --help", r.Text(beads.ID))}
}

// given returns the field changes that release an issue.
func given(r *beads.Record) ([]beads.Set, error) {
	sets := []beads.Set{{Key: beads.Assignee}}
	switch r.Text(beads.Status) {
	case beads.StatusClosed:
		return nil, &fault.Error{Code: fault.Conflict, ID: r.Text(beads.ID), Reason: "is closed; its assignee stays on record",
			Hint: "to work on it again, type stig reopen " + r.Text(beads.ID) + " --reason …"}
	case beads.StatusInProgress:
		sets = append(sets, beads.Set{Key: beads.Status, Text: beads.StatusOpen})
	}
	return sets, nil
}

func held(id, reason string) *fault.Error {
	return &fault.Error{Code: fault.Conflict, ID: id, Reason: reason, Hint: "type stig orient to see what is ready"}
}

// changeHands applies the sets that decide returns; no sets means no edit.
func changeHands(ctx context.Context, s beads.Store, o beads.Options, id string, decide func(*beads.Tx, *beads.Record) ([]beads.Set, error)) (*Claimed, error) {
	claimed, err := editIssue(ctx, s, o, id, func(tx *beads.Tx, record *beads.Record) (*Claimed, error) {
		sets, err := decide(tx, record)
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
