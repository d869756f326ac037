package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/git"
	"stig/internal/lint"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/orient"
	"stig/schemas"
	"stig/signals"
)

// LookBack computes the retrospective of an epic, or of the store for "".
func LookBack(a *workspace.Run, id string, last int) (*orient.Retro, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph := dag.New(file)
	if id != "" {
		epic, err := file.Find(id)
		if err != nil {
			return nil, err
		}
		id = epic.ID
		if at, _ := file.Index(id); len(graph.Children(at)) == 0 {
			return nil, workspace.Usage(id+": contains no issues", "name an epic, or none for the whole store")
		}
	}
	rules, err := Reading(a, file.Place(), signals.ThresholdStaleDays)
	if err != nil {
		return nil, err
	}
	return orient.LookBack(file, graph, id, last, rules)
}

// Trajectory lists the commits that changed an issue's signals or estimate, oldest first.
func Trajectory(ctx context.Context, a *workspace.Run, store beads.Place, id, since string) ([]orient.Point, error) {
	history, err := history(a, store)
	if err != nil {
		return nil, err
	}
	after, isTime := dateOrTime(since)
	if isTime {
		since = ""
	}
	points, err := orient.Trajectory(ctx, history, id, since, after, a.Schema)
	if unknown, ok := fault.As(err, fault.NoRevision); ok {
		place := ""
		if since != "" && unknown.Hint == "" {
			place = "--since: "
		}
		return nil, workspace.Usage(place+unknown.Reason, cmp.Or(unknown.Hint, "give a day, a time, or a commit; git log -- "+visible.Quoted(workspace.Shortest(store.File()))+" lists those of the store"))
	}
	return points, err
}

// IssueTrajectory is the history of an issue's signals.
type IssueTrajectory struct {
	ID     string         `json:"id"`
	Title  string         `json:"-"` // "" if the store no longer has the issue
	Points []orient.Point `json:"points"`
}

// TrajectoryOf returns the trajectory of an issue that is or was in the store.
func TrajectoryOf(ctx context.Context, a *workspace.Run, id, since string) (*IssueTrajectory, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := &IssueTrajectory{ID: id}
	issue, missing := file.Find(id)
	if missing == nil {
		t.ID, t.Title = issue.ID, issue.Title
	}
	if t.Points, err = Trajectory(ctx, a, file.Place(), t.ID, since); err != nil {
		return nil, err
	}
	if missing != nil && len(t.Points) == 0 {
		return nil, missing
	}
	return t, nil
}

// dateOrTime parses RFC 3339, or YYYY-MM-DD as the beginning of that day in UTC.
func dateOrTime(text string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil || text == ""
}

// base is the merge base of HEAD and a revision, so that others' later commits are not mistaken
// for local reverts.
type base struct {
	*lint.Past                  // nil without a revision, or if it is older than the store or any commit
	was, is    workspace.Config // the repository's settings there and here; an unreadable file counts as empty
}

// byReview reports whether work lands by review, or did at the base: the branch under review does
// not decide that.
func (b base) byReview(a *workspace.Run) bool {
	return b.Past != nil && (a.Config.ByReview() || b.was.ByReview())
}

// judge returns the store whose criteria and labels an issue is judged by: that of the base where
// work lands by review, unless the issue is new.
func (b base) judge(a *workspace.Run, file *beads.Snapshot, id string) *beads.Snapshot {
	if !b.byReview(a) {
		return file
	}
	if _, there := b.File.Index(id); !there {
		return file
	}
	return b.File
}

// restore undoes changes of settings that could let checks pass.
func (b base) restore(c *workspace.Config) {
	back := func(now *[]string, was, is []string) {
		if !slices.Equal(was, is) {
			*now = was
		}
	}
	back(&c.Gate.Sandbox, b.was.Gate.Sandbox, b.is.Gate.Sandbox)
	back(&c.Gate.Env, b.was.Gate.Env, b.is.Gate.Env)
	back(&c.Gate.HeldLabels, b.was.Gate.HeldLabels, b.is.Gate.HeldLabels)
}

// past opens the store as of a base. The returned function closes the store.
func past(ctx context.Context, a *workspace.Run, store beads.Place, revision string) (base, func(), error) {
	if revision == "" {
		return base{}, func() {}, nil
	}
	history, err := history(a, store)
	if err != nil {
		return base{}, nil, err
	}
	left, err := history.Common(ctx, revision)
	if isNew(err) {
		a.Warn("%s: nothing to compare the store with", err)
		return base{}, func() {}, nil
	}
	if err != nil {
		return base{}, nil, unknownRevision(err, store)
	}
	file, err := history.Snapshot(ctx, left)
	if isNew(err) {
		a.Warn("%s: has no store yet: nothing to compare with", revision)
		return base{}, func() {}, nil
	}
	if err != nil {
		return base{}, nil, unknownRevision(err, store)
	}
	warnOfLinesAt(a, left, store, file)
	b := base{Past: &lint.Past{File: file, Name: revision}}
	b.was, b.is = configsSince(ctx, history, store, left)
	b.Gate = b.gateChanges()
	return b, func() { _ = file.Close() }, nil
}

