package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/journal"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// isNamed reports whether an issue is one of ids; an empty list means all.
func isNamed(ids []string, issue string) bool {
	for _, id := range ids {
		if id == issue || strings.HasSuffix(issue, "-"+id) {
			return true
		}
	}
	return len(ids) == 0
}

// unknown returns an error (fault.NotFound) for ids that are neither in the store nor in the
// journal. A lost issue is only in the journal.
func unknown(store beads.Store, j clone.Journal, ids []string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(j.Records, func(r clone.Record) bool {
			return slices.ContainsFunc(r.Changes, func(c clone.Change) bool { return isNamed([]string{id}, c.Issue) })
		})
	})
	if len(ids) == 0 {
		return nil
	}
	file, err := store.Snapshot()
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.FindAll(ids)
	return err
}

const (
	recoverWait = 30 * time.Second // how long to wait for writers if the losses were asked for
	asideWait   = 2 * time.Second  // and if they are a side remark
)

// question collects what journal.Find needs from the store and the clone. The store and its
// journal are read while writers are paused: an edit in between would look like a loss, and a
// removal in between like an earlier one. The caller closes the file.
func question(ctx context.Context, a *workspace.Run, store beads.Store, read func(clone.Place) (clone.Journal, error), wait time.Duration) (q journal.Question, file *beads.Snapshot, err error) {
	if q, err = held(ctx, a, store.Place()); err != nil {
		return q, nil, err
	}
	resume, err := jsonl.Pause(ctx, store.Place(), wait)
	if err != nil {
		return q, nil, err
	}
	if q.Journal, err = read(q.Place); err == nil {
		file, err = store.Snapshot()
	}
	q.Store = journal.InSnapshot(file)
	return q, file, errors.Join(err, resume())
}

// held begins a question with what git and other work trees have.
func held(ctx context.Context, a *workspace.Run, store beads.Place) (q journal.Question, err error) {
	if q.Place, err = a.Live(store); err != nil {
		return q, err
	}
	repo, path, err := a.Git(store)
	if err != nil {
		return q, err
	}
	clone := journal.Clone{Path: path, Busy: git.Busy(q.Place.Tree.Own) != "", Others: func() []beads.Store { return a.StoresBeside(ctx, store) }}
	if q.Place.Shared() && process.Finder("", a.Getenv)("git") {
		clone.Git = repo
	}
	q.Held = clone
	return q, nil
}

// Missing is what stig wrote and the store lacks, as far as the journal can be read.
type Missing struct {
	Lost, Others []journal.Finding // Others is elsewhere, edited since, or removed
	Unread       bool              // part of the journal is unreadable
	all          []journal.Finding // in the order of the journal
	place        clone.Place       // of the journal
}

// FindLost lists what is missing from the given issues, or from all. It refuses unknown ids.
func FindLost(ctx context.Context, a *workspace.Run, ids []string) (m Missing, err error) {
	store, err := a.DiscoverToRead()
	if err != nil {
		return m, err
	}
	if err := inFile(store.Place(), "stig recover"); err != nil {
		return m, err
	}
	if store.Place().Mode == beads.BD {
		return m, workspace.Usage("stig recover: works only on a store in a file; bd keeps this one in a database",
			"type stig log to see what was written from here, and bd history ID to see what became of it")
	}
	q, file, err := question(ctx, a, store, clone.Place.Journal, recoverWait)
	if err != nil {
		return m, err
	}
	defer file.Close()
	a.WarnOfStore(file)
	problems := file.Problems()
	if i := slices.IndexFunc(problems, func(p beads.Problem) bool { return p.Rule == beads.ConflictMarker }); i >= 0 {
		return m, &fault.Error{Code: fault.Refused, Path: file.Place().Name(), Line: problems[i].Line, Reason: "cannot tell what is lost: " + problems[i].Message,
			Hint: "type stig check to see what needs a decision, then retry"}
	}
	a.WarnOfJournal(q.Journal)
	findings, err := journal.Find(ctx, q)
	if err != nil {
		return m, err
	}
	kept, err := inKeptFiles(a, file)
	findings = slices.DeleteFunc(append(findings, kept...), func(f journal.Finding) bool { return !isNamed(ids, f.ID) })
	if err == nil && len(findings) == 0 {
		err = unknown(store, q.Journal, ids)
	}
	m.Lost, m.Others = split(findings)
	m.Unread, m.all, m.place = len(q.Journal.Damaged) > 0, findings, q.Place
	return m, err
}

