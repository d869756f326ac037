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

// Undoable lists the last n edits of an actor in this work tree that the store still has,
// latest first, without undone edits and undos. If the actor has fewer, it lists fewer.
func Undoable(j clone.Journal, p clone.Place, store *beads.Snapshot, actor string, count int) (list []clone.Record, err error) {
	ids, histories := histories(j)
	lines, err := linesIn(store, ids)
	if err != nil {
		return nil, err
	}
	here := func(r *clone.Record) bool {
		if r.Worktree != p.Worktree || len(r.Versions) == 0 && len(r.Changes) > 0 && r.Branch != p.Branch {
			return false
		}
		return !slices.ContainsFunc(r.Versions, func(v clone.Version) bool { return !histories[v.Issue].mayHold(lines[v.Issue], r) })
	}
	var undone []string
	for i := range slices.Backward(j.Records) {
		r := &j.Records[i]
		edits := len(r.Changes) > 0 && !r.Forgets && !r.Seen
		if r.Result == clone.Failed || !edits && len(r.Undoes) == 0 || !here(r) {
			continue
		}
		undone = append(undone, r.Undoes...)
		own := r.Actor == actor && len(r.Undoes) == 0 && r.Result == clone.Written
		if own && !slices.Contains(undone, r.Seq) && len(list) < count {
			list = append(list, *r)
		}
	}
	return list, nil
}

// mayHold reports whether a line contains the edit of a record, or is unrecorded.
func (h *history) mayHold(line *beads.Record, r *clone.Record) bool {
	version := VersionOf(line)
	if !h.known[version] {
		return true
	}
	held := h.line(line)
	return slices.ContainsFunc(h.edits, func(e *edit) bool { return e.record.Seq == r.Seq && held.whole.Bit(e.number) == 1 })
}

