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

// isNamed reports whether an issue is one of those ids; none stand for all.
func isNamed(ids []string, issue string) bool {
	for _, id := range ids {
		if id == issue || strings.HasSuffix(issue, "-"+id) {
			return true
		}
	}
	return len(ids) == 0
}

// unknown refuses (fault.NotFound) ids that neither the store has nor the journal names: what
// the store lost, the journal alone knows.
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
	recoverWait = 30 * time.Second // how long those wait for writers who asked what is lost
	asideWait   = 2 * time.Second  // and those whom it is told beside something else
)

// question gathers what journal.Find needs of the store and of the clone. The store and its
// journal are read while nobody writes them: what was written between would seem to be
// lost, and what was taken away between to have been lost before. The caller closes the file.
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

// held begins a question with what git and other work trees hold.
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

// Missing is what the store lacks of what stig wrote, as far as the journal can be read.
type Missing struct {
	Lost, Others []journal.Finding // Others is somewhere else, was edited since, or removed
	Unread       bool              // some of the journal cannot be read
	all          []journal.Finding // in the order of the journal
	place        clone.Place       // of the journal
}

// FindLost lists what is missing of those issues, of all where none is named. It refuses ids
// that are unknown.
func FindLost(ctx context.Context, a *workspace.Run, ids []string) (m Missing, err error) {
	store, err := a.DiscoverToRead()
	if err != nil {
		return m, err
	}
	if err := inFile(store.Place(), "stig recover"); err != nil {
		return m, err
	}
	if store.Place().Mode == beads.BD {
		return m, workspace.Usage("stig recover: is for a store in a file, and bd keeps this one in a database",
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
		return m, &fault.Error{Code: fault.Refused, Path: file.Place().Name(), Line: problems[i].Line, Reason: "what is lost is not known: " + problems[i].Message,
			Hint: "type stig check to see what is to be decided, then run the command again"}
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

// Recovered is what was put back, and what became of versions of the store that
// stig keeps beside it.
type Recovered struct {
	*journal.Result
	Files  []KeptFile
	Left   []journal.Finding // what somebody may have taken back, and whose issue was not named
	Unread bool              // some of the journal cannot be read
}

// RecoverRequest says what to put back.
type RecoverRequest struct {
	IDs       []string // of these issues; none stand for all
	Elsewhere bool     // also what is elsewhere
	DryRun    bool
}

// takes reports whether a finding is to be put back: what somebody may have taken back only
// where its issue is named.
func (r RecoverRequest) takes(f journal.Finding) bool {
	return f.State == journal.Lost || f.State == journal.Elsewhere && r.Elsewhere || f.State == journal.TakenBack && len(r.IDs) > 0
}

// Recover puts back what is lost. Errors: fault.Changed while git has not finished an
// operation.
func Recover(ctx context.Context, a *workspace.Run, r RecoverRequest) (*Recovered, error) {
	m, err := FindLost(ctx, a, r.IDs)
	if err != nil {
		return nil, err
	}
	if busy := git.Busy(m.place.Tree.Own); busy != "" {
		return nil, &fault.Error{Code: fault.Changed, Path: m.place.Store, Reason: "git is in the middle of " + workspace.Merging(busy),
			Hint: "type " + endOf(busy) + ", then run the command again"}
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

// endOf is what to type to end an operation of git.
func endOf(operation string) string {
	if operation == "bisect" {
		return "git bisect reset"
	}
	return "git " + operation + " --continue, or --abort to give it up"
}

// ForgetLost records that what is lost now, of those issues, may stay so, and
// removes the versions of the store beside it that hold nothing else.
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

// recordForgotten writes to the journal that values are let go.
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
	Edits []Logged       `json:"undone"` // the latest first
	Lines []beads.Change `json:"-"`
}

// Undo takes back the last so many edits that the actor made in this work tree on
// the branch that is checked out, as one new edit. Errors: fault.Conflict.
func Undo(ctx context.Context, a *workspace.Run, count int, dryRun bool) (*Undone, error) {
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
		records, err := undoable(store, past, place, actor, count)
		if err != nil {
			return past, nil, err
		}
		if len(records) < count {
			return past, nil, workspace.Usage(fmt.Sprintf("undo: %s has %s to undo here; %d asked for", actor, visible.Counted(len(records), "edit"), count), "type stig log --actor "+actor+" to see them")
		}
		u.Edits, a.Journal.Undoes = []Logged{}, nil
		for _, r := range records {
			a.Journal.Undoes = append(a.Journal.Undoes, r.Seq)
			u.Edits = append(u.Edits, loggedOf(r, nil))
		}
		return past, records, nil
	})
	if err == nil && len(u.Lines) == 0 && !dryRun {
		a.Warn("undo: nothing was left of that edit to take back")
		err = recordUndone(a, place, options.Now, actor)
	}
	return u, err
}

// undoable lists the edits to take back.
func undoable(store beads.Store, past clone.Journal, place clone.Place, actor string, count int) ([]clone.Record, error) {
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	records, err := journal.Undoable(past, place, file, actor, count)
	return records, errors.Join(err, file.Close())
}

// recordUndone writes to the journal that edits are taken back of which nothing was left:
// the next undo is about the ones before.
func recordUndone(a *workspace.Run, place clone.Place, now time.Time, actor string) error {
	pending, err := place.Begin(clone.Record{At: now, Actor: actor, Command: a.Running, Undoes: a.Journal.Undoes})
	if err != nil {
		return err
	}
	return pending.End(clone.Written)
}

// inKeptFiles lists what versions of the store that stig keeps beside it hold,
// and the store lacks.
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
	Left int // values of it that are not in the store; of none the file was removed
}

// removeKept removes the versions of the store beside it in which everything
// that the store does not hold is let go.
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
			continue // it is named again
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

// split separates lost values from those that are elsewhere.
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

// warnOfLost warns of what NoteLost finds.
func warnOfLost(ctx context.Context, a *workspace.Run, store beads.Place) {
	if lost := NoteLost(ctx, a, store); lost != "" {
		a.Warn("%s", lost)
		a.Hint("type stig recover to see what, and stig recover --apply to put it back")
	}
}

// NoteLost says once, in one line, when values that stig wrote went since this
// work tree was last read. If only stig wrote the file this costs one look at it. What cannot be
// found out is not reported.
func NoteLost(ctx context.Context, a *workspace.Run, store beads.Place) string {
	if store.Mode == beads.Server || store.Mode == beads.BD {
		return "" // no program writes an old copy over it
	}
	place, err := a.Live(store)
	if err != nil {
		return ""
	}
	seen, now := place.Seen(), clone.Stamp(store.Path)
	if now == seen.Left || now == seen.Looked || len(place.Mark()) == 0 {
		return "" // stig left it so, it was looked at, or stig never wrote it
	}
	lost, err := LostHere(ctx, a, store) // after its stamp: what changes between is looked at next time
	if err != nil {
		return ""
	}
	fresh, err := RememberLost(place, now, lost)
	if err != nil || fresh == 0 {
		return ""
	}
	return visible.Counted(fresh, "value") + " that stig wrote went from the store"
}

// RememberLost records what is lost of the store with that stamp as reported, and
// counts what was not reported before.
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

// NameOfLost tells what is lost from what else is.
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

// LostIn is LostHere of a store whose lines and journal were read.
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