// Recovered is what was restored, and the state of the versions of the store that stig keeps
// beside it.
type Recovered struct {
	*journal.Result
	Files  []KeptFile
	Left   []journal.Finding // may have been removed on purpose, and their issue was not named
	Unread bool              // part of the journal is unreadable
}

// RecoverRequest says what to restore.
type RecoverRequest struct {
	IDs       []string // of these issues; none means all
	Elsewhere bool     // also what exists elsewhere
	DryRun    bool
}

// takes reports whether to restore a finding. What may have been removed on purpose is restored
// only if its issue is named.
func (r RecoverRequest) takes(f journal.Finding) bool {
	return f.State == journal.Lost || f.State == journal.Elsewhere && r.Elsewhere || f.State == journal.TakenBack && len(r.IDs) > 0
}

// Recover restores what is lost. It returns an error (fault.Changed) while a git operation is
// unfinished.
func Recover(ctx context.Context, a *workspace.Run, r RecoverRequest) (*Recovered, error) {
	m, err := FindLost(ctx, a, r.IDs)
	if err != nil {
		return nil, err
	}
	if busy := git.Busy(m.place.Tree.Own); busy != "" {
		return nil, &fault.Error{Code: fault.Changed, Path: m.place.Store, Reason: "git is in the middle of " + workspace.Merging(busy),
			Hint: "type " + endOf(busy) + ", then retry"}
	}
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	done := &Recovered{Result: &journal.Result{}, Unread: m.Unread}
	var findings []journal.Finding
	for _, f := range m.all {
		switch {
		case r.takes(f):
			findings = append(findings, f)
		case !f.State.IsAnswer():
			done.Left = append(done.Left, f)
		}
	}
	if len(findings) > 0 {
		a.Edits().Tips = journal.TipsOf(findings)
		if done.Result, err = journal.Apply(ctx, store, options, findings, a.Schema); err != nil {
			return nil, err
		}
	}
	if !r.DryRun {
		done.Files, err = removeKept(a, store.Place(), func(journal.Finding) bool { return false })
	}
	return done, err
}

// endOf returns what to type to end a git operation.
func endOf(operation string) string {
	if operation == "bisect" {
		return "git bisect reset"
	}
	return "git " + operation + " --continue, or --abort to give it up"
}

// ForgetLost records that the current losses of the given issues are accepted, and removes the
// kept versions of the store that contain nothing else.
func ForgetLost(ctx context.Context, a *workspace.Run, ids []string) (lost []journal.Finding, files []KeptFile, err error) {
	m, err := FindLost(ctx, a, ids)
	if err != nil {
		return nil, nil, err
	}
	lost = m.Lost
	if err := recordForgotten(ctx, a, m.place, lost); err != nil {
		return nil, nil, err
	}
	store, err := a.Discover()
	if err == nil {
		files, err = removeKept(a, store.Place(), func(f journal.Finding) bool { return isNamed(ids, f.ID) })
	}
	return lost, files, err
}

// recordForgotten records in the journal that lost values are accepted.
func recordForgotten(ctx context.Context, a *workspace.Run, place clone.Place, lost []journal.Finding) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	actor, err := a.ActorName(ctx)
	if err != nil || len(lost) == 0 {
		return err
	}
	record := clone.Record{At: now, Actor: actor, Command: a.Running, Forgets: true}
	for _, f := range lost {
		record.Changes = append(record.Changes, clone.Change{Issue: f.ID, Kind: string(f.Kind), Name: f.Name, Was: f.Text})
	}
	tips := journal.TipsOf(lost)
	for _, id := range slices.Sorted(maps.Keys(tips)) {
		record.Versions = append(record.Versions, clone.Version{Issue: id, Tips: tips[id]})
	}
	pending, err := place.Begin(record)
	if err != nil {
		return err
	}
	return pending.End(clone.Written)
}

