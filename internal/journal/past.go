package journal

import (
	"context"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/merge"
)

// Commit is a commit that changed the store, or that merged such commits.
type Commit struct {
	Name    string
	Time    time.Time
	Parents []int // indices in the list, without parents older than requested
}

// Past is the history of the store behind HEAD.
type Past interface {
	// Commits lists the commits, each before its parents, HEAD's first.
	Commits() []Commit
	// Lines returns the issues in a commit.
	Lines(ctx context.Context, commit int) (Lines, error)
	// Base returns the issues in the merge base of a merge.
	Base(ctx context.Context, commit int) (Lines, error)
	// IsRevert reports whether a commit says that it reverts another, or has the word in its
	// subject and restores an earlier state of the store.
	IsRevert(ctx context.Context, commit int) (bool, error)
	// MadeHere reports whether a commit was created in this work tree rather than fetched.
	MadeHere(ctx context.Context, commit int) (bool, error)
	// Branch names a branch that contains a commit.
	Branch(ctx context.Context, commit int) (string, error)
}

// slack is how much older than a record a commit that contains it may be, since clocks step.
const slack = time.Hour

// lookBack finds the commit in HEAD's history that removed what is missing, and what other
// branches removed themselves.
func (f *finder) lookBack(findings []Finding, ids []string) error {
	list := open(findings)
	if len(list) == 0 {
		return nil
	}
	since := list[0].Record.At
	for _, finding := range list {
		if finding.Record.At.Before(since) {
			since = finding.Record.At
		}
	}
	past, err := f.Held.Past(f.ctx, since.Add(-slack), ids)
	if err != nil || past == nil {
		return err
	}
	w := walk{finder: f, past: past, commits: past.Commits()}
	for _, finding := range list {
		if err := w.judge(finding); err != nil {
			return err
		}
	}
	list = slices.DeleteFunc(open(findings), func(finding *Finding) bool {
		return finding.Where != "" || f.holds(f.head[finding.ID], finding)
	})
	if len(list) == 0 {
		return nil
	}
	if past, err = f.Held.Branches(f.ctx, since.Add(-slack), ids); err != nil || past == nil {
		return err
	}
	return f.lookAside(list, past)
}

// lookAside finds what the history of another branch had.
func (f *finder) lookAside(list []*Finding, past Past) error {
	w := walk{finder: f, past: past, commits: past.Commits()}
	for at := 0; at < len(w.commits) && len(list) > 0; at++ {
		var left []*Finding
		for _, finding := range list {
			held, err := w.heldIn(finding, at)
			if held && err == nil {
				finding.State = Elsewhere
				finding.Where, err = past.Branch(f.ctx, at)
			}
			if err != nil {
				return err
			}
			if !held {
				left = append(left, finding)
			}
		}
		list = left
	}
	return nil
}

// walk goes back from HEAD.
type walk struct {
	*finder
	past    Past
	commits []Commit
}

// judge decides by the commit that removed a value what became of it. If HEAD has it, or no
// commit ever did, none removed it.
func (w *walk) judge(finding *Finding) error {
	at, holders, others, err := w.taker(finding)
	if err != nil {
		return err
	}
	if at < 0 {
		return w.judgeLine(finding)
	}
	finding.Where = shortName(w.commits[at].Name)
	there, err := w.past.Lines(w.ctx, at)
	if err != nil {
		return err
	}
	before, err := w.past.Lines(w.ctx, holders[0])
	if err != nil {
		return err
	}
	if len(w.commits[at].Parents) > 1 {
		if changed, err := w.changedIn(finding, at, others); err != nil || changed {
			finding.State = Edited
			return err
		}
	}
	revert, err := w.past.IsRevert(w.ctx, at)
	is, was := there[finding.ID], before[finding.ID]
	if revert || is != nil && dateOf(is).After(dateOf(was)) {
		finding.State = Removed
	}
	return err
}

