package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/visible"
)

// noUpkeep prevents git from packing the repository in the background, which would hold the
// work tree.
const noUpkeep = "maintenance.auto=false"

// Upkeep lets git pack the repository if due, unless the user disables that: a clone in which
// only loops commit would grow forever.
func Upkeep(ctx context.Context, o WorktreeOptions) error {
	r, err := open(ctx, o)
	if err != nil {
		return err
	}
	wanted, err := r.git.Run(ctx, "config", "--type=bool", "maintenance.auto")
	if err != nil || strings.TrimSpace(string(wanted.Stdout)) == "false" {
		return err
	}
	_, err = r.git.Must(ctx, "maintenance", "run", "--auto", "--quiet")
	return err
}

// holdWait is how long to wait for a git started by a killed loop, which may run hooks.
const holdWait = 2 * time.Minute

// hold locks the work tree until release is called. A git started meanwhile holds the lock too,
// so that others wait for it even if stig is killed.
func (t *Worktree) hold(ctx context.Context) (release func(), err error) {
	dir := filepath.Join(t.repo.common, "stig")
	if err := file.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, holdWait)
	defer cancel()
	lock, err := file.LockUntil(limit, t.lockPath())
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("%s: another program has been at work there for %v", t.Dir, holdWait), Err: err,
			Hint: "let it finish and retry; fuser -v " + visible.Quoted(t.lockPath()) + " shows which program it is"}
	}
	if err != nil {
		return nil, err
	}
	t.repo.git.Lock = lock
	return func() {
		t.repo.git.Lock = nil
		_ = lock.Close() // nothing was written to it
	}, nil
}

func (t *Worktree) lockPath() string {
	return filepath.Join(t.repo.common, "stig", "tree-"+filepath.Base(t.repo.dirOf(t.Branch))+".lock")
}

// StrandedWork is the command that brings an issue branch's commits that no other branch has to
// the branch that loops work from, else to the one that is checked out; "" for none. If git
// cannot tell, it is "".
func StrandedWork(ctx context.Context, g Client, issue string) (remedy string) {
	branch := BranchOf(issue, WorkBranch)
	says := asker(ctx, g)
	if alone, ok := says("rev-list", "-1", "refs/heads/"+branch, "--not", "--exclude="+branch, "--exclude="+leftoversBranch(branch, "*"), "--branches"); !ok || alone == "" {
		return ""
	}
	push := "git push . " + visible.Quoted(branch+":"+WorkBranch)
	if _, is := says("merge-base", "--is-ancestor", "refs/heads/"+WorkBranch, "refs/heads/"+branch); is {
		return push
	}
	dir := dirOf(branch, says)
	_, missing := os.Stat(dir) // somebody may have removed it without git
	if _, there := says("rev-parse", "--verify", "--quiet", "refs/heads/"+WorkBranch); there && missing == nil {
		return "git -C " + visible.Quoted(dir) + " merge " + WorkBranch + " && " + push
	}
	return "git merge " + visible.Quoted(branch)
}

// DiscardWork is the command that discards the work on an issue's branch.
func DiscardWork(ctx context.Context, g Client, issue string) string {
	branch, remove := BranchOf(issue, WorkBranch), ""
	if dir := dirOf(branch, asker(ctx, g)); dir != "" {
		remove = "git worktree remove -f -f " + visible.Quoted(dir) + " && "
	}
	return remove + "git branch -D " + visible.Quoted(branch)
}

// asker returns the output of a git command, and whether it succeeded.
func asker(ctx context.Context, g Client) func(argv ...string) (string, bool) {
	return func(argv ...string) (string, bool) {
		text, err := g.Must(ctx, argv...)
		return strings.TrimSpace(text), err == nil
	}
}

// dirOf is the work tree in which a branch is checked out; "" for none.
func dirOf(branch string, says func(argv ...string) (string, bool)) (dir string) {
	list, _ := says("worktree", "list", "--porcelain")
	before, _, found := strings.Cut(list+"\n", "\nbranch refs/heads/"+branch+"\n")
	if at := strings.LastIndex("\n"+before, "\nworktree "); found && at >= 0 {
		dir, _, _ = strings.Cut(before[at+len("worktree "):], "\n")
	}
	return dir
}

// DetachedTree returns a directory with the files of a commit, without the store, for checks
// that must not see a worker's other files. what names its purpose: the next tree for that
// purpose replaces one left by a killed process. remove deletes it.
func DetachedTree(ctx context.Context, o WorktreeOptions, what, commit string) (dir string, remove func(context.Context) error, err error) {
	r, err := open(ctx, o)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256([]byte(r.common + "\x00" + what + "\x00" + commit))
	dir = filepath.Join(o.Dir, "detached", hex.EncodeToString(sum[:8]))
	remove = func(ctx context.Context) error {
		err := os.RemoveAll(dir)
		_, pruned := r.git.Run(ctx, "worktree", "prune")
		return errors.Join(err, pruned)
	}
	if err := remove(ctx); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", nil, err
	}
	t := &Worktree{Dir: dir, repo: r}
	if err := r.alone(ctx, "worktree", "add", "--quiet", "--no-checkout", "--detach", dir, commit); err != nil {
		return "", nil, errors.Join(t.noRoom(err), remove(context.WithoutCancel(ctx)))
	}
	at, err := CheckoutOf(dir)
	t.own = at.Own
	if err == nil {
		err = t.files(ctx, toHead)
	}
	if err != nil {
		return "", nil, errors.Join(t.noRoom(err), remove(context.WithoutCancel(ctx)))
	}
	return dir, remove, nil
}
