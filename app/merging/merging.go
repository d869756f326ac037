// Package merging holds the services about merges of stores whose branches are in a
// database: package app merges files. Package merge decides per issue, package remote
// opens the branches; this package knows no protocol of a server.
//
//	open, err := merging.Conflicts(ctx, a)
package merging

import (
	"context"
	"errors"

	"stig/app"
	"stig/beads"
	"stig/database"
	"stig/merge"
)

// Request says which branch of Dolt to merge into that of the store.
type Request struct {
	Branch string // "" goes on with the merge that has begun
	DryRun bool
}

// Merged is what came of a merge. Its conflicts are those that somebody has to decide.
type Merged struct {
	merge.Result
	database.MergeOutcome
	Store  string // its URL
	Branch string
	Before string // the text of this branch; Result has the one after the merge
}

// Diff is what changes in the text.
func (m *Merged) Diff() string {
	return app.HostFile{Path: m.Store}.Diff([]byte(m.Before), []byte(m.Text))
}

// Merge merges a branch of Dolt as a file is merged. Conflicts stay in the database until
// Resolve has the answers.
func Merge(ctx context.Context, a *app.App, r Request) (*Merged, error) {
	m, _, err := united(ctx, a, r, "", nil)
	if errors.Is(err, database.ErrNoMerge) {
		return nil, app.Usage(m.Store+": no merge has begun", "type stig merge --database BRANCH")
	}
	return m, err
}

// Conflicts lists what a merge left open in the store.
func Conflicts(ctx context.Context, a *app.App) ([]merge.Conflict, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	if _, ok := a.Kept(store.Place()).(merger); !ok {
		return a.Conflicts(ctx)
	}
	m, _, err := united(ctx, a, Request{DryRun: true}, "", nil)
	if errors.Is(err, database.ErrNoMerge) {
		return []merge.Conflict{}, nil
	}
	if err != nil {
		return nil, err
	}
	return m.Conflicts, nil
}

// Resolve answers questions about one issue. A database keeps no answers: all questions
// about the issue are answered at once.
func Resolve(ctx context.Context, a *app.App, r app.ResolveRequest) (*app.Resolved, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	if _, ok := a.Kept(store.Place()).(merger); !ok {
		return a.Resolve(ctx, r)
	}
	id, unknown := app.FullID(store, r.ID)
	m, done, err := united(ctx, a, Request{DryRun: r.DryRun}, id, r.Answers)
	if errors.Is(err, errAsked) {
		return nil, app.Usage(id+": "+err.Error(), app.AnswerHint(merge.Conflict{ID: id, Questions: done.Open}))
	}
	if errors.Is(err, database.ErrNoMerge) {
		err = merge.ErrNoConflict
	}
	if err != nil {
		return nil, app.Unresolved(err, id, unknown)
	}
	return &app.Resolved{Resolution: done, ID: id, Store: m.Store, Left: m.Conflicts, Diff: m.Diff()}, nil
}

// united merges in the database, with answers about the issue of an id.
func united(ctx context.Context, a *app.App, r Request, id string, answers merge.Answers) (*Merged, merge.Resolution, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, merge.Resolution{}, err
	}
	place := store.Place()
	kept, ok := a.Kept(place).(merger)
	switch {
	case !ok && place.Mode == beads.Server:
		_, err := store.Snapshot() // it cannot be opened
		return nil, merge.Resolution{}, err
	case !ok:
		return nil, merge.Resolution{}, app.Usage(place.Path+": is a file, and --database merges on a server", "type git merge BRANCH, which merges the file too")
	}
	who, err := a.ActorName(ctx)
	if err != nil {
		return nil, merge.Resolution{}, err
	}
	u := &union{id: id, answers: answers, births: a.Births(), merged: Merged{Store: place.URL, Branch: r.Branch}}
	u.merged.MergeOutcome, err = kept.Merge(ctx, database.MergeOptions{Branch: r.Branch, Actor: who, DryRun: r.DryRun}, u.unite)
	return &u.merged, u.done, err
}

// merger is a store whose branches are in a database.
type merger interface {
	Merge(context.Context, database.MergeOptions, func(database.Merging) (database.United, error)) (database.MergeOutcome, error)
}

// union is a merge in a database.
type union struct {
	id      string // of the issue that answers are about; "" for none
	answers merge.Answers
	births  merge.Births
	merged  Merged
	done    merge.Resolution // of the answers
}

// errAsked says that some questions about an issue were not answered.
var errAsked = errors.New("not all questions are answered")

// unite makes one store of three; it starts over each time.
func (u *union) unite(in database.Merging) (out database.United, err error) {
	m := &u.merged
	m.Branch, m.Result = in.Branch, merge.Options{Births: u.births}.Stores(in.Base, in.Ours, in.Theirs)
	if u.id != "" {
		if !in.IsOpen(u.id) {
			return out, merge.ErrNoConflict
		}
		if u.done, err = merge.Resolve(m.Text, merge.Origin{}, u.id, u.answers); err != nil {
			return out, err
		}
		if len(u.done.Open) > 0 {
			return out, errAsked
		}
		m.Text = m.Text[:u.done.Start] + u.done.Text + m.Text[u.done.End:]
	}
	m.Conflicts, m.Before = nil, in.Ours
	for _, c := range merge.Open(m.Text, merge.Origin{}) {
		out.Asked = append(out.Asked, c.ID)
		if c.Line = 0; in.IsOpen(c.ID) { // it has no place in a file
			m.Conflicts = append(m.Conflicts, c)
		}
	}
	out.Text = merge.Settled(m.Text)
	return out, nil
}