// Undo reverts edits, latest first, in one edit: each value becomes what it replaced. choose
// returns the journal and the edits, and is called under the lock, since another process may
// just have undone the same ones. Undo refuses (fault.Conflict) if a value is no longer what
// the edit wrote, if the id belongs to another issue by now, and if others depend on an issue
// to remove. A created issue becomes a tombstone.
func Undo(ctx context.Context, s beads.Store, o beads.Options, actor string, schema *signals.Schema, choose func() (clone.Journal, []clone.Record, error)) ([]beads.Change, error) {
	o.Notes = func(before, after string) error { return nil } // the journal has the former value
	return s.Edit(ctx, o, func(tx *beads.Tx) error {
		journal, records, err := choose()
		if err != nil {
			return err
		}
		for _, r := range records {
			if r.Command == "merge" {
				return &fault.Error{Code: fault.Conflict, Reason: "the answer to a merge cannot be undone by itself",
					Hint: "type git checkout -m -- " + s.Place().Path + " while git merges"}
			}
			for _, of := range inUndoOrder(r.Changes) {
				err := refuseAnother(tx, journal, of[0])
				if err == nil {
					err = takeBack(tx, of, actor, o.Now, schema)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// inUndoOrder groups the changes of an edit by issue, last first, with created issues at the
// end: nothing depends on them by then.
func inUndoOrder(changes []clone.Change) (groups [][]clone.Change) {
	for _, c := range slices.Backward(changes) {
		at := slices.IndexFunc(groups, func(g []clone.Change) bool { return g[0].Issue == c.Issue && made(g[0]) == made(c) })
		if at < 0 {
			groups = append(groups, []clone.Change{c})
			continue
		}
		groups[at] = append(groups[at], c)
	}
	slices.SortStableFunc(groups, func(a, b []clone.Change) int { return made(a[0]) - made(b[0]) })
	return groups
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

// refuseAnother refuses a change to an issue that stig saw created if the store has another one
// under its id: two clones assigned it twice, and a merge renamed this one.
func refuseAnother(tx *beads.Tx, j clone.Journal, c clone.Change) error {
	now, err := tx.Record(c.Issue)
	if err != nil {
		return nil // takeBack reports it
	}
	yours := beads.Origin{}
	for _, r := range j.Records {
		for _, made := range r.Changes {
			if made.Issue != c.Issue || made.Kind != string(merge.KindIssue) || made.Now == "" || r.Seen {
				continue
			}
			line, err := beads.ParseRecord([]byte(made.Now))
			if err != nil {
				continue // a hash of a value with a credential
			}
			if yours = line.Origin(); yours.Together(now.Origin()) {
				return nil
			}
		}
	}
	if yours == (beads.Origin{}) {
		return nil
	}
	hint := "see stig log " + c.Issue
	renamed := yours.Rename(c.Issue, func(string) bool { return false })
	if _, there := tx.Snapshot().Index(renamed); there {
		hint = "that one is " + renamed + " since branches were merged: edit it there"
	}
	return cannotUndo(c, "is not the issue that was edited", hint)
}

// takeBack reverts the changes of one issue. Each is judged by the issue before the first one:
// a recreated signal table has all rows.
func takeBack(tx *beads.Tx, changes []clone.Change, actor string, now time.Time, schema *signals.Schema) error {
	for _, c := range changes {
		if c.Hash {
			return cannotUndo(c, c.Kind+" "+c.Name+": the journal has only a hash: the value held a credential", "set it by hand: stig edit "+c.Issue)
		}
		if err := refuseRemoving(tx.Snapshot().Place(), c); err != nil {
			return err
		}
	}
	if made(changes[0]) == 1 {
		return unmake(tx, changes[0], actor, now)
	}
	return tx.PutBack(changes[0].Issue, func(r *beads.Record) (*beads.Record, error) {
		parts := merge.Parts(r)
		for _, c := range changes {
			is, _ := merge.FindPart(parts, merge.Kind(c.Kind), c.Name)
			switch {
			case is.Same(c.Was):
				continue
			case !is.Same(c.Now):
				return nil, cannotUndo(c, c.Kind+" "+c.Name+": was changed since", "see stig log "+c.Issue)
			}
			var err error
			if r, err = Put(r, merge.Part{Kind: is.Kind, Name: is.Name, Text: c.Was}, schema); err != nil {
				return nil, err
			}
		}
		return r, nil
	})
}

// refuseRemoving refuses to remove the tombstone that beads_rust would restore.
func refuseRemoving(p beads.Place, c clone.Change) error {
	if p.BR && c.Kind == string(merge.Key) && c.Name == string(beads.Status) && c.Now == `"`+beads.StatusTombstone+`"` {
		return cannotUndo(c, "br keeps it deleted, and would restore the tombstone", "create it again with stig create, and see stig log "+c.Issue)
	}
	return nil
}

// unmake turns a new issue into a tombstone.
func unmake(tx *beads.Tx, c clone.Change, actor string, now time.Time) error {
	if tx.Snapshot().Place().ByBD() {
		return cannotUndo(c, "bd has the issues, and deletes them itself", "type bd delete "+c.Issue)
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
		made, err := beads.ParseRecord([]byte(c.Now))
		if err != nil {
			return nil, err
		}
		if isTombstone(r) {
			return r, nil
		}
		if r.Text(beads.Status) != made.Text(beads.Status) {
			return nil, cannotUndo(c, fmt.Sprintf("its status is %s now", r.Text(beads.Status)), "see stig log "+c.Issue)
		}
		if since := merge.Edits(made, r); len(since) > 0 {
			return nil, cannotUndo(c, fmt.Sprintf("%s %s: was written since", since[0].Kind, since[0].Name),
				"type stig delete "+c.Issue+" to delete that too")
		}
		at := now.UTC().Format(time.RFC3339)
		r = r.Put("original_type", r.Text(beads.IssueType)).Put(beads.Status, beads.StatusTombstone)
		r = r.Put("deleted_at", at).Put("deleted_by", actor)
		return r.Put("delete_reason", "undone"), nil
	})
}

// dependsOn reports whether an issue depends on the one with that id, including the edit so
// far.
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
