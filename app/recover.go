package app

import (
	"context"
	"os"
	"slices"
	"strings"

	"stig/beads"
	"stig/jsonl"
	"stig/live"
	"stig/process"
	"stig/recovery"
)

// LivePlace is where the live state of the store of this run is.
func (a *App) LivePlace() (live.Place, error) {
	store, err := a.Discover()
	if err != nil {
		return live.Place{}, err
	}
	return live.At(store.Place().Path)
}

// WarnOfJournal names what of the journal cannot be read.
func (a *App) WarnOfJournal(j live.Journal) {
	for _, place := range j.Damaged {
		a.Warn("%s: cannot be read and was passed over", place)
	}
}

// IsNamed reports whether an issue is one of those ids; none stand for all.
func IsNamed(ids []string, issue string) bool {
	for _, id := range ids {
		if id == issue || strings.HasSuffix(issue, "-"+id) {
			return true
		}
	}
	return len(ids) == 0
}

// question gathers what recovery needs of the store and of the clone.
func (a *App) question(ctx context.Context, file *beads.Snapshot) (recovery.Question, error) {
	store := file.Place()
	place, err := live.At(store.Path)
	if err != nil {
		return recovery.Question{}, err
	}
	git, path, err := a.Git(store)
	if err != nil {
		return recovery.Question{}, err
	}
	clone := recovery.Clone{Path: path, Others: func() []beads.Store { return a.storesBeside(ctx, store) }}
	if place.Shared() && process.Finder("", a.Getenv)("git") {
		clone.Git = git
	}
	return recovery.Question{Place: place, File: file, Held: clone}, nil
}

// FindLost lists what is missing of those issues, of all where none is named.
func (a *App) FindLost(ctx context.Context, ids []string) (findings []recovery.Finding, place live.Place, err error) {
	file, err := a.Open()
	if err != nil {
		return nil, place, err
	}
	defer file.Close()
	q, err := a.question(ctx, file)
	if err != nil {
		return nil, place, err
	}
	if q.Journal, err = q.Place.Journal(); err != nil {
		return nil, place, err
	}
	a.WarnOfJournal(q.Journal)
	all, err := recovery.Find(ctx, q)
	if err != nil {
		return nil, place, err
	}
	kept, err := a.inKeptFiles(file)
	for _, f := range append(all, kept...) {
		if IsNamed(ids, f.ID) {
			findings = append(findings, f)
		}
	}
	return findings, q.Place, err
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

// RemoveKept removes the versions of the store beside it in which everything
// that the store does not hold is let go.
func (a *App) RemoveKept(store beads.Place, letGo func(recovery.Finding) bool) error {
	kept, err := jsonl.Leftovers(store)
	if err != nil || len(kept) == 0 {
		return err
	}
	file, err := a.At(store).Snapshot()
	if err != nil {
		return err
	}
	defer file.Close()
	for _, k := range kept {
		left, err := recovery.InFile(file, k)
		if err != nil {
			continue // it is named again
		}
		if left = slices.DeleteFunc(left, letGo); len(left) > 0 {
			a.Note("%s: kept: %s not in the store", Shortest(k.Path), Counted(len(left), "value"))
			a.Hint("type stig recover --all to see what, and stig recover --forget to remove the file")
			continue
		}
		if err := os.Remove(k.Path); err != nil {
			return err
		}
		a.Note("removed %s", Shortest(k.Path))
	}
	return nil
}

// Split parts what is lost from what is somewhere else.
func Split(findings []recovery.Finding) (lost, others []recovery.Finding) {
	for _, f := range findings {
		if f.State == recovery.Lost {
			lost = append(lost, f)
		} else {
			others = append(others, f)
		}
	}
	return lost, others
}

// WarnOfLost warns of what noteLost finds.
func (a *App) WarnOfLost(ctx context.Context, store beads.Place) {
	if lost := a.noteLost(ctx, store); lost != "" {
		a.Warn("%s", lost)
		a.Hint("type stig recover to see what, and stig recover --apply to put it back")
	}
}

// noteLost says once, in one line, when values that stig wrote went since this
// work tree was last looked at. It costs one look at the file where nothing but
// stig wrote it. What cannot be found out is no hindrance.
func (a *App) noteLost(ctx context.Context, store beads.Place) string {
	place, err := live.At(store.Path)
	if err != nil {
		return ""
	}
	seen, now := place.Seen(), stamp(store.Path)
	if now == seen.Left || now == seen.Looked {
		return ""
	}
	journal, err := place.Recent()
	if err != nil || len(journal.Records) == 0 {
		return ""
	}
	lost, err := a.lostHere(ctx, store, journal) // after its stamp: what changes between is looked at next time
	if err != nil {
		return ""
	}
	next := live.Seen{Left: seen.Left, Looked: now, Told: seen.Told}
	fresh := 0
	next.Lost = []string{}
	for _, f := range lost {
		name := strings.Join([]string{f.ID, string(f.Kind), f.Name, f.Record.Seq}, " ")
		next.Lost = append(next.Lost, name)
		if !slices.Contains(seen.Told, name) {
			fresh++
		}
	}
	if next.Told = next.Lost; len(lost) == 0 {
		next.Left = now
	}
	if err := place.Remember(next); err != nil || fresh == 0 {
		return ""
	}
	return Counted(fresh, "value") + " that stig wrote went from the store"
}

// lostHere lists what was written here and is lost.
func (a *App) lostHere(ctx context.Context, store beads.Place, journal live.Journal) (lost []recovery.Finding, err error) {
	file, err := a.At(store).Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	q, err := a.question(ctx, file)
	if err != nil {
		return nil, err
	}
	q.Quick, q.Journal = true, journal
	findings, err := recovery.Find(ctx, q)
	lost, _ = Split(findings)
	return lost, err
}
