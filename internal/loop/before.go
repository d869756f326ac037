package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"stig/internal/assistant"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// before runs the criteria of a run's issue before its command: what passes then shows
// nothing of the work. They run in the work tree, which is put back to what it was; where
// that holds work already, in a checkout of the commit at which the work began. What they
// show is kept by that commit.
func (l *loop) before(ctx context.Context, r *Run, fresh bool) error {
	if l.NoClose || l.app.Config.Gate.Before == workspace.BeforeNever {
		return nil
	}
	runs, _, err := l.runs()
	if err != nil {
		return err
	}
	if landed, ok := unclosed(runs, r.Issue); ok && landed.Before != "" {
		r.Before = landed.Before // the work is on the branch that this one begins at
		return nil
	}
	r.Before = l.shownAt(r, r.Base)
	dir := r.Worktree
	known, err := service.Before(ctx, l.quiet(ctx, dir), r.Issue, service.BeforeRequest{Name: r.Before, Known: true})
	if err != nil || known {
		return l.unlessNotRun(r, err)
	}
	back := func(context.Context) error { return nil }
	switch {
	case r.tree != nil && fresh:
		back, err = r.tree.Keep(ctx)
	case r.tree != nil:
		dir, back, err = l.checkout(ctx, r, r.Base)
	}
	if err != nil {
		return err
	}
	_, err = service.Before(ctx, l.quiet(ctx, dir), r.Issue, service.BeforeRequest{Name: r.Before})
	return l.unlessNotRun(r, errors.Join(err, back(context.WithoutCancel(ctx))))
}

// unlessNotRun is an error but for the refusal to run the checks of an issue: what follows
// from that is decided when the work is there.
func (l *loop) unlessNotRun(r *Run, err error) error {
	if errors.Is(err, workspace.ErrNotRun) {
		r.Before = ""
		return nil
	}
	return err
}

// shownAt names what checks show at a commit after the setup of the actor, as
// gate.Befores keeps it; in place, where nothing is committed, it is kept for the run alone.
func (l *loop) shownAt(r *Run, commit string) string {
	switch {
	case r.tree == nil:
		return r.ID
	case l.profile.Setup == "":
		return commit
	}
	return commit + "-" + gate.Hash(l.profile.Setup)[:8]
}

// quiet is fresh in a directory where checks are to run: what they print is in the logs and
// in feedback.
func (l *loop) quiet(ctx context.Context, dir string) *workspace.Run {
	a := l.fresh(ctx, dir)
	a.Progress, a.Terminal = io.Discard, false
	return a
}

// checkout makes a directory with a commit after the setup of the actor, which remove deletes.
func (l *loop) checkout(ctx context.Context, r *Run, commit string) (dir string, remove func(context.Context) error, err error) {
	if dir, remove, err = git.DetachedTree(ctx, *l.trees, "checks of "+r.Issue, commit); err != nil {
		return "", nil, err
	}
	if err := l.setUp(ctx, r, dir); err != nil {
		return "", nil, errors.Join(err, remove(context.WithoutCancel(ctx)))
	}
	return dir, remove, nil
}

// content identifies what the directory of a run holds beyond the commit at which its work
// began, with the paths; "" without git. What a checkout makes of files does not count, nor do
// files that assistants' programs keep for themselves.
func (l *loop) content(ctx context.Context, r *Run) (state string, paths []string, err error) {
	if l.code.Root == "" || r.Worktree == "" && r.tree == nil {
		return "", nil, nil
	}
	there := l.app.GitIn(l.code.Root)
	if r.tree != nil {
		there = l.app.GitIn(r.tree.Dir)
	}
	there.Trusted = true // workers run in it
	return there.Content(ctx, r.Base, func(path string, tracked bool) bool { return !tracked && assistant.IsOwnFile(path) }, storeDir(l.store))
}

// freshMark is the file in git's directory of a work tree that says what it held when it was
// made, after setup and before any work.
const freshMark = "stig-fresh"

// isFresh reports whether the work tree of a run, which holds this beyond its base, holds no
// work: it is as it was when it was made.
func (l *loop) isFresh(r *Run, content string) (bool, error) {
	at, err := git.CheckoutOf(r.tree.Dir)
	if err != nil {
		return false, err
	}
	was, err := os.ReadFile(filepath.Join(at.Own, freshMark))
	if err != nil {
		return content == git.NoContent, nil
	}
	return content == string(was), nil
}

// markFresh keeps what the work tree of a run holds before any work.
func (l *loop) markFresh(r *Run) error {
	at, err := git.CheckoutOf(r.tree.Dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at.Own, freshMark), []byte(r.Tree), 0o600)
}

// lacks says of what the criteria read whether it is in a submodule or in LFS, and not in the
// work tree; "" where nothing lacks.
func (l *loop) lacks(ctx context.Context, r *Run) (string, error) {
	record, err := l.recordOf(r.Issue)
	if err != nil || record == nil || l.code.Root == "" {
		return "", err
	}
	submodules, pointers, err := l.app.GitIn(r.Worktree).Lacking(ctx)
	if err != nil || len(submodules)+len(pointers) == 0 {
		return "", err
	}
	plan := gate.Of(record).Plan()
	if path := gate.Misses(plan, submodules); path != "" {
		return fmt.Sprintf("the criteria read %s, a submodule that is not in the work tree; give the actor a setup: git submodule update --init %s", path, visible.Quoted(path)), nil
	}
	if path := gate.Misses(plan, pointers); path != "" {
		return fmt.Sprintf("the criteria read %s, of which LFS has not brought the content here; give the actor a setup: git lfs pull", path), nil
	}
	return "", nil
}

// landing lists the files that differ by the work of a run that was merged; known is false
// without a work tree.
func (l *loop) landing(ctx context.Context, r *Run) (changed []git.Change, known bool, err error) {
	if r.tree == nil {
		return nil, false, nil
	}
	from, tip := r.tree.Landing()
	changed, err = l.app.GitIn(r.tree.Dir).Between(ctx, from, tip, l.trees.Store)
	return changed, err == nil, err
}

// mostDiff is how many lines a question shows of the files that differ.
const mostDiff = 12

// diffOf shows to people which files the work of a run changed, and by how many lines.
func (l *loop) diffOf(ctx context.Context, r *Run) string {
	if r.tree == nil {
		return ""
	}
	from, tip := r.tree.Landing()
	said := l.app.GitIn(r.tree.Dir).Stat(ctx, from, tip, l.trees.Store, 64<<10)
	lines := strings.Split(said, "\n")
	switch {
	case said == "":
		return "It changed no file.\n"
	case len(lines) > mostDiff:
		lines = append(append(lines[:mostDiff-2:mostDiff-2], " …"), lines[len(lines)-1])
	}
	return "It changed:\n\n" + visible.Fenced(strings.Join(lines, "\n"))
}