// judgeLine finds a value that no commit had and that somebody reverted in a line with a later
// date, committed here.
func (w *walk) judgeLine(finding *Finding) error {
	line := w.store[finding.ID]
	if !same(line, w.head[finding.ID]) || !w.takesBack(line, finding) {
		return nil
	}
	at := 0
	for len(w.commits) > 0 && len(w.commits[at].Parents) == 1 {
		lines, err := w.past.Lines(w.ctx, w.commits[at].Parents[0])
		if err != nil {
			return err
		}
		if !same(lines[finding.ID], line) {
			break
		}
		at = w.commits[at].Parents[0]
	}
	if at >= len(w.commits) || len(w.commits[at].Parents) > 1 {
		return nil
	}
	here, err := w.past.MadeHere(w.ctx, at)
	if here {
		finding.State, finding.Where = Removed, shortName(w.commits[at].Name)
	}
	return err
}

// taker finds the last commit that lacks a value and has a parent with it; -1 for none. It
// separates those parents from the others.
func (w *walk) taker(finding *Finding) (at int, holders, others []int, err error) {
	reached := map[int]bool{0: true}
	for at := range w.commits {
		if !reached[at] || w.commits[at].Time.Before(finding.Record.At.Add(-slack)) {
			continue
		}
		held, err := w.heldIn(finding, at)
		switch {
		case err != nil:
			return -1, nil, nil, err
		case held && at == 0:
			return -1, nil, nil, nil
		case held:
			continue
		}
		holders, others = nil, nil
		for _, parent := range w.commits[at].Parents {
			held, err := w.heldIn(finding, parent)
			if err != nil {
				return -1, nil, nil, err
			}
			if held {
				holders = append(holders, parent)
			} else {
				others = append(others, parent)
			}
			reached[parent] = true
		}
		if len(holders) > 0 {
			return at, holders, others, nil
		}
	}
	return -1, nil, nil, nil
}

func (w *walk) heldIn(finding *Finding, at int) (bool, error) {
	lines, err := w.past.Lines(w.ctx, at)
	line := lines[finding.ID]
	if err != nil || line == nil {
		return false, err
	}
	// A commit whose line arose in two ways does not contain what was written after it.
	twice := len(w.histories[finding.ID].makers[VersionOf(line)]) > 1
	if twice && w.commits[at].Time.Add(time.Second).Before(finding.Record.At) {
		return false, nil
	}
	return w.holds(line, finding), nil
}

// changedIn reports whether one side of a merge lacks the value but changed it since the merge
// base.
func (w *walk) changedIn(finding *Finding, at int, sides []int) (bool, error) {
	base, err := w.past.Base(w.ctx, at)
	if err != nil {
		return false, err
	}
	for _, side := range sides {
		lines, err := w.past.Lines(w.ctx, side)
		if err != nil {
			return false, err
		}
		if partIn(lines[finding.ID], finding.part()) != partIn(base[finding.ID], finding.part()) {
			return true, nil
		}
	}
	return false, nil
}

func partIn(r *beads.Record, part merge.PartName) merge.Digest {
	if r == nil {
		return ""
	}
	return merge.EntryOf(r).Parts[part]
}

func shortName(commit string) string { return commit[:min(len(commit), 10)] }

// saysRevert reports whether a commit message says, as git revert and forges do, that it
// reverts another commit.
func saysRevert(message string) bool {
	subject, _, _ := strings.Cut(message, "\n")
	return strings.Contains(message, "This reverts commit ") ||
		strings.HasPrefix(subject, `Revert "`) || strings.HasPrefix(subject, `Reapply "`)
}

// namesRevert reports whether a commit's subject has the word revert.
func namesRevert(message string) bool {
	subject, _, _ := strings.Cut(strings.ToLower(message), "\n")
	return slices.ContainsFunc(strings.FieldsFunc(subject, func(r rune) bool { return r < 'a' || r > 'z' }), func(word string) bool {
		return word == "revert" || word == "reverts" || word == "reverted"
	})
}
