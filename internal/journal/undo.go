package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/merge"
	"stig/signals"
)

// Undoable lists the last so many edits of an actor in this work tree on the
// branch that is checked out, the latest first, without those that were undone
// and those that undid. Of an actor with fewer edits it lists fewer.
func Undoable(j clone.Journal, p clone.Place, actor string, count int) (list []clone.Record) {
	var undone []string
	for _, r := range slices.Backward(j.Records) {
		undone = append(undone, r.Undoes...)
		own := r.Actor == actor && r.Worktree == p.Worktree && r.Branch == p.Branch
		edits := len(r.Changes) > 0 && !r.Forgets && !r.Seen && len(r.Undoes) == 0
		if own && edits && r.Result == clone.Written && !slices.Contains(undone, r.Seq) && len(list) < count {
			list = append(list, r)
		}
	}
	return list
}

// Undo takes edits back, the latest first, in one edit: each value again
// becomes what it replaced. choose gives the journal and the edits, and is called while
// nobody else writes: another may have taken back the last ones just before. Undo refuses
// (fault.Conflict) when one of the values is no longer what the edit wrote, where the id
// is another issue's by now, and to take back an issue on which others depend. An issue
// that was made becomes a tombstone.
func Undo(ctx context.Context, s beads.Store, o beads.Options, actor string, schema *signals.Schema, choose func() (clone.Journal, []clone.Record, error)) ([]beads.Change, error) {
	o.Notes = func(before, after string) error { return nil } // the journal says what stood there
	return s.Edit(ctx, o, func(tx *beads.Tx) error {
		journal, records, err := choose()
		if err != nil {
			return err
		}
		for _, r := range records {
			if r.Command == "merge" {
				return &fault.Error{Code: fault.Conflict, Reason: "the answer to a merge is not taken back by itself",
					Hint: "type git checkout -m -- " + s.Place().Path + " while git merges"}
			}
			for _, c := range inUndoOrder(r.Changes) {
				err := refuseAnother(tx, journal, c)
				if err == nil {
					err = takeBack(tx, c, actor, o.Now, schema)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// inUndoOrder lists the changes of an edit, the last first, and the issues that it
// made after all else: nothing depends on them by then.
func inUndoOrder(changes []clone.Change) []clone.Change {
	changes = slices.Clone(changes)
	slices.Reverse(changes)
	slices.SortStableFunc(changes, func(a, b clone.Change) int { return made(a) - made(b) })
	return changes
}

func made(c clone.Change) int {
	if c.Kind == string(merge.KindIssue) {
		return 1
	}
	return 0
}

func cannotUndo(c clone.Change, reason, hint string) error {
	return &fault.Error{Code: fault.Conflict, ID: c.Issue, Reason: reason, Hint: hint}
}

// refuseAnother refuses a change of an issue that stig saw made, where the store has another
// one under its id: two clones gave both the same, and a merge renamed this one.
func refuseAnother(tx *beads.Tx, j clone.Journal, c clone.Change) error {
	now, err := tx.Record(c.Issue)
	if err != nil {
		return nil // takeBack says so
	}
	yours := beads.Birth{}
	for _, r := range j.Records {
		for _, made := range r.Changes {
			if made.Issue != c.Issue || made.Kind != string(merge.KindIssue) || made.Now == "" || r.Seen {
				continue
			}
			line, err := beads.ParseRecord([]byte(made.Now))
			if err != nil {
				continue // a hash of one that held a credential
			}
			if yours = line.Birth(); yours.Together(now.Birth()) {
				return nil
			}
		}
	}
	if yours == (beads.Birth{}) {
		return nil
	}
	hint := "see stig log " + c.Issue
	renamed := yours.Rename(c.Issue, func(string) bool { return false })
	if _, there := tx.Snapshot().Index(renamed); there {
		hint = "that one is " + renamed + " since branches were merged: edit it there"
	}
	return cannotUndo(c, "is another issue than the one that was edited", hint)
}

func takeBack(tx *beads.Tx, c clone.Change, actor string, now time.Time, schema *signals.Schema) error {
	what := c.Kind + " " + c.Name
	if c.Hash {
		return cannotUndo(c, what+": the journal holds a hash alone: it held a credential", "set it by hand: stig edit "+c.Issue)
	}
	if c.Kind == string(merge.KindIssue) {
		return unmake(tx, c, actor, now)
	}
	part := merge.Part{Kind: merge.Kind(c.Kind), Name: c.Name, Text: c.Was}
	if err := refuseRemoving(tx.Snapshot().Place(), c); err != nil {
		return err
	}
	return tx.PutBack(c.Issue, func(r *beads.Record) (*beads.Record, error) {
		is, _ := merge.FindPart(merge.Parts(r), part.Kind, part.Name)
		switch {
		case is.Same(c.Was):
			return r, nil
		case !is.Same(c.Now):
			return nil, cannotUndo(c, what+": was changed since", "see stig log "+c.Issue)
		}
		return Put(r, part, schema)
	})
}

// refuseRemoving refuses to take away the tombstone that beads_rust puts back.
func refuseRemoving(p beads.Place, c clone.Change) error {
	if p.BR && c.Kind == string(merge.Key) && c.Name == string(beads.Status) && c.Now == `"`+beads.StatusTombstone+`"` {
		return cannotUndo(c, "br keeps it deleted, and puts that back", "make it anew with stig create, and see stig log "+c.Issue)
	}
	return nil
}

// unmake makes a new issue a tombstone.
func unmake(tx *beads.Tx, c clone.Change, actor string, now time.Time) error {
	if tx.Snapshot().Place().ByBD() {
		return cannotUndo(c, "bd keeps the issues, and deletes them itself", "type bd delete "+c.Issue)
	}
	for _, issue := range tx.Snapshot().All() {
		depends, err := dependsOn(tx, issue, c.Issue)
		if err != nil {
			return err
		}
		if depends {
			return cannotUndo(c, issue.ID+" depends on it", "see stig show "+c.Issue+" --deps")
		}
	}
	return tx.PutBack(c.Issue, func(r *beads.Record) (*beads.Record, error) {
		if r.Text(beads.Status) != beads.StatusOpen {
			return nil, cannotUndo(c, fmt.Sprintf("its status is %s by now", r.Text(beads.Status)), "see stig log "+c.Issue)
		}
		made, err := beads.ParseRecord([]byte(c.Now))
		if err != nil {
			return nil, err
		}
		if since := merge.Edits(made, r); len(since) > 0 {
			return nil, cannotUndo(c, fmt.Sprintf("%s %s: was written since", since[0].Kind, since[0].Name),
				"type stig delete "+c.Issue+" if that is to go too")
		}
		at := now.UTC().Format(time.RFC3339)
		r = r.Put("original_type", r.Text(beads.IssueType)).Put(beads.Status, beads.StatusTombstone)
		r = r.Put("deleted_at", at).Put("deleted_by", actor)
		return r.Put("delete_reason", "undone"), nil
	})
}

// dependsOn reports whether an issue depends on the one with that id, as far as
// the edit has come.
func dependsOn(tx *beads.Tx, issue *beads.Issue, id string) (bool, error) {
	on := func(d beads.Dep) bool { return d.On == id }
	if issue.Status == beads.StatusTombstone || !slices.ContainsFunc(issue.Deps, on) {
		return false, nil
	}
	r, err := tx.Record(issue.ID)
	if err != nil {
		return false, err
	}
	return r.Text(beads.Status) != beads.StatusTombstone && slices.ContainsFunc(r.Deps(), on), nil
}