// isNew reports whether the error says that a revision is older than the store.
func isNew(err error) bool {
	return fault.Is(err, fault.NoRevision) && errors.Is(err, beads.ErrBefore)
}

// configsSince reads the repository's settings at a commit and as they are.
func configsSince(ctx context.Context, history beads.History, store beads.Place, commit string) (was, is workspace.Config) {
	past, inGit := history.(git.Past)
	dir, err := filepath.EvalSymlinks(filepath.Dir(store.Dir))
	if !inGit || err != nil {
		return was, is
	}
	path := filepath.Join(dir, ".stig.cue")
	var text bytes.Buffer
	_ = past.FileAt(ctx, commit, path, &text) // the commit may not have the file
	now, _ := file.Read(path)
	_ = cue.Decode(schemas.Config, "#Config", path, text.Bytes(), &was)
	_ = cue.Decode(schemas.Config, "#Config", path, now, &is) // every command reports its errors
	return was, is
}

// gateChanges lists the gate settings that differ, each with both values.
func (b base) gateChanges() (differ []string) {
	was, is := b.was, b.is
	set := func(name, from, to string) {
		if from != to {
			differ = append(differ, fmt.Sprintf("%s is %q, was %q", name, to, from))
		}
	}
	set("gate.env", strings.Join(was.Gate.Env, " "), strings.Join(is.Gate.Env, " "))
	set("gate.sandbox", strings.Join(was.Gate.Sandbox, " "), strings.Join(is.Gate.Sandbox, " "))
	set("gate.external", fmt.Sprint(was.Gate.External), fmt.Sprint(is.Gate.External))
	set("gate.before", cmp.Or(was.Gate.Before, workspace.BeforeLoop), cmp.Or(is.Gate.Before, workspace.BeforeLoop))
	set("gate.held", cmp.Or(was.Gate.Held, workspace.HeldAsk), cmp.Or(is.Gate.Held, workspace.HeldAsk))
	set("gate.held_labels", strings.Join(was.Gate.HeldLabels, " "), strings.Join(is.Gate.HeldLabels, " "))
	set("gate.waivers", cmp.Or(was.Gate.Waivers, "people"), cmp.Or(is.Gate.Waivers, "people"))
	set("land", cmp.Or(was.Land, workspace.LandMerge), cmp.Or(is.Land, workspace.LandMerge))
	return differ
}

// PrepareCommit checks that the store can be committed and returns the function that commits it
// after the checkpoint of an issue is written.
func PrepareCommit(ctx context.Context, a *workspace.Run, store beads.Place) (commit func(ctx context.Context, id string) (string, error), err error) {
	if store.Mode == beads.BD {
		return nil, workspace.Usage("--commit: bd keeps the issues in a database, not in the file", "leave --commit out")
	}
	return checkpoint.PrepareCommit(ctx, store, a.Environ())
}

// history returns the git history of a store's file.
func history(a *workspace.Run, store beads.Place) (beads.History, error) {
	repo, path, err := a.Git(store)
	return git.Past{Client: repo, Path: path}, err
}

// openAt reads the store as it was at a revision.
func openAt(ctx context.Context, a *workspace.Run, store beads.Place, revision string) (*beads.Snapshot, error) {
	history, err := history(a, store)
	if err != nil {
		return nil, err
	}
	file, err := history.Snapshot(ctx, revision)
	if err == nil {
		warnOfLinesAt(a, revision, store, file)
	}
	return file, unknownRevision(err, store)
}

// unknownRevision turns the error of a revision without a store into a usage error.
func unknownRevision(err error, store beads.Place) error {
	if unknown, ok := fault.As(err, fault.NoRevision); ok {
		if store.Mode == beads.BD {
			unknown.Hint = "bd keeps the issues in a database: type bd history ID for the past of one"
		}
		return workspace.Usage(unknown.Reason, cmp.Or(unknown.Hint, "name a commit that has the store: see git log --oneline -- "+workspace.Shortest(store.File())))
	}
	return err
}

// warnOfLinesAt warns of the first unreadable line at a revision.
func warnOfLinesAt(a *workspace.Run, revision string, store beads.Place, file *beads.Snapshot) {
	if problems := file.Problems(); len(problems) > 0 {
		a.Warn("%s:%s:%d: %s", revision, workspace.Shortest(store.File()), problems[0].Line, problems[0].Message)
	}
}
