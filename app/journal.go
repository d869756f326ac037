package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"stig/beads"
	"stig/diff"
	"stig/lease"
	"stig/lint"
	"stig/live"
	"stig/secret"
)

// journal keeps what this run writes in the journal of the clone. A journal
// that cannot be written never keeps an edit from being made.
type journal struct {
	app    *App
	ctx    context.Context
	undoes []string      // records that the edits of this run take back
	last   *live.Pending // the latest edit of this run
	warned bool          // that an edit is not in the journal, the user was told

	beside   bool // other work trees do not see what is kept, and the user was told
	unshared bool // what others are to see could not be read or written, and the user was told
}

// journalled is a store of which the journal keeps the edits.
type journalled struct {
	beads.Store
	journal *journal
}

// Edit records the changes under the lock, right after fn made them, and their
// outcome when they are written: under the lock too, where the store has one, for whoever
// writes next may undo just that, or overwrite it. It records nothing of a dry run.
func (s *journalled) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	if s.Place().Mode == beads.Server && !o.DryRun {
		o.Actor, _ = s.journal.app.ActorName(ctx) // an edit whose actor is unknown is recorded all the same
		o.Command = cmp.Or(s.journal.app.Running, "stig")
	}
	entry, followed := s.journal.entry(s.Place(), o), false
	o.Written = func(changes []beads.Change) {
		followed = true
		entry.end(true)
		entry.follow(changes)
	}
	changes, err := s.Store.Edit(ctx, o, func(tx *beads.Tx) error {
		entry.end(false) // when the edit starts over: what it began before was not written
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

// follow has leases follow what an edit did to issues: who works on one renews theirs,
// and who gives one back or closes it has none any more.
func (e *entry) follow(changes []beads.Change) {
	if e.place.Worktree == "" || len(changes) == 0 || len(e.claims.Leases)+len(e.claims.Done) == 0 && !e.leavesMarks() {
		return
	}
	if edit, did := e.edit(changes); slices.ContainsFunc(did, edit.Concerns) {
		e.change(did, edit.Follow)
	}
}

// leavesMarks reports whether others of the clone are told of closings: of a server's store
// all see these themselves.
func (e *entry) leavesMarks() bool { return e.place.Shared() && e.place.Documents == nil }

// announce leaves the marks of what is about to be closed.
func (e *entry) announce(changes []beads.Change) {
	edit, did := e.edit(changes)
	if slices.ContainsFunc(did, func(one lease.Change) bool { return edit.Announce(&live.Claims{}, one) }) {
		e.change(did, edit.Announce)
		e.withdraw = func() { e.change(did, edit.Withdraw) }
	}
}

// edit says what the changes did, for leases and marks to follow.
func (e *entry) edit(changes []beads.Change) (edit lease.Edit, did []lease.Change) {
	for _, c := range changes {
		if before, after, err := parsed(c); err == nil && before != nil {
			did = append(did, lease.Change{Issue: c.ID, Status: before.Text(beads.Status), NewStatus: after.Text(beads.Status),
				Holder: before.Text(beads.Assignee), NewHolder: after.Text(beads.Assignee)})
		}
	}
	edit = lease.Edit{Actor: e.actor, Now: e.options.Now, Before: e.claims, Commit: e.place.Head}
	if e.leavesMarks() {
		edit.Branch = e.place.Branch
	}
	return edit, did
}

// change has leases and marks follow what was done.
func (e *entry) change(did []lease.Change, follow func(*live.Claims, lease.Change) bool) {
	var issues []string
	for _, one := range did {
		issues = append(issues, one.Issue)
	}
	beside, err := e.place.ChangeClaims(func(all *live.Claims) (changed bool, err error) {
		for _, one := range did {
			changed = follow(all, one) || changed
		}
		return changed, nil
	}, issues...)
	if beside {
		e.warnOfBeside()
	}
	e.app.WarnOfShared(err)
}

// warnOfCredentials says what an edit brought that must not come into a repository.
func (j *journal) warnOfCredentials(changes []beads.Change) {
	for _, c := range changes {
		for _, what := range lint.NewCredentials(c) {
			j.app.Warn("%s: %s; take it out before it is committed, and revoke it where it was issued", c.ID, what)
		}
	}
}

// entry is what the journal keeps of one edit.
type entry struct {
	*journal
	at      beads.Place
	options beads.Options

	pending *live.Pending // nil when there is none
	place   live.Place
	claims  live.Claims // before the edit
	actor   string
	seen    live.Seen
	before  string // the stamp of the store

	withdraw func() // takes the marks back that were left before the store is written; nil for none
}

func (j *journal) entry(p beads.Place, o beads.Options) *entry {
	return &entry{journal: j, at: p, options: o}
}

// begin records what is about to be written.
func (e *entry) begin(changes []beads.Change) {
	if len(changes) == 0 || e.options.DryRun {
		return // or conflict markers alone were changed
	}
	place, err := e.app.Live(e.at)
	if err != nil {
		e.warn(err)
		return
	}
	actor, _ := e.app.ActorName(e.ctx) // an edit whose actor is unknown is recorded all the same
	e.place, e.seen, e.before, e.actor = place, place.Seen(), live.Stamp(e.at.Path), actor
	if e.claims, err = place.Claims(issuesOf(changes)...); err != nil {
		e.app.WarnOfShared(err)
	}
	pending, err := place.Begin(live.Record{
		At: e.options.Now, Actor: actor, Command: cmp.Or(e.app.Running, "stig"), Undoes: e.undoes, Changes: recorded(changes),
	})
	if err != nil {
		e.warn(err)
		return
	}
	e.pending, e.last = pending, pending
	if pending.Beside() && place.Shared() {
		e.warnOfBeside()
	}
	e.announce(changes)
}

// warnOfBeside says, once, that other work trees do not see what this run does.
func (j *journal) warnOfBeside() {
	if !j.beside {
		j.beside = true
		j.app.Warn("git's directory cannot be written: the journal of this edit, and claims, are beside the store, where other work trees do not see them")
	}
}

func issuesOf(changes []beads.Change) (ids []string) {
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	return ids
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
	if !written && e.withdraw != nil {
		e.withdraw()
	}
	e.withdraw = nil
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

// told records that the output of the latest edit was printed.
func (j *journal) told() {
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
	if secret.Holds(e.Was) || secret.Holds(e.Now) {
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
	Limit int // the last so many; 0 for all
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

// Log lists edits that stig made in this clone, the oldest first. It refuses
// (fault.NotFound) ids that neither the store has nor the journal names.
func (a *App) Log(r LogRequest) ([]Logged, error) {
	if r.Limit < 0 {
		return nil, Usage(fmt.Sprintf("--limit: must not be negative; found %d", r.Limit), "")
	}
	_, journal, err := a.readJournal()
	if err != nil {
		return nil, err
	}
	a.warnOfJournal(journal)
	store, err := a.Discover()
	if err == nil {
		err = unknown(store, journal, r.IDs)
	}
	if err != nil {
		return nil, err
	}
	edits := []Logged{}
	for _, record := range journal.Records {
		if record.At.Before(r.Since) || r.Actor != "" && record.Actor != r.Actor {
			continue
		}
		if e := loggedOf(record, r.IDs); len(e.Changes) > 0 {
			edits = append(edits, e)
		}
	}
	if r.Limit > 0 {
		edits = edits[max(0, len(edits)-r.Limit):]
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
			if len(ids) > 0 && isNamed(ids, c.Issue) {
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
		if !isNamed(ids, c.Issue) {
			continue
		}
		e.Changes = append(e.Changes, c)
		if n := len(e.Issues); n == 0 || e.Issues[n-1] != c.Issue {
			e.Issues = append(e.Issues, c.Issue)
		}
	}
	return e
}

// Births gives from the journal what an issue was called when it was made: two
// branches may give one id to two issues in one second, and titles change. What
// the journal of this clone does not know, it does not say.
func (a *App) Births() func(id string, as beads.Birth) (title string, known bool) {
	journal := sync.OnceValue(func() (j live.Journal) {
		if place, err := a.livePlace(); err == nil {
			j, _ = place.Journal() // without it the titles of now are compared
		}
		return j
	})
	return func(id string, as beads.Birth) (string, bool) { return titleAtBirth(journal(), id, as) }
}

// titleAtBirth follows the edits of a title back to that of a new issue that
// was made at the same time by the same actor.
func titleAtBirth(j live.Journal, id string, as beads.Birth) (title string, known bool) {
	made := map[string]bool{}     // titles of new issues with that id
	before := map[string]string{} // of a title, the one that it replaced
	for _, r := range j.Records {
		for _, c := range r.Changes {
			switch {
			case c.Issue != id || r.Result != live.Written || r.Seen:
			case c.Kind == string(diff.Issue):
				if line, err := beads.ParseRecord([]byte(c.Now)); err == nil && line.Birth().Together(as) {
					made[line.Text(beads.Title)] = true
				}
			case c.Kind == string(diff.Key) && c.Name == string(beads.Title):
				before[decoded(c.Now)] = decoded(c.Was)
			}
		}
	}
	title = as.Title
	for range before {
		was, edited := before[title]
		if made[title] || !edited {
			break
		}
		title = was
	}
	return title, made[title]
}

// decoded is the text of a JSON string.
func decoded(raw string) (text string) {
	_ = json.Unmarshal([]byte(raw), &text) // the journal holds what the store held
	return text
}
