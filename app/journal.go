package app

import (
	"cmp"
	"context"
	"time"

	"stig/beads"
	"stig/diff"
	"stig/lint"
	"stig/live"
)

// journal keeps what this run writes in the journal of the clone. A journal
// that cannot be written never keeps an edit from being made.
type journal struct {
	app    *App
	ctx    context.Context
	Undoes []string      // records that the edits of this run take back
	last   *live.Pending // the latest edit of this run
	warned bool
}

// journalled is a store of which the journal keeps the edits.
type journalled struct {
	beads.Store
	journal *journal
}

// Edit records the changes under the lock, right after fn made them, and their
// outcome when they are written. It records nothing of a dry run.
func (s *journalled) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	entry := s.journal.entry(s.Place(), o)
	changes, err := s.Store.Edit(ctx, o, func(tx *beads.Tx) error {
		err := fn(tx)
		if err == nil {
			entry.begin(tx.Changes())
		}
		return err
	})
	entry.end(err == nil || len(changes) > 0)
	return changes, err
}

// entry is what the journal keeps of one edit.
type entry struct {
	*journal
	at      beads.Place
	options beads.Options

	pending *live.Pending // nil when there is none
	place   live.Place
	seen    live.Seen
	before  string // the stamp of the store
}

func (j *journal) entry(p beads.Place, o beads.Options) *entry {
	return &entry{journal: j, at: p, options: o}
}

// begin records what is about to be written. When the edit started over, what it
// began before was not written.
func (e *entry) begin(changes []beads.Change) {
	e.end(false)
	if len(changes) == 0 || e.options.DryRun {
		return // or conflict markers alone were changed
	}
	place, err := live.At(e.at.Path)
	if err != nil {
		e.warn(err)
		return
	}
	actor, _ := e.app.ActorName(e.ctx) // an edit whose actor is unknown is recorded all the same
	e.place, e.seen, e.before = place, place.Seen(), live.Stamp(e.at.Path)
	pending, err := place.Begin(live.Record{
		At: e.options.Now, Actor: actor, Command: cmp.Or(e.app.Running, "stig"), Undoes: e.Undoes, Changes: recorded(changes),
	})
	if err != nil {
		e.warn(err)
		return
	}
	e.pending, e.last = pending, pending
	if pending.Beside() && !e.warned && place.Shared() {
		e.warned = true
		e.app.Warn("git's directory cannot be written: the journal of this edit is beside the store, where other work trees do not see it")
	}
}

// end records whether what was begun was written.
func (e *entry) end(written bool) {
	if e.pending == nil {
		return
	}
	result := live.Failed
	if written {
		result = live.Written
	}
	if err := e.pending.End(result); err != nil {
		e.warn(err)
	}
	e.pending = nil
	// What another program did to the store before is looked at by orient.
	if written && (e.seen.Left == e.before || e.seen.Left == "") {
		e.seen.Left = live.Stamp(e.at.Path)
		_ = e.place.Remember(e.seen) // else orient looks once more
	}
}

func (j *journal) warn(err error) {
	if !j.warned {
		j.warned = true
		j.app.Warn("this edit is not in the journal, and stig recover will not know of it: %v", err)
	}
}

// Told records that the output of the latest edit was printed.
func (j *journal) Told() {
	if j != nil && j.last != nil {
		_ = j.last.Told() // else the next create like it names the issue
	}
}

// recorded lists what changes as the journal keeps it: a value that holds a
// credential as a hash.
func recorded(changes []beads.Change) (list []live.Change) {
	for _, c := range changes {
		before, after, err := parsed(c)
		if err != nil {
			continue // it does not happen: the store parsed both lines
		}
		for _, e := range diff.Edits(before, after) {
			list = append(list, recordedEdit(c.ID, e))
		}
	}
	return list
}

// recordedEdit is one edit as the journal keeps it.
func recordedEdit(id string, e diff.Edit) live.Change {
	c := live.Change{Issue: id, Kind: string(e.Kind), Name: e.Name, Was: e.Was, Now: e.Now}
	if lint.HoldsCredential(e.Was) || lint.HoldsCredential(e.Now) {
		c.Hash, c.Was, c.Now = true, hashed(e, e.Was), hashed(e, e.Now)
	}
	return c
}

// parsed reads both lines of a change; before is nil for a new issue.
func parsed(c beads.Change) (before, after *beads.Record, err error) {
	if len(c.Before) > 0 {
		if before, err = beads.ParseRecord(c.Before); err != nil {
			return nil, nil, err
		}
	}
	after, err = beads.ParseRecord(c.After)
	return before, after, err
}

// hashed is what the journal keeps of a text that holds a credential.
func hashed(e diff.Edit, text string) string {
	return string(diff.Part{Kind: e.Kind, Name: e.Name, Text: text}.Digest())
}

// LogRequest says which edits of the journal to list.
type LogRequest struct {
	IDs   []string // of these issues; none stand for all
	Actor string   // by this actor; "" for any
	Since time.Time
}

// Logged is an edit in the journal, with those of its changes that were asked for.
type Logged struct {
	At       time.Time     `json:"at"`
	Actor    string        `json:"actor"`
	Command  string        `json:"command"`
	Worktree string        `json:"worktree"`
	Branch   string        `json:"branch"`
	Head     string        `json:"head"`
	Result   live.Result   `json:"result"` // "unfinished", "written" or "failed"
	Issues   []string      `json:"issues"`
	Changes  []live.Change `json:"changes"`
}

// Log lists edits that stig made in this clone, the oldest first.
func (a *App) Log(r LogRequest) ([]Logged, error) {
	_, journal, err := a.readJournal()
	if err != nil {
		return nil, err
	}
	a.warnOfJournal(journal)
	edits := []Logged{}
	for _, record := range journal.Records {
		if record.At.Before(r.Since) || r.Actor != "" && record.Actor != r.Actor {
			continue
		}
		if e := loggedOf(record, r.IDs); len(e.Changes) > 0 {
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// ForgetLog removes what the journal holds of those issues, of all where none is
// named, and counts the edits.
func (a *App) ForgetLog(ids []string) (count int, err error) {
	place, journal, err := a.readJournal()
	if err != nil {
		return 0, err
	}
	var issues []string
	for _, r := range journal.Records {
		for _, c := range r.Changes {
			if len(ids) > 0 && IsNamed(ids, c.Issue) {
				issues = append(issues, c.Issue)
			}
		}
	}
	if len(ids) > 0 && len(issues) == 0 {
		return 0, nil
	}
	return place.Forget(issues...)
}

// readJournal reads the journal of the clone.
func (a *App) readJournal() (live.Place, live.Journal, error) {
	place, err := a.livePlace()
	if err != nil {
		return place, live.Journal{}, err
	}
	journal, err := place.Journal()
	return place, journal, err
}

// loggedOf is a record with the changes of those issues, of all where none is
// named. An id may stand without its prefix.
func loggedOf(r live.Record, ids []string) Logged {
	e := Logged{At: r.At, Actor: r.Actor, Command: r.Command, Worktree: r.Worktree, Branch: r.Branch, Head: r.Head,
		Result: r.Result, Issues: []string{}, Changes: []live.Change{}}
	if r.Result == live.Unfinished {
		e.Result = "unfinished"
	}
	for _, c := range r.Changes {
		if !IsNamed(ids, c.Issue) {
			continue
		}
		e.Changes = append(e.Changes, c)
		if n := len(e.Issues); n == 0 || e.Issues[n-1] != c.Issue {
			e.Issues = append(e.Issues, c.Issue)
		}
	}
	return e
}
