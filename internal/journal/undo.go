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

// Undoable lists the last so many edits of an actor in this work tree that the store holds,
// the latest first, without those that were undone and those that undid. Of an actor with
// fewer edits it lists fewer.
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

// mayHold reports whether a line holds the edit of a record, or is one that no record names.
func (h *history) mayHold(line *beads.Record, r *clone.Record) bool {
	version := VersionOf(line)
	if !h.known[version] {
		return true
	}
	held := h.line(line)
	return slices.ContainsFunc(h.edits, func(e *edit) bool { return e.record.Seq == r.Seq && held.whole.Bit(e.number) == 1 })
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

// inUndoOrder groups the changes of an edit by issue, the last first, and the issues that it
// made after all else: nothing depends on them by then.
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

// takeBack takes the changes of one issue back. Each is judged by what the issue shows before
// the first: a signal table that is made again has all rows.
func takeBack(tx *beads.Tx, changes []clone.Change, actor string, now time.Time, schema *signals.Schema) error {
	for _, c := range changes {
		if c.Hash {
			return cannotUndo(c, c.Kind+" "+c.Name+": the journal holds a hash alone: it held a credential", "set it by hand: stig edit "+c.Issue)
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
		made, err := beads.ParseRecord([]byte(c.Now))
		if err != nil {
			return nil, err
		}
		if isTombstone(r) {
			return r, nil
		}
		if r.Text(beads.Status) != made.Text(beads.Status) {
			return nil, cannotUndo(c, fmt.Sprintf("its status is %s by now", r.Text(beads.Status)), "see stig log "+c.Issue)
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
