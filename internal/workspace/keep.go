package workspace

import (
	"cmp"
	"context"
	"slices"

	"stig/internal/beads"
	"stig/internal/clone"
	past "stig/internal/journal"
	"stig/internal/lint"
	"stig/internal/merge"
	"stig/internal/visible"
)

// journal records the edits of this run in the journal of the clone. A journal that cannot be
// written does not prevent edits.
type journal struct {
	app    *Run
	ctx    context.Context
	Undoes []string            // records that the edits of this run undo
	Tips   map[string][]string // by issue, the records whose values the edits of this run restore
	// Sides returns the three lines of an issue that an answer to a merge conflict chose from;
	// nil without a merge.
	Sides  func(id string) (base, ours, theirs *beads.Record)
	last   *clone.Pending // the latest edit of this run
	warned bool           // the user was warned that an edit is not in the journal

	beside   bool // the user was warned that other work trees do not see the journal
	unshared bool // the user was warned that shared state cannot be read or written
}

// journalled is a store whose edits are recorded in the journal.
type journalled struct {
	beads.Store
	journal *journal
}

// Edit records the changes under the lock right after fn made them, and their outcome once they
// are written. That is under the lock too if the store has one, since the next writer may undo
// or overwrite them. It records nothing of a dry run.
func (s *journalled) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	if s.Place().Mode == beads.Server && !o.DryRun {
		o.Actor, _ = s.journal.app.ActorName(ctx) // an edit without an actor is recorded too
		o.Command = cmp.Or(s.journal.app.Running, "stig")
	}
	entry, followed := s.journal.entry(s.Place(), o), false
	o.Written = func(changes []beads.Change) {
		followed = true
		entry.end(true)
		entry.follow(changes)
	}
	changes, err := s.Store.Edit(ctx, o, func(tx *beads.Tx) error {
		entry.end(false) // the edit restarts: what it began before was not written
		err := fn(tx)
		if err == nil {
			entry.begin(tx.Changes())
		}
		return err
	})
	switch written := err == nil || len(changes) > 0; {
	case !written:
		entry.end(false)
	case !followed && !o.DryRun:
		o.Written(changes)
	}
	if err == nil {
		s.journal.warnOfCredentials(changes)
	}
	return changes, err
}

// follow updates leases after an edit: an actor that works on an issue renews its lease, and
// one that releases or closes the issue loses it.
func (e *entry) follow(changes []beads.Change) {
	if e.place.Worktree == "" || len(changes) == 0 || len(e.claims.Leases)+len(e.claims.Done) == 0 && !e.leavesMarks() {
		return
	}
	if edit, did := e.edit(changes); slices.ContainsFunc(did, edit.Concerns) {
		e.change(did, edit.Follow)
	}
}

// leavesMarks reports whether closed issues get marks for other work trees. A store on a server
// needs none, since all see it.
func (e *entry) leavesMarks() bool { return e.place.Shared() && e.place.Documents == nil }

// announce leaves marks of issues that are about to be closed.
func (e *entry) announce(changes []beads.Change) {
	edit, did := e.edit(changes)
	if slices.ContainsFunc(did, func(one clone.Handover) bool { return edit.Announce(&clone.Claims{}, one) }) {
		e.change(did, edit.Announce)
		e.withdraw = func() { e.change(did, edit.Withdraw) }
	}
}

// edit describes changes for the update of leases and marks.
func (e *entry) edit(changes []beads.Change) (edit clone.ClaimEdit, did []clone.Handover) {
	for _, c := range changes {
		if before, after, err := parsed(c); err == nil && before != nil {
			did = append(did, clone.Handover{Issue: c.ID, Status: before.Text(beads.Status), NewStatus: after.Text(beads.Status),
				Holder: before.Text(beads.Assignee), NewHolder: after.Text(beads.Assignee)})
		}
	}
	edit = clone.ClaimEdit{Actor: e.actor, Now: e.options.Now, Before: e.claims, Commit: e.place.Head}
	if e.leavesMarks() {
		edit.Branch = e.place.Branch
	}
	return edit, did
}

// change updates leases and marks.
func (e *entry) change(did []clone.Handover, follow func(*clone.Claims, clone.Handover) bool) {
	var issues []string
	for _, one := range did {
		issues = append(issues, one.Issue)
	}
	beside, err := e.place.ChangeClaims(func(all *clone.Claims) (changed bool, err error) {
		for _, one := range did {
			changed = follow(all, one) || changed
		}
		return changed, nil
	}, issues...)
	if beside {
		e.WarnOfBeside()
	}
	e.app.WarnOfShared(err)
}

// warnOfCredentials warns of new credentials in the changes, which must not get into a
// repository.
func (j *journal) warnOfCredentials(changes []beads.Change) {
	for _, c := range changes {
		for _, what := range lint.NewCredentials(c) {
			j.app.Warn("%s: %s; take it out before it is committed, and revoke it where it was issued", c.ID, what)
		}
	}
}