// Undone is the result of an undo.
type Undone struct {
	Edits []Logged       `json:"undone"` // latest first
	Lines []beads.Change `json:"-"`
}

// Undo undoes the last count edits that the actor made in this work tree on the checked-out
// branch, as one new edit. Errors: fault.Conflict.
func Undo(ctx context.Context, a *workspace.Run, count int, dryRun bool) (*Undone, error) {
	return undo(ctx, a, dryRun, func(store beads.Store, past clone.Journal, place clone.Place, actor string) ([]clone.Record, error) {
		records, err := undoable(store, past, place, actor, count)
		if err == nil && len(records) < count {
			err = workspace.Usage(fmt.Sprintf("undo: %s has %s to undo here; %d asked for", actor, visible.Counted(len(records), "edit"), count), "type stig log --actor "+actor+" to see them")
		}
		return records, err
	})
}

// undo undoes the edits that choose returns, as one new edit. choose is called under the lock
// of the store.
func undo(ctx context.Context, a *workspace.Run, dryRun bool, choose func(beads.Store, clone.Journal, clone.Place, string) ([]clone.Record, error)) (*Undone, error) {
	store, options, actor, err := a.ToWriteAs(ctx, dryRun, a.MustActor)
	if err != nil {
		return nil, err
	}
	place, err := a.Live(store.Place())
	if err != nil {
		return nil, err
	}
	u := &Undone{}
	u.Lines, err = journal.Undo(ctx, store, options, actor, a.Schema, func() (clone.Journal, []clone.Record, error) {
		past, err := place.Journal()
		if err != nil {
			return past, nil, err
		}
		records, err := choose(store, past, place, actor)
		if err != nil {
			return past, nil, err
		}
		u.Edits, a.Journal.Undoes = []Logged{}, nil
		for _, r := range records {
			a.Journal.Undoes = append(a.Journal.Undoes, r.Seq)
			u.Edits = append(u.Edits, loggedOf(r, nil))
		}
		return past, records, nil
	})
	if err == nil && len(u.Lines) == 0 && !dryRun {
		a.Warn("undo: nothing of that edit is left to undo")
		err = recordUndone(a, place, options.Now, actor)
	}
	return u, err
}

// undoable lists the edits to undo.
func undoable(store beads.Store, past clone.Journal, place clone.Place, actor string, count int) ([]clone.Record, error) {
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	records, err := journal.Undoable(past, place, file, actor, count)
	return records, errors.Join(err, file.Close())
}

// recordUndone records in the journal that edits of which nothing was left are undone, so that
// the next undo takes earlier ones.
func recordUndone(a *workspace.Run, place clone.Place, now time.Time, actor string) error {
	pending, err := place.Begin(clone.Record{At: now, Actor: actor, Command: a.Running, Undoes: a.Journal.Undoes})
	if err != nil {
		return err
	}
	return pending.End(clone.Written)
}

