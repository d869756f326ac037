package main

import (
	"context"
	"fmt"
	"time"

	"stig/beads"
	"stig/checkpoint"
	"stig/diff"
	"stig/live"
	"stig/process"
)

// untoldFor is how long after an issue was made without that being printed the
// same command names it instead of making a second.
const untoldFor = time.Minute

// untold finds the issue that the same command line made a moment ago without
// its id being printed: the disk was full, or the process was ended.
func (a *core) untold(store beads.Store, d checkpoint.Draft, now time.Time) (issue string, ok bool) {
	place, err := live.At(store.Path)
	if err != nil {
		return "", false
	}
	journal, err := place.Recent()
	if err != nil {
		return "", false
	}
	for _, r := range journal.Records {
		recent := r.At.Add(untoldFor).After(now) && !r.At.After(now)
		if r.Result == live.Written && !r.Told && recent && r.Command == a.running && r.Worktree == place.Worktree && r.Actor == d.By && len(r.Changes) == 1 &&
			beads.IsGone(r.Process) && madeFrom(r.Changes[0], d) && holdsIssue(store, r.Changes[0].Issue) {
			return r.Changes[0].Issue, true
		}
	}
	return "", false
}

// madeFrom reports whether a new line says what a draft says.
func madeFrom(c live.Change, d checkpoint.Draft) bool {
	r, err := beads.ParseRecord([]byte(c.Now))
	if c.Kind != string(diff.Issue) || err != nil {
		return false
	}
	parent := beads.ParentID(c.Issue)
	if (d.Parent == "") != (parent == "") || d.Parent != "" && !isNamed([]string{d.Parent}, parent) {
		return false
	}
	return r.Text(beads.Title) == d.Title && r.Text(beads.Description) == d.Description &&
		r.Text(beads.AcceptanceCriteria) == d.Acceptance && r.Text(beads.Assignee) == d.Assignee && r.Text(beads.IssueType) == d.Type
}

func holdsIssue(store beads.Store, id string) bool {
	file, err := beads.Read(store)
	if err != nil {
		return false
	}
	defer file.Close()
	_, there := file.Index(id)
	return there
}

// printEarlier prints the issue that untold found.
func (a *app) printEarlier(id, title string) (err error) {
	a.note("%s: was created a moment ago by the same command, which could not print it", id)
	switch {
	case a.json:
		err = a.printEdit("created", map[string]any{"id": id, "title": title, "warnings": []string{}, "earlier": true}, nil, false)
	case a.quiet:
		err = a.printf("%s\n", id)
	default:
		err = a.printf("%s: created\nnext: stig orient %s\n", id, id)
	}
	if err != nil {
		return &unprintedError{id: id, err: err}
	}
	return nil
}

// childNumbers gives numbers of children that no other work tree and no local
// branch of the clone has given: two of them may add to one epic before they
// are merged.
func (a *core) childNumbers(ctx context.Context, store beads.Store, dryRun bool) func(parent string, greatest int) (int, error) {
	return func(parent string, greatest int) (int, error) {
		place, err := live.At(store.Path)
		if err != nil {
			return greatest + 1, nil // Edit says what is wrong with the store
		}
		n, err := place.NextChild(parent, greatest, a.childSources(ctx, store, place), dryRun)
		if err != nil {
			a.warn("%s: other work trees may give the same id: %v", fmt.Sprintf("%s.%d", parent, n), err)
		}
		return max(n, greatest+1), nil
	}
}

// childSources are the other places in the clone where children stand.
func (a *core) childSources(ctx context.Context, store beads.Store, place live.Place) (sources []live.Source) {
	if !place.Shared() || !process.Finder("", a.getenv)("git") {
		return nil
	}
	for _, other := range a.storesBeside(ctx, store) {
		sources = append(sources, live.Source{Name: "file " + other.Path, Version: stamp(other.Path), Numbers: func() (map[string]int, error) {
			file, err := beads.Read(other)
			if err != nil {
				return nil, nil // what cannot be read gives no numbers
			}
			defer file.Close()
			return file.ChildNumbers(), nil
		}})
	}
	git, path, err := a.git(store)
	if err != nil {
		return sources
	}
	tips, err := git.Tips(ctx, path, nil, "refs/heads")
	if err != nil {
		return sources
	}
	for _, tip := range tips {
		if tip.Blob == "" {
			continue
		}
		sources = append(sources, live.Source{Name: "blob " + tip.Blob, Version: tip.Blob, Numbers: func() (numbers map[string]int, err error) {
			err = git.Blobs(ctx, []string{tip.Blob}, func(_ string, text []byte) { numbers = beads.ChildNumbersIn(text) })
			return numbers, err
		}})
	}
	return sources
}
