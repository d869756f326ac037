package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"stig/beads"
	"stig/diff"
	"stig/fault"
	"stig/git"
	"stig/guard"
	"stig/host"
	"stig/jsonl"
	"stig/live"
	"stig/loss"
	"stig/process"
	"stig/recovery"
)

// livePlace is where the live state of the store of this run is.
func (a *App) livePlace() (live.Place, error) {
	store, err := a.Discover()
	if err != nil {
		return live.Place{}, err
	}
	return a.Live(store.Place())
}

// warnOfJournal names what of the journal cannot be read: of many places the first, since
// a damaged disk leaves thousands.
func (a *App) warnOfJournal(j live.Journal) {
	const most = 3
	for _, place := range j.Damaged[:min(most, len(j.Damaged))] {
		a.Warn("%s: cannot be read and was passed over", place)
	}
	if more := len(j.Damaged) - most; more > 0 {
		a.Warn("%d more places in the journal cannot be read", more)
	}
}

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
func unknown(store beads.Store, j live.Journal, ids []string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(j.Records, func(r live.Record) bool {
			return slices.ContainsFunc(r.Changes, func(c live.Change) bool { return isNamed([]string{id}, c.Issue) })
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

// question gathers what recovery needs of the store and of the clone. The store and its
// journal are read while nobody writes them: what was written between would seem to be
// lost, and what was taken away between to have been lost before. The caller closes the file.
func (a *App) question(ctx context.Context, store beads.Store, read func(live.Place) (live.Journal, error), wait time.Duration) (q recovery.Question, err error) {
	if q.Place, err = a.Live(store.Place()); err != nil {
		return q, err
	}
	repo, path, err := a.Git(store.Place())
	if err != nil {
		return q, err
	}
	clone := recovery.Clone{Path: path, Others: func() []beads.Store { return a.storesBeside(ctx, store.Place()) }}
	if q.Place.Shared() && process.Finder("", a.Getenv)("git") {
		clone.Git = repo
	}
	q.Held = clone
	resume, err := jsonl.Pause(ctx, store.Place(), wait)
	if err != nil {
		return q, err
	}
	if q.Journal, err = read(q.Place); err == nil {
		q.File, err = store.Snapshot()
	}
	return q, errors.Join(err, resume())
}

// FindLost lists what is missing of those issues, of all where none is named: what
// is lost, and what is somewhere else, was edited since, or went with its branch.
func (a *App) FindLost(ctx context.Context, ids []string) (lost, others []recovery.Finding, err error) {
	findings, _, err := a.missing(ctx, ids)
	lost, others = split(findings)
	return lost, others, err
}

// missing lists what is missing of those issues, and where the journal is that
// says so. It refuses ids that are unknown.
func (a *App) missing(ctx context.Context, ids []string) (findings []recovery.Finding, place live.Place, err error) {
	store, err := a.discoverToRead()
	if err != nil {
		return nil, place, err
	}
	if err := inFile(store.Place(), "stig recover"); err != nil {
		return nil, place, err
	}
	if store.Place().Mode == beads.BD {
		return nil, place, Usage("stig recover: is for a store in a file, and bd keeps this one in a database",
			"type stig log to see what was written from here, and bd history ID to see what became of it")
	}
	q, err := a.question(ctx, store, live.Place.Journal, recoverWait)
	if err != nil {
		return nil, place, err
	}
	file := q.File
	defer file.Close()
	a.warnOfStore(file)
	problems := file.Problems()
	if i := slices.IndexFunc(problems, func(p beads.Problem) bool { return p.Rule == beads.ConflictMarker }); i >= 0 {
		return nil, place, &fault.Error{Code: fault.Refused, Path: file.Place().Name(), Line: problems[i].Line, Reason: "what is lost is not known: " + problems[i].Message,
			Hint: "type stig check to see what is to be decided, then run the command again"}
	}
	a.warnOfJournal(q.Journal)
	all, err := recovery.Find(ctx, q)
	if err != nil {
		return nil, place, err
	}
	kept, err := a.inKeptFiles(file)
	for _, f := range append(all, kept...) {
		if isNamed(ids, f.ID) {
			findings = append(findings, f)
		}
	}
	if err == nil && len(findings) == 0 {
		err = unknown(store, q.Journal, ids)
	}
	return findings, q.Place, err
}

// Recovered is what was put back, and what became of versions of the store that
// stig keeps beside it.
type Recovered struct {
	*recovery.Result
	Files []KeptFile
}

// Recover puts back what is lost of those issues, of all where none is named.
// Errors: fault.Changed while git has not finished an operation.
func (a *App) Recover(ctx context.Context, ids []string, dryRun bool) (*Recovered, error) {
	findings, place, err := a.missing(ctx, ids)
	if err != nil {
		return nil, err
	}
	if busy := git.Busy(place.Tree.Own); busy != "" {
		return nil, &fault.Error{Code: fault.Changed, Path: place.Store, Reason: "git is in the middle of " + merging(busy),
			Hint: "type " + endOf(busy) + ", then run the command again"}
	}
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return nil, err
	}
	r := &Recovered{Result: &recovery.Result{}}
	if lost, _ := split(findings); len(lost) > 0 {
		if r.Result, err = recovery.Apply(ctx, store, options, lost, a.Schema); err != nil {
			return nil, err
		}
	}
	if !dryRun {
		r.Files, err = a.removeKept(store.Place(), func(recovery.Finding) bool { return false })
	}
	return r, err
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
func (a *App) ForgetLost(ctx context.Context, ids []string) (lost []recovery.Finding, files []KeptFile, err error) {
	findings, place, err := a.missing(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	lost, _ = split(findings)
	if err := a.recordForgotten(ctx, place, lost); err != nil {
		return nil, nil, err
	}
	store, err := a.Discover()
	if err == nil {
		files, err = a.removeKept(store.Place(), func(f recovery.Finding) bool { return isNamed(ids, f.ID) })
	}
	return lost, files, err
}

// recordForgotten writes to the journal that values are let go.
func (a *App) recordForgotten(ctx context.Context, place live.Place, lost []recovery.Finding) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	actor, err := a.ActorName(ctx)
	if err != nil || len(lost) == 0 {
		return err
	}
	record := live.Record{At: now, Actor: actor, Command: a.Running, Forgets: true}
	for _, f := range lost {
		record.Changes = append(record.Changes, live.Change{Issue: f.ID, Kind: string(f.Kind), Name: f.Name, Was: f.Text})
	}
	pending, err := place.Begin(record)
	if err != nil {
		return err
	}
	return pending.End(live.Written)
}

// Undone is what came of taking edits back.
type Undone struct {
	Edits []Logged // the latest first
	Lines []beads.Change
}

// Undo takes back the last so many edits that the actor made in this work tree on
// the branch that is checked out, as one new edit. Errors: fault.Conflict.
func (a *App) Undo(ctx context.Context, count int, dryRun bool) (*Undone, error) {
	store, options, actor, err := a.toWriteAs(ctx, dryRun, a.MustActor)
	if err != nil {
		return nil, err
	}
	place, err := a.Live(store.Place())
	if err != nil {
		return nil, err
	}
	u := &Undone{}
	u.Lines, err = recovery.Undo(ctx, store, options, actor, a.Schema, func() (live.Journal, []live.Record, error) {
		journal, err := place.Journal()
		if err != nil {
			return journal, nil, err
		}
		records := recovery.Undoable(journal, place, actor, count)
		if len(records) < count {
			return journal, nil, Usage(fmt.Sprintf("undo: %s has %s to undo here; %d asked for", actor, Counted(len(records), "edit"), count), "type stig log --actor "+actor+" to see them")
		}
		u.Edits, a.journal.undoes = []Logged{}, nil
		for _, r := range records {
			a.journal.undoes = append(a.journal.undoes, r.Seq)
			u.Edits = append(u.Edits, loggedOf(r, nil))
		}
		return journal, records, nil
	})
	if err == nil && len(u.Lines) == 0 && !dryRun {
		a.Warn("undo: nothing was left of that edit to take back")
		err = a.recordUndone(place, options.Now, actor)
	}
	return u, err
}

// recordUndone writes to the journal that edits are taken back of which nothing was left:
// the next undo is about the ones before.
func (a *App) recordUndone(place live.Place, now time.Time, actor string) error {
	pending, err := place.Begin(live.Record{At: now, Actor: actor, Command: a.Running, Undoes: a.journal.undoes})
	if err != nil {
		return err
	}
	return pending.End(live.Written)
}

// inKeptFiles lists what versions of the store that stig keeps beside it hold,
// and the store lacks.
func (a *App) inKeptFiles(file *beads.Snapshot) (findings []recovery.Finding, err error) {
	kept, err := jsonl.Leftovers(file.Place())
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		found, err := recovery.InFile(file, k)
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
func (a *App) removeKept(store beads.Place, letGo func(recovery.Finding) bool) (files []KeptFile, err error) {
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
		left, err := recovery.InFile(file, k)
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
		files = append(files, KeptFile{Shortest(k.Path), len(left)})
	}
	return files, nil
}

// split parts what is lost from what is somewhere else.
func split(findings []recovery.Finding) (lost, others []recovery.Finding) {
	for _, f := range findings {
		if f.State == recovery.Lost {
			lost = append(lost, f)
		} else {
			others = append(others, f)
		}
	}
	return lost, others
}

// warnOfLost warns of what noteLost finds.
func (a *App) warnOfLost(ctx context.Context, store beads.Place) {
	if lost := a.noteLost(ctx, store); lost != "" {
		a.Warn("%s", lost)
		a.Hint("type stig recover to see what, and stig recover --apply to put it back")
	}
}

// noteLost says once, in one line, when values that stig wrote went since this
// work tree was last looked at. It costs one look at the file where nothing but
// stig wrote it. What cannot be found out is no hindrance.
func (a *App) noteLost(ctx context.Context, store beads.Place) string {
	if store.Mode == beads.Server || store.Mode == beads.BD {
		return "" // no program writes an old copy over it
	}
	place, err := a.Live(store)
	if err != nil {
		return ""
	}
	seen, now := place.Seen(), live.Stamp(store.Path)
	if now == seen.Left || now == seen.Looked || len(place.Mark()) == 0 {
		return "" // stig left it so, it was looked at, or stig never wrote it
	}
	lost, err := a.lostHere(ctx, store) // after its stamp: what changes between is looked at next time
	if err != nil {
		return ""
	}
	fresh, err := rememberLost(place, now, lost)
	if err != nil || fresh == 0 {
		return ""
	}
	return Counted(fresh, "value") + " that stig wrote went from the store"
}

// rememberLost records what is lost of the store with that stamp as reported, and
// counts what was not reported before.
func rememberLost(place live.Place, stamp string, lost []recovery.Finding) (fresh int, err error) {
	seen := place.Seen()
	next := live.Seen{Left: seen.Left, Looked: stamp, Lost: []string{}}
	for _, f := range lost {
		name := strings.Join([]string{f.ID, string(f.Kind), f.Name, f.Record.Seq}, " ")
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

// lostHere lists what was written here lately and is lost.
func (a *App) lostHere(ctx context.Context, store beads.Place) (lost []recovery.Finding, err error) {
	q, err := a.question(ctx, a.At(store), live.Place.Recent, asideWait)
	if err != nil {
		return nil, err
	}
	defer q.File.Close()
	q.Quick = true
	findings, err := recovery.Find(ctx, q)
	lost, _ = split(findings)
	return lost, err
}

// postToolUse says what another program than stig took from the store, or closed in
// it, since the session last looked.
func (a *App) postToolUse(ctx context.Context, h host.Host, e host.Event) []byte {
	text, _ := a.lostSince(ctx, e.Session) // when the session started, the error was said
	if text == "" {
		return nil
	}
	return h.After(e.Name, Visible(text))
}

// lostSince looks at the store for a session, and says what it lost since the session
// last looked; "" at the first time. The error says that the session cannot remember
// how the store stands; whatever else goes wrong, it looks again after the next tool.
func (a *App) lostSince(ctx context.Context, session string) (text string, err error) {
	store, err := jsonl.Discover(a.Where())
	if session == "" {
		return "", nil
	}
	if err != nil {
		return loss.Vanished(cmp.Or(a.Dir, "."), session), nil
	}
	if store.Mode == beads.Server || store.Mode == beads.BD {
		return "", nil // a file beside it is a copy, and whoever keeps the database keeps its history
	}
	l, err := loss.NewLook(store, session)
	if err != nil || l.Unchanged() || git.Busy(l.Place.Tree.Own) != "" {
		return "", nil
	}
	end, err := l.Turn(ctx)
	if err != nil {
		return "", nil
	}
	defer end()
	if l.Unchanged() || l.Read(ctx) != nil {
		return "", nil
	}
	found, err := l.Find(func(commit string) ([]byte, error) { return a.textAt(ctx, store, commit) },
		func(commit string) ([]byte, []byte, error) { return a.mergedAt(ctx, store, commit) },
		func(r *beads.Record, p diff.Part) (*beads.Record, error) { return recovery.Put(r, p, a.Schema) })
	now, err2 := a.Clock()
	if err != nil || err2 != nil {
		return "", nil
	}
	a.recordGone(ctx, l.Place, found, now)
	if err := l.Keep(now); err != nil {
		return "", err
	}
	found.Gone = a.stillLost(ctx, l, found.Gone)
	found.Closed = slices.DeleteFunc(found.Closed, func(c loss.Closed) bool {
		return a.gated(ctx, store, guard.Attempt{IDs: []string{c.ID}, Why: c.Reason})[0].proven
	})
	return found.Report(store), nil
}

// textAt is the text of the store in a commit; "" where it has none.
func (a *App) textAt(ctx context.Context, store beads.Place, commit string) ([]byte, error) {
	if commit == "" {
		return nil, nil
	}
	repo, path, err := a.Git(store)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = repo.FileAt(ctx, commit, path, &text)
	if fault.Is(err, fault.NoRevision) {
		return nil, nil
	}
	return text.Bytes(), err
}

// mergedAt is the text of the store in the first parent of a merge, and in the commit
// from which its sides come; "" of a commit that is no merge.
func (a *App) mergedAt(ctx context.Context, store beads.Place, commit string) (ours, base []byte, err error) {
	repo, _, err := a.Git(store)
	if err != nil {
		return nil, nil, err
	}
	result, err := repo.Run(ctx, "merge-base", commit+"^1", commit+"^2")
	start := strings.TrimSpace(string(result.Stdout))
	if err != nil || result.Exit != 0 || start == "" {
		return nil, nil, err
	}
	if base, err = a.textAt(ctx, store, start); err != nil {
		return nil, nil, err
	}
	ours, err = a.textAt(ctx, store, commit+"^1")
	return ours, base, err
}

// recordGone puts into the journal what stood in the store and the journal lacks, so
// that stig recover can put it back. What cannot be recorded is not reported.
func (a *App) recordGone(ctx context.Context, place live.Place, found loss.Found, now time.Time) {
	r := live.Record{At: now, Command: "lost", Seen: true}
	for _, g := range found.Gone {
		if !g.Journalled {
			r.Changes = append(r.Changes, recordedEdit(g.ID, diff.Edit{Kind: g.Kind, Name: g.Name, Was: g.Now, Now: g.Was}))
		}
	}
	if len(r.Changes) == 0 {
		return
	}
	r.Actor, _ = a.ActorName(ctx) // what is lost is recorded all the same
	if pending, err := place.Begin(r); err == nil {
		_ = pending.End(live.Written) // without it stig recover --all alone lists it
	}
}

// stillLost lists what of it stig recover puts back: no branch, stash or other work
// tree holds it.
func (a *App) stillLost(ctx context.Context, l *loss.Look, gone []loss.Gone) (lost []loss.Gone) {
	if len(gone) == 0 {
		return nil
	}
	all, err := a.lostHere(ctx, l.Store)
	if err != nil {
		return nil
	}
	type part struct{ id, kind, name string }
	of := map[part]loss.Gone{}
	for _, g := range gone {
		of[part{g.ID, string(g.Kind), g.Name}] = g
	}
	for _, f := range all {
		if g, fresh := of[part{f.ID, string(f.Kind), f.Name}]; fresh {
			g.Hidden = f.Hidden
			lost = append(lost, g)
		}
	}
	if len(lost) > 0 {
		_, _ = rememberLost(l.Place, l.Stamp(), all) // else stig orient says it again
	}
	return lost
}