// inKeptFiles lists what the kept versions of the store have and the store lacks.
func inKeptFiles(a *workspace.Run, file *beads.Snapshot) (findings []journal.Finding, err error) {
	kept, err := jsonl.Leftovers(file.Place())
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		found, err := journal.InFile(file, k)
		if err != nil {
			a.Warn("%s: cannot be read: %v", k.Path, err)
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

// KeptFile is a version of the store that stig kept beside it.
type KeptFile struct {
	Path string
	Left int // number of its values that are not in the store; at 0 the file was removed
}

// removeKept removes the kept versions of the store in which every value is in the store or
// accepted as lost.
func removeKept(a *workspace.Run, store beads.Place, letGo func(journal.Finding) bool) (files []KeptFile, err error) {
	kept, err := jsonl.Leftovers(store)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	file, err := a.At(store).Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for _, k := range kept {
		left, err := journal.InFile(file, k)
		if err != nil {
			continue // it is reported again
		}
		left = slices.DeleteFunc(left, letGo)
		if len(left) == 0 {
			err = os.Remove(k.Path)
		}
		if err != nil {
			return files, err
		}
		files = append(files, KeptFile{workspace.Shortest(k.Path), len(left)})
	}
	return files, nil
}

// split separates lost values from the others.
func split(findings []journal.Finding) (lost, others []journal.Finding) {
	for _, f := range findings {
		if f.State == journal.Lost {
			lost = append(lost, f)
		} else {
			others = append(others, f)
		}
	}
	return lost, others
}

// warnOfLost warns of what NoteLost reports.
func warnOfLost(ctx context.Context, a *workspace.Run, store beads.Place) {
	if lost := NoteLost(ctx, a, store); lost != "" {
		a.Warn("%s", lost)
		a.Hint("type stig recover to see what, and stig recover --apply to put it back")
	}
}

// NoteLost reports in one line, once, that values that stig wrote disappeared since this work
// tree was last read; "" for none. If only stig wrote the file, this costs only one stat.
// Losses that cannot be determined are not reported.
func NoteLost(ctx context.Context, a *workspace.Run, store beads.Place) string {
	if store.Mode == beads.Server || store.Mode == beads.BD {
		return "" // no program overwrites it with an old copy
	}
	place, err := a.Live(store)
	if err != nil {
		return ""
	}
	seen, now := place.Seen(), clone.Stamp(store.Path)
	if now == seen.Left || now == seen.Looked || len(place.Mark()) == 0 {
		return "" // stig wrote it last, it was checked already, or stig never wrote it
	}
	lost, err := LostHere(ctx, a, store) // after taking its stamp: later changes are found next time
	if err != nil {
		return ""
	}
	fresh, err := RememberLost(place, now, lost)
	if err != nil || fresh == 0 {
		return ""
	}
	return visible.Counted(fresh, "value") + " that stig wrote disappeared from the store"
}

// RememberLost records the losses of the store with that stamp as reported, and returns how
// many are new.
func RememberLost(place clone.Place, stamp string, lost []journal.Finding) (fresh int, err error) {
	seen := place.Seen()
	next := clone.Seen{Left: seen.Left, Looked: stamp, Lost: []string{}}
	for _, f := range lost {
		name := NameOfLost(f)
		next.Lost = append(next.Lost, name)
		if !slices.Contains(seen.Told, name) {
			fresh++
		}
	}
	if next.Told = next.Lost; len(lost) == 0 {
		next.Left = stamp
	}
	return fresh, place.Remember(next)
}

// NameOfLost returns a name that identifies a loss.
func NameOfLost(f journal.Finding) string {
	return strings.Join([]string{f.ID, string(f.Kind), f.Name, f.Record.Seq}, " ")
}

// LostHere lists what was written here lately and is lost.
func LostHere(ctx context.Context, a *workspace.Run, store beads.Place) (lost []journal.Finding, err error) {
	q, file, err := question(ctx, a, a.At(store), clone.Place.Recent, asideWait)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return lately(ctx, q)
}

// LostIn is LostHere for a store whose lines and journal were read already.
func LostIn(ctx context.Context, a *workspace.Run, store beads.Place, rows journal.Rows, past clone.Journal) ([]journal.Finding, error) {
	q, err := held(ctx, a, store)
	if err != nil {
		return nil, err
	}
	q.Journal, q.Store = past, journal.InRows(rows)
	return lately(ctx, q)
}

func lately(ctx context.Context, q journal.Question) (lost []journal.Finding, err error) {
	q.Quick = true
	findings, err := journal.Find(ctx, q)
	lost, _ = split(findings)
	return lost, err
}
