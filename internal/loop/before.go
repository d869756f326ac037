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

// before runs the criteria of a run's issue before its command: a check that passes now shows
// nothing about the work. The checks run in the work tree, which is then restored, or, if it
// already has work, in a checkout of the commit at which the work began. The results are cached
// by that commit.
func (l *loop) before(ctx context.Context, r *Run, fresh bool) error {
	if l.NoClose || l.app.Config.Gate.Before == workspace.BeforeNever {
		return nil
	}
	runs, _, err := l.runs()
	if err != nil {
		return err
	}
	if landed, ok := unclosed(runs, r.Issue); ok && landed.Before != "" {
		r.Before = landed.Before // that work is already in the commit this branch starts at
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

// unlessNotRun returns err, unless it is the refusal to run the checks of an issue. What
// follows from that refusal is decided once the work is there.
func (l *loop) unlessNotRun(r *Run, err error) error {
	if errors.Is(err, workspace.ErrNotRun) {
		r.Before = ""
		return nil
	}
	return err
}

// shownAt returns the name under which gate.Befores stores the results of checks at a commit
// after the actor's setup. In place nothing is committed, so the results belong to this run
// only.
func (l *loop) shownAt(r *Run, commit string) string {
	switch {
	case r.tree == nil:
		return r.ID
	case l.profile.Setup == "":
		return commit
	}
	return commit + "-" + gate.Hash(l.profile.Setup)[:8]
}

// quiet is like fresh for a directory in which checks run. Their output is shown in logs and
// feedback instead.
func (l *loop) quiet(ctx context.Context, dir string) *workspace.Run {
	a := l.fresh(ctx, dir)
	a.Progress, a.Terminal = io.Discard, false
	return a
}

// checkout creates a directory with a commit checked out and the actor's setup done. remove
// deletes it.
func (l *loop) checkout(ctx context.Context, r *Run, commit string) (dir string, remove func(context.Context) error, err error) {
	if dir, remove, err = git.DetachedTree(ctx, *l.trees, "checks of "+r.Issue, commit); err != nil {
		return "", nil, err
	}
	if err := l.setUp(ctx, r, dir); err != nil {
		return "", nil, errors.Join(err, remove(context.WithoutCancel(ctx)))
	}
	return dir, remove, nil
}

// content returns a hash of what the directory of a run contains beyond the commit at which its
// work began, and the paths; "" without git. It ignores conversions made by a checkout and
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

// freshMark is a file in a work tree's git directory with the tree's content hash after setup
// and before any work.
const freshMark = "stig-fresh"

// isFresh reports whether the work tree of a run, whose content is given, is unchanged since
// its creation and so contains no work.
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

// markFresh records the content of the work tree of a run before any work.
func (l *loop) markFresh(r *Run) error {
	at, err := git.CheckoutOf(r.tree.Dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at.Own, freshMark), []byte(r.Tree), 0o600)
}

// lacks returns a message if the criteria read something that is missing in the work tree
// because it is in a submodule or in LFS; "" otherwise.
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
		return fmt.Sprintf("the criteria read %s, whose LFS content is not here; give the actor a setup: git lfs pull", path), nil
	}
	return "", nil
}

// landing returns the files changed by the merged work of a run; known is false without a work
// tree.
func (l *loop) landing(ctx context.Context, r *Run) (changed []git.Change, known bool, err error) {
	if r.tree == nil {
		return nil, false, nil
	}
	from, tip := r.tree.Landing()
	changed, err = l.app.GitIn(r.tree.Dir).Between(ctx, from, tip, l.trees.Store)
	return changed, err == nil, err
}

// mostDiff is the maximum number of diffstat lines in a question.
const mostDiff = 12

// diffOf returns, as Markdown, the files that the work of a run changed, with line counts.
func (l *loop) diffOf(ctx context.Context, r *Run) string {
	if r.tree == nil {
		return ""
	}
	from, tip := r.tree.Landing()
	return "It changed:\n\n" + l.stat(ctx, from, tip)
}

// stat returns, as a code block, the files that differ between two commits, with line counts.
func (l *loop) stat(ctx context.Context, from, tip string) string {
	said := l.app.GitIn(l.code.Root).Stat(ctx, from, tip, l.trees.Store, 64<<10)
	lines := strings.Split(said, "\n")
	switch {
	case said == "":
		lines = []string{"no file"}
	case len(lines) > mostDiff:
		lines = append(append(lines[:mostDiff-2:mostDiff-2], " …"), lines[len(lines)-1])
	}
	return visible.Fenced(strings.Join(lines, "\n"))
}