// entry is one edit for the journal.
type entry struct {
	*journal
	at      beads.Place
	options beads.Options

	pending *clone.Pending // nil if there is none
	place   clone.Place
	claims  clone.Claims // before the edit
	actor   string
	seen    clone.Seen
	before  string // the stamp of the store

	withdraw func() // removes the marks that were left before the write; nil for none
}

func (j *journal) entry(p beads.Place, o beads.Options) *entry {
	return &entry{journal: j, at: p, options: o}
}

// begin records what is about to be written.
func (e *entry) begin(changes []beads.Change) {
	if len(changes) == 0 || e.options.DryRun {
		return // or only conflict markers changed
	}
	place, err := e.app.Live(e.at)
	if err != nil {
		e.warn(err)
		return
	}
	actor, _ := e.app.ActorName(e.ctx) // an edit without an actor is recorded too
	excludeLocks(e.at, place)
	e.place, e.seen, e.before, e.actor = place, place.Seen(), clone.Stamp(e.at.Path), actor
	if e.claims, err = place.Claims(issuesOf(changes)...); err != nil {
		e.app.WarnOfShared(err)
	}
	pending, err := place.Begin(clone.Record{
		At: e.options.Now, Actor: actor, Command: cmp.Or(e.app.Running, "stig"), Undoes: e.Undoes,
		Changes: recorded(changes), Versions: e.versions(changes), Run: cmp.Or(e.app.run, e.app.Getenv("STIG_RUN")),
	})
	if err != nil {
		e.warn(err)
		return
	}
	e.pending, e.last = pending, pending
	if pending.Beside() && place.Shared() {
		e.WarnOfBeside()
	}
	e.announce(changes)
}

// WarnOfBeside warns, once, that other work trees do not see what this run records.
func (j *journal) WarnOfBeside() {
	if !j.beside {
		j.beside = true
		j.app.Warn("git's directory cannot be written: the journal and claims of this edit are beside the store, where other work trees do not see them")
	}
}

func issuesOf(changes []beads.Change) (ids []string) {
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	return ids
}

// end records whether the pending edit was written.
func (e *entry) end(written bool) {
	if e.pending == nil {
		return
	}
	result := clone.Failed
	if written {
		result = clone.Written
	}
	if err := e.pending.End(result); err != nil {
		e.warn(err)
	}
	e.pending = nil
	if !written && e.withdraw != nil {
		e.withdraw()
	}
	e.withdraw = nil
	// If another program changed the store earlier, orient still has to check that change.
	if written && (e.seen.Left == e.before || e.seen.Left == "") {
		e.seen.Left = clone.Stamp(e.at.Path)
		_ = e.place.Remember(e.seen) // else orient checks once more
	}
}

func (j *journal) warn(err error) {
	if !j.warned {
		j.warned = true
		j.app.Warn("this edit is not in the journal, so stig recover cannot find it: %v", err)
	}
}

// Last returns the record of the latest edit; "" if there is none.
func (j *journal) Last() string {
	if j == nil || j.last == nil {
		return ""
	}
	return j.last.Record.Seq
}

// Told records that the output of the latest edit was printed.
func (j *journal) Told() {
	if j != nil && j.last != nil {
		_ = j.last.Told() // else the next create of a similar issue mentions this one
	}
}

// recorded returns the changes for the journal. Values with credentials are hashed.
func recorded(changes []beads.Change) (list []clone.Change) {
	for _, c := range changes {
		before, after, err := parsed(c)
		if err != nil {
			continue // does not happen: the store parsed both lines
		}
		for _, e := range merge.Edits(before, after) {
			list = append(list, RecordedEdit(c.ID, e))
		}
	}
	return list
}

// versions returns the lines from and to which the changes lead.
func (j *journal) versions(changes []beads.Change) (list []clone.Version) {
	for _, c := range changes {
		before, after, err := parsed(c)
		if err != nil {
			continue // see recorded
		}
		v := past.VersionBetween(c.ID, before, after)
		v.Tips = j.Tips[c.ID]
		if j.Sides != nil && before == nil {
			base, ours, theirs := j.Sides(c.ID)
			v.Was, v.Other, v.Base = past.VersionOf(ours), past.VersionOf(theirs), past.VersionOf(base)
		}
		list = append(list, v)
	}
	return list
}

// RecordedEdit returns one edit for the journal.
func RecordedEdit(id string, e merge.Edit) clone.Change {
	c := clone.Change{Issue: id, Kind: string(e.Kind), Name: e.Name, Was: e.Was, Now: e.Now}
	if visible.HoldsSecret(e.Was) || visible.HoldsSecret(e.Now) {
		c.Hash, c.Was, c.Now = true, hashed(e, e.Was), hashed(e, e.Now)
	}
	return c
}

// parsed parses both lines of a change; before is nil for a new issue.
func parsed(c beads.Change) (before, after *beads.Record, err error) {
	if len(c.Before) > 0 {
		if before, err = beads.ParseRecord(c.Before); err != nil {
			return nil, nil, err
		}
	}
	after, err = beads.ParseRecord(c.After)
	return before, after, err
}

// hashed returns the hash that replaces a text with a credential.
func hashed(e merge.Edit, text string) string {
	return string(merge.Part{Kind: e.Kind, Name: e.Name, Text: text}.Digest())
}
