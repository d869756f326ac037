package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/fault"
)

// ErrMoved is wrapped by errors of Merge and Land if the branch for results has moved since the
// merge: merge again.
var ErrMoved = errors.New("the branch has moved")

// moved is that error; now is the branch's commit, "" if it is gone.
func moved(onto, now string) error {
	reason := "was deleted meanwhile"
	if now != "" {
		reason = fmt.Sprintf("has moved to %.12s", now)
	}
	return &fault.Error{Code: fault.Changed, Reason: "branch " + onto + ": " + reason, Err: ErrMoved}
}

// Land moves Onto forward to the result of Merge, if that descends from it; else the error
// wraps ErrMoved. Nothing else changes. It refuses while Onto is checked out somewhere.
func (t *Worktree) Land(ctx context.Context) error {
	r := t.repo
	if t.tip == "" {
		return fmt.Errorf("%s: was not merged with %s", t.Branch, r.onto)
	}
	release, err := t.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	now, err := r.look(ctx, r.onto)
	if err == nil {
		err = r.mayLand(now)
	}
	if err != nil {
		return err
	}
	was := now.heads[r.onto]
	if was == "" {
		return moved(r.onto, "")
	}
	if was != t.from { // an ancestor of the tip
		if ahead, err := r.descends(ctx, t.tip, was); err != nil {
			return err
		} else if !ahead {
			return moved(r.onto, was)
		}
	}
	if err := breakLocks(ctx, r.lockOf(r.onto)); err != nil { // nobody else lands meanwhile
		return err
	}
	_, err = r.git.Must(ctx, "update-ref", "-m", "stig: land "+t.Branch, "refs/heads/"+r.onto, t.tip, was)
	if err == nil {
		return nil
	}
	if now, e := r.branch(ctx, r.onto); e == nil && now != was {
		return moved(r.onto, now)
	}
	return err
}

// Remove removes the work tree and its branch, if Onto has everything in them. Ignored files
// are removed too. Otherwise the error is a fault.Refused.
func (t *Worktree) Remove(ctx context.Context) error {
	r := t.repo
	kept := func(why string, args ...any) error {
		return &fault.Error{Code: fault.Refused, Path: t.Dir, Reason: "was kept: " + fmt.Sprintf(why, args...)}
	}
	release, err := t.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if _, t.ready = readNote(t.own); !t.ready { // it may have been completed meanwhile
		return t.discard(ctx)
	}
	branch, err := r.branch(ctx, t.Branch)
	if err != nil {
		return err
	}
	onto, err := r.branch(ctx, r.onto)
	if err != nil {
		return err
	}
	head := branch
	if isDir(t.Dir) {
		if doing := Busy(t.own); doing != "" {
			return kept("it is in the middle of a %s", doing)
		}
		s, err := t.status(ctx)
		if err != nil {
			return err
		}
		if s.dirty || s.store {
			return kept("it has uncommitted changes")
		}
		head = s.head
	}
	for _, commit := range slices.Compact([]string{branch, head}) {
		if merged, err := r.descends(ctx, onto, commit); err != nil {
			return err
		} else if commit != "" && (onto == "" || !merged) {
			return kept("it has commits that are not on %s", r.onto)
		}
	}
	modules, err := os.ReadDir(filepath.Join(t.own, "modules"))
	if (err == nil && len(modules) > 0 || isThere(filepath.Join(t.Dir, ".gitmodules"))) && t.submodulesChanged(ctx) {
		return kept("its submodules may have commits that are nowhere else")
	}
	return t.remove(ctx, branch, head)
}

// remove removes a work tree whose commits are all on Onto. If it is killed, PrepareWorktree
// and Worktrees recognize what is left: HEAD is detached and the branch goes first, and a tree
// with missing files counts as incomplete.
func (t *Worktree) remove(ctx context.Context, branch, head string) error {
	if branch != "" {
		if isDir(t.Dir) {
			if _, err := t.git().Must(ctx, "update-ref", "--no-deref", "-m", "stig: remove", "HEAD", head); err != nil {
				return err
			}
		}
		if _, err := t.repo.git.Must(ctx, "update-ref", "-d", "refs/heads/"+t.Branch, branch); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(t.own, noteFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return t.discard(ctx)
}

// Forget removes a work tree whose directory is gone. Its branch stays, unless Onto contains
// it.
func (t *Worktree) Forget(ctx context.Context) error {
	err := t.Remove(ctx)
	if !fault.Is(err, fault.Refused) || isDir(t.Dir) {
		return err
	}
	release, err := t.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	return t.remove(ctx, "", "")
}

// discard removes the work tree and its lock; a remaining lock is harmless.
func (t *Worktree) discard(ctx context.Context) error {
	err := t.repo.forget(ctx, t.Dir)
	_ = os.Remove(t.lockPath())
	return err
}

// submodulesChanged reports whether a submodule has a commit that no remote of it has.
func (t *Worktree) submodulesChanged(ctx context.Context) bool {
	said, err := t.git().Perform(ctx, nil, nil, "submodule", "foreach", "--quiet", "--recursive", "git log --max-count=1 --format=%H HEAD --branches --not --remotes")
	return err != nil || said.Exit != 0 || strings.TrimSpace(string(said.Stdout)) != ""
}
