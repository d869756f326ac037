package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrRewritten is Follow's error for a branch that no longer descends from its former commit.
var ErrRewritten = errors.New("the branch was rewritten")

// Follow updates Onto from a branch, given the branch's commit when Onto last contained it, and
// returns the branch's current commit; how says what was done, "" for nothing. If the branch
// contains all of Onto, by commits or by patches, Onto moves there; else the branch is merged
// into it, without a work tree. A *RejectedError names conflicts, and nothing has changed.
func Follow(ctx context.Context, o WorktreeOptions, branch, was string) (now, how string, err error) {
	r, err := open(ctx, o)
	if err != nil {
		return "", "", err
	}
	at, err := r.look(ctx, r.onto, branch)
	if err != nil {
		return "", "", err
	}
	onto, now := at.heads[r.onto], at.heads[branch]
	if onto == "" || now == "" {
		return was, "", nil
	}
	if has, err := r.descends(ctx, onto, now); err != nil || has {
		return now, "", err
	}
	if err := r.mayLand(at); err != nil {
		return "", "", err
	}
	if landed, err := r.descends(ctx, now, onto); err != nil {
		return "", "", err
	} else if landed {
		_, err := r.advance(ctx, "stig: follow "+branch, onto, now)
		return now, "moves to " + branch, err
	}
	if comes, err := r.descends(ctx, now, was); err != nil || !comes {
		return now, "", errors.Join(err, ErrRewritten)
	}
	merged, err := r.mergeBranch(ctx, branch, onto, now)
	if err != nil {
		return now, "", err
	}
	if how = "merges " + branch; merged == now {
		how = "moves to " + branch
	}
	tip, err := r.advance(ctx, "stig: follow "+branch, onto, merged)
	if err == nil && tip != merged {
		err = moved(r.onto, tip)
	}
	return now, how, err
}

// mergeBranch merges a branch into Onto, with the branch's store, and returns the commit: that
// of the branch if Onto adds nothing, for example after a squash.
func (r *worktreeRepo) mergeBranch(ctx context.Context, branch, onto, tip string) (string, error) {
	t := &Worktree{Dir: r.git.Dir, Branch: branch, own: filepath.Join(r.common, "stig"), repo: r}
	tree, err := t.mergeTree(ctx, tip, onto)
	if err == nil {
		tree, _, err = t.withStore(ctx, tree, tip)
	}
	if err != nil {
		return "", err
	}
	if has, err := t.git().Must(ctx, "rev-parse", tip+"^{tree}"); err != nil || has == tree {
		return tip, err
	}
	return t.commitTree(ctx, tree, fmt.Sprintf("Merge branch '%s' into %s", branch, r.onto), []string{onto, tip})
}

// Replay rebuilds Onto on a rewritten branch: what Onto has beyond the former branch goes on
// top of the new one, and so does the work on issue branches. kept are those that cannot be
// replayed: uncommitted changes, or conflicts. A *RejectedError names conflicts in Onto, and
// nothing has changed.
func Replay(ctx context.Context, o WorktreeOptions, branch, was string) (now string, kept []string, err error) {
	r, err := open(ctx, o)
	if err != nil {
		return "", nil, err
	}
	at, err := r.look(ctx, r.onto, branch)
	if err == nil {
		err = r.mayLand(at)
	}
	if err != nil {
		return "", nil, err
	}
	onto, now := at.heads[r.onto], at.heads[branch]
	dir, remove, err := DetachedTree(ctx, o, "replay of "+r.onto, onto)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	t := &Worktree{Dir: dir, Branch: r.onto, own: filepath.Join(r.common, "stig"), repo: r}
	tip, err := t.rebase(ctx, now, was)
	if _, conflicts := errors.AsType[*RejectedError](err); conflicts { // such as one resolved in a merge
		tip, err = t.inOne(ctx, now, was, onto)
	}
	if err != nil {
		return now, nil, err
	}
	if at, err := r.advance(ctx, "stig: replay on "+branch, onto, tip); err != nil || at != tip {
		return "", nil, errors.Join(err, moved(r.onto, at))
	}
	trees, err := Worktrees(ctx, o)
	if err != nil {
		return now, nil, err
	}
	for _, t := range trees {
		if t.Issue == "" || t.Head == "" || !isDir(t.Dir) {
			continue
		}
		if s, err := t.settled(ctx); err != nil || s.dirty {
			kept = append(kept, t.Branch)
		} else if _, err := t.rebase(ctx, tip, onto); err != nil {
			kept = append(kept, t.Branch)
		}
	}
	return now, kept, nil
}

// inOne returns a commit on top of now with everything that onto has beyond was.
func (t *Worktree) inOne(ctx context.Context, now, was, onto string) (string, error) {
	said, err := t.git().Must(ctx, "log", "--no-merges", "--reverse", "--format=%B", was+".."+onto)
	if err != nil {
		return "", err
	}
	return t.pick(ctx, now, Step{From: was, To: onto, Message: "Replay " + t.repo.onto + "\n\n" + said})
}

// rebase puts what the work tree has beyond a commit on top of another, and returns the result.
// A conflict changes nothing.
func (t *Worktree) rebase(ctx context.Context, onto, beyond string) (string, error) {
	argv := []string{"-c", expectFiles, "-c", noUpkeep, "-c", "core.hooksPath=" + os.DevNull, "-c", "submodule.recurse=false", "-c", "rebase.autoStash=false", "-c", "rebase.updateRefs=false",
		"rebase", "--quiet", "--empty=drop", "--no-fork-point", "--onto", onto, beyond}
	var env []string
	if known, err := knowsWho(ctx, t.git()); err != nil {
		return "", err
	} else if !known {
		env = []string{"GIT_COMMITTER_NAME=stig", "GIT_COMMITTER_EMAIL=stig" + addressEnd}
	}
	result, err := t.git().Perform(ctx, env, nil, argv...)
	if err != nil {
		return "", err
	}
	if result.Exit != 0 {
		refused := rejected("git rebase", result)
		said, _ := t.git().Run(ctx, "diff", "--name-only", "--diff-filter=U")
		refused.Files = strings.Fields(string(said.Stdout))
		refused.Reason = fmt.Sprintf("branch %s: conflicts when it is replayed, in %s", t.Branch, strings.Join(refused.Files, ", "))
		_, err := t.git().Must(context.WithoutCancel(ctx), "rebase", "--abort")
		return "", errors.Join(refused, err)
	}
	return t.git().Commit(ctx, "HEAD")
}
