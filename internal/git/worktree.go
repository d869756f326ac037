package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"stig/internal/fault"
	"stig/internal/visible"
)

// WorkBranch is the default branch for results.
const WorkBranch = "stig/work"

// WorktreeOptions say where work trees are and what they start from.
type WorktreeOptions struct {
	Git   Client // whose environment counts
	Root  string // a directory in the repository
	Dir   string // directory for work trees, with a subdirectory for each repository
	Store string // path of the store's directory in the repository, with slashes; work trees omit it; "" for none
	Onto  string // the branch for results; "" means WorkBranch

	Worker string // with several workers at one issue, whose work tree to prepare; else ""

	Common string // git's directory shared by all work trees; "" has git asked

	Leave Leave // new files that are not work
}

// Worktree is the work tree and the branch of one issue.
type Worktree struct {
	Issue  string
	Dir    string // top of the work tree
	Branch string // such as stig/harbor-9fd.3
	Base   string // merge base of branch and Onto when the tree was prepared
	Head   string // commit of the branch when the tree was prepared or listed
	Tip    string // commit of Onto when the tree was prepared; "" if it was listed
	New    bool   // it is new, and contains exactly Head

	LeftOut []LeftOut // what the last Commit left out

	repo  *worktreeRepo
	own   string // git's directory of the work tree
	ready bool   // it was completed
	upon  string // the last commit of a request's branch that the work was built upon; "" for none
	tip   string // result of Merge; "" before
	from  string // commit of Onto at that time

	unnamed bool // git knows no committer
}

// PrepareWorktree returns the work tree of an issue. There is at most one of each Worker: an
// existing one is returned with the work in it. A new one has the branch stig/ISSUE, or
// stig/ISSUE-WORKER, starting at the tip of Onto, which starts at HEAD if it does not exist. An existing branch of that name is continued
// if it has a common ancestor with Onto.
//
// The work tree is locked against pruning by git. Submodules and LFS files are not fetched. A
// failure leaves nothing behind.
func PrepareWorktree(ctx context.Context, o WorktreeOptions, issue string) (*Worktree, error) {
	r, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	t := &Worktree{Issue: issue, Branch: o.branchOf(issue, r.onto), repo: r}
	t.Dir = r.dirOf(t.Branch)
	release, err := t.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	now, err := r.look(ctx, r.onto, t.Branch)
	if err != nil {
		return nil, err
	}
	tip, err := r.begin(ctx, now)
	if err != nil {
		return nil, err
	}
	t.Head = now.heads[t.Branch]
	at, found := now.places.ofTree(t)
	if found && at.ready && isDir(at.dir) && !isThere(filepath.Join(at.own, keepDir)) {
		t.Dir, t.own, t.ready, t.upon = at.dir, at.own, true, at.Upon
		return t, t.resume(ctx, tip)
	}
	if found { // removed by hand, or creation, removal or restoring was interrupted: nothing valuable is in it
		err = r.forget(ctx, at.dir)
	} else if at, found := now.places.of(t.Branch); found {
		err = checkedOut(t.Branch, at, "")
	}
	if err == nil {
		err = t.make(ctx, tip)
	}
	return t, err
}

// since sets the commit of the branch, and its merge base with Onto.
func (t *Worktree) since(ctx context.Context, head, tip string) (err error) {
	t.Head, t.Base, t.Tip = head, head, tip
	if head != tip && tip != "" {
		t.Base, err = t.repo.base(ctx, head, tip)
	}
	return err
}

// resume makes sure that an existing work tree is usable. A branch without work of its own
// moves to the tip of Onto.
func (t *Worktree) resume(ctx context.Context, tip string) error {
	if !t.linked() { // git ends with 1 if the link was gone, and has restored it
		if _, err := t.repo.git.Must(ctx, "worktree", "repair", t.Dir); err != nil && !t.linked() {
			return err
		}
	}
	if err := t.breakLocks(ctx); err != nil {
		return err
	}
	if !isThere(filepath.Join(t.own, "locked")) {
		if _, err := t.repo.git.Must(ctx, "worktree", "lock", "--reason", t.reason(), t.Dir); err != nil {
			return err
		}
	}
	s, err := t.status(ctx)
	if err != nil && t.repairIndex(ctx) {
		s, err = t.status(ctx)
	}
	if err == nil && (s.store || t.hasStore()) {
		err = t.leaveOutAgain(ctx)
	}
	if err == nil && t.Head == "" {
		err = t.branchAgain(ctx, s)
	}
	if err != nil {
		return err
	}
	if err := t.since(ctx, t.Head, tip); err != nil {
		return err
	}
	if s.branch == "" && s.head == t.Head && Busy(t.own) == "" { // Remove was killed
		err = t.attach(ctx)
	}
	if err != nil || s.dirty || s.head != t.Head || t.Base != t.Head || t.Head == tip {
		return err
	}
	if err := t.forward(ctx, tip); err != nil {
		return err
	}
	if err := t.writeNote(tip); err != nil {
		return err
	}
	return t.since(ctx, tip, tip)
}

// branchAgain recreates the branch of a work tree that somebody deleted, if HEAD is detached:
// the branch may be the only name of the work. Otherwise the error says where the work is.
func (t *Worktree) branchAgain(ctx context.Context, s status) error {
	anew := "; to start over, type git worktree remove -f -f " + visible.Quoted(t.Dir)
	switch {
	case s.head == "(initial)":
		return &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("branch %s: was deleted, and is checked out in %s", t.Branch, t.Dir),
			Hint: "name the commit to continue from: git branch " + t.Branch + " COMMIT" + anew}
	case s.branch != "":
		return &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("branch %s: was deleted, and %s is on %s", t.Branch, t.Dir, s.branch),
			Hint: "to continue from there, type git branch " + t.Branch + " " + s.head + anew}
	}
	if _, err := t.repo.git.Must(ctx, "update-ref", "-m", "stig: made again", "refs/heads/"+t.Branch, s.head, ""); err != nil {
		return err
	}
	t.Head = s.head
	return nil
}

// repairIndex recreates an index that git cannot read, as after a power failure, from HEAD, and
// reports whether it did. No file of the work tree changes.
func (t *Worktree) repairIndex(ctx context.Context) bool {
	if read, err := t.git().Run(ctx, "ls-files", "--", ":(top).git"); err != nil || read.Exit == 0 {
		return false
	}
	err := os.Remove(filepath.Join(t.own, "index"))
	if err == nil {
		_, err = t.git().Must(ctx, "read-tree", "HEAD")
	}
	return err == nil && t.leaveOutAgain(ctx) == nil
}

// linked reports whether the work tree says which directory of git it has.
func (t *Worktree) linked() bool {
	link, err := os.ReadFile(filepath.Join(t.Dir, ".git"))
	return err == nil && strings.TrimSpace(string(link)) == "gitdir: "+filepath.ToSlash(t.own)
}

// reason is the reason for git's lock on the work tree, which prevents pruning.
func (t *Worktree) reason() string { return "stig: work on " + t.Issue }

// lockAge is the maximum age of a lock that a running git holds on our work tree.
const lockAge = 2 * time.Second

// breakLocks removes the locks of a git that was killed, alone or with the machine. Only the
// caller works in the tree.
func (t *Worktree) breakLocks(ctx context.Context) error {
	return breakLocks(ctx, filepath.Join(t.own, "index.lock"), filepath.Join(t.own, "HEAD.lock"), t.repo.lockOf(t.Branch))
}

// lockOf is the file with which git locks a branch.
func (r *worktreeRepo) lockOf(branch string) string {
	return filepath.Join(r.common, "refs", "heads", filepath.FromSlash(branch)+".lock")
}

// breakLocks removes lock files of a git that was killed.
func breakLocks(ctx context.Context, locks ...string) error {
	for _, lock := range locks {
		for over := time.After(lockAge); isThere(lock); {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(lockAge / 20):
			case <-over:
				if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
	}
	return nil
}

// make creates the work tree, and the branch if there is none.
func (t *Worktree) make(ctx context.Context, tip string) error {
	if left, err := os.ReadDir(t.Dir); len(left) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &fault.Error{Code: fault.Conflict, Reason: t.Dir + ": exists and is not a work tree of this repository", Hint: "move it away", Err: err}
	}
	if err := os.MkdirAll(filepath.Dir(t.Dir), 0o700); err != nil {
		return t.noRoom(err)
	}
	old := t.Head
	add := []string{"worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", t.reason()}
	if old == "" {
		add = append(add, "--detach", t.Dir, tip) // fill creates the branch
	} else if err := t.adopts(ctx, old, tip); err != nil {
		return err
	} else {
		add = append(add, t.Dir, t.Branch)
	}
	err := t.repo.alone(ctx, add...)
	if err == nil {
		err = t.fill(ctx, tip)
	}
	if err == nil && old != "" {
		err = t.resume(ctx, tip)
	} else if err == nil {
		err = t.since(ctx, tip, tip)
	}
	if err != nil {
		err = t.noRoom(err)
		return errors.Join(err, t.undo(context.WithoutCancel(ctx), old == "", tip))
	}
	t.ready, t.New = true, old == "" || t.Head == t.Base
	return nil
}

// adopts returns why an existing branch cannot be the issue's.
func (t *Worktree) adopts(ctx context.Context, branch, tip string) error {
	base, err := t.repo.base(ctx, branch, tip)
	if err == nil && base == "" {
		err = &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("branch %s: exists and has no commit in common with %s", t.Branch, t.repo.onto),
			Hint: fmt.Sprintf("type git branch -m %s NAME", t.Branch)}
	}
	return err
}

// fill writes the files into a new work tree, without the store, and creates the branch at tip
// if there is none.
func (t *Worktree) fill(ctx context.Context, tip string) error {
	if t.own = ownDirectories(t.repo.common)[t.Dir]; t.own == "" {
		return fmt.Errorf("%s: git has no work tree there", t.Dir)
	}
	take := toHead
	if t.Head == "" { // git worktree add would start another program for that
		take = []string{"-c", "core.hooksPath=" + os.DevNull, "switch", "--quiet", "--discard-changes", "--no-track", "--create", t.Branch, tip}
	}
	if err := t.files(ctx, take); err != nil {
		return err
	}
	return t.writeNote(tip)
}

// writeNote writes the note of the work tree, which is built upon onto, a commit of Onto.
func (t *Worktree) writeNote(onto string) error {
	if isRequestBranch(t.repo.onto) {
		t.upon = onto
	}
	text, err := json.Marshal(note{Issue: t.Issue, Branch: t.Branch, Upon: t.upon})
	if err == nil {
		err = os.WriteFile(filepath.Join(t.own, noteFile), append(text, '\n'), 0o600)
	}
	return err
}

// GoOnto makes another branch the branch for results.
func (t *Worktree) GoOnto(branch string) { t.repo.onto = branch }

// toHead makes git check HEAD out into an empty work tree.
var toHead = []string{"read-tree", "--reset", "-u", "HEAD"}

// files checks out everything but the store, with the given command.
func (t *Worktree) files(ctx context.Context, take []string) error {
	if err := t.leaveOut(); err != nil {
		return err
	}
	_, err := t.git().Must(ctx, append([]string{"-c", "submodule.recurse=false"}, take...)...)
	return err
}

// undo removes what exists of an incomplete work tree.
func (t *Worktree) undo(ctx context.Context, branch bool, tip string) error {
	err := errors.Join(t.repo.forget(ctx, t.Dir), os.RemoveAll(t.Dir))
	if now, e := t.repo.branch(ctx, t.Branch); branch && e == nil && now == tip {
		_, e = t.repo.git.Must(ctx, "update-ref", "-d", "refs/heads/"+t.Branch, tip)
		err = errors.Join(err, e)
	}
	return err
}

// git is git in the work tree.
func (t *Worktree) git() Client {
	g := t.repo.git
	g.Dir = t.Dir
	if t.repo.store != "" {
		g.Env = append(slices.Clone(g.Env), SparseSettings(g.Env))
	}
	return g
}

// noRoom reports a full disk if that caused an error: git does not always say so.
func (t *Worktree) noRoom(err error) error {
	probe := filepath.Join(t.Dir, ".stig-probe")
	full := os.WriteFile(probe, make([]byte, 1<<16), 0o600)
	_ = os.Remove(probe)
	if errors.Is(full, syscall.ENOSPC) || errors.Is(full, syscall.EDQUOT) || strings.Contains(strings.ToLower(err.Error()), "no space left on device") {
		return &fault.Error{Code: fault.Store, Reason: t.Dir + ": no space left for a work tree", Hint: "free space there and retry", Err: err}
	}
	return err
}

// pattern escapes a path for git's file patterns.
func pattern(path string) string {
	var escaped strings.Builder
	for _, r := range path {
		if strings.ContainsRune(`\*?[]!# `, r) {
			escaped.WriteByte('\\')
		}
		escaped.WriteRune(r)
	}
	return escaped.String()
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Worktrees returns the work trees made by PrepareWorktree, by directory, without Base. One
// whose creation or removal was interrupted has no Issue, and can be removed; one whose branch
// is gone has no Head.
func Worktrees(ctx context.Context, o WorktreeOptions) ([]*Worktree, error) {
	r, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	all, err := r.places(ctx)
	if err != nil {
		return nil, err
	}
	var trees []*Worktree
	for _, at := range all {
		if !at.ready && filepath.Dir(at.dir) != r.trees {
			continue // somebody else's
		}
		own := *r
		t := &Worktree{Issue: at.Issue, Dir: at.dir, Branch: at.Branch, own: at.own, ready: at.ready, repo: &own}
		if !at.ready {
			t.Branch = namespace + "/" + filepath.Base(at.dir)
		} else if t.Head, err = r.branch(ctx, at.Branch); err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	slices.SortFunc(trees, func(a, b *Worktree) int { return strings.Compare(a.Dir, b.Dir) })
	return trees, nil
}

// Ahead reports whether the branch has commits at Head that Onto lacks.
func (t *Worktree) Ahead(ctx context.Context) (bool, error) {
	tip, err := t.repo.branch(ctx, t.repo.onto)
	if err != nil || t.Head == "" {
		return false, err
	}
	merged, err := t.repo.descends(ctx, tip, t.Head)
	return tip != "" && !merged, err
}

// WorktreeAt returns the directory of the work tree that has a branch checked out; "" for none.
func WorktreeAt(ctx context.Context, o WorktreeOptions, branch string) (dir string, err error) {
	trees, err := Worktrees(ctx, o)
	if err != nil {
		return "", err
	}
	for _, t := range trees {
		if t.Branch == branch && isDir(t.Dir) {
			return t.Dir, nil
		}
	}
	return "", nil
}

// longestName limits the issue's id in a branch or directory name, in bytes: a file system
// takes 255, of which git needs some for its locks.
const longestName = 150

// namespace is the prefix of issue branches.
const namespace = "stig"

// BranchOf names the branch of an issue whose results go to the branch onto. Ids that git does
// not accept, that contain a slash, or that equal onto are written with %XX; different ids have
// different branches.
func BranchOf(issue, onto string) string {
	name := Escaped(issue)
	branch := namespace + "/" + name
	if branch == onto || strings.HasPrefix(onto, branch+"/") {
		branch = fmt.Sprintf("%s/%%%02X%s", namespace, name[0], name[1:])
	}
	return branch
}

// branchOf is BranchOf for the worker.
func (o WorktreeOptions) branchOf(issue, onto string) string {
	if o.Worker != "" {
		issue += "-" + o.Worker
	}
	return BranchOf(issue, onto)
}

// IsOfWorker reports whether the work tree is that of one of several workers at its issue.
func (t *Worktree) IsOfWorker() bool {
	return t.Issue != "" && strings.HasPrefix(t.Branch, BranchOf(t.Issue, t.repo.onto)+"-")
}

// Escaped writes characters that git does not accept in branch names, or file systems in file
// names, as %XX.
func Escaped(id string) string {
	var name strings.Builder
	for i := range len(id) {
		c := id[i]
		last := i == len(id)-1
		bad := c <= ' ' || c == 0x7f || strings.IndexByte(`%/\~^:?*[@{"<>|`, c) >= 0
		bad = bad || c == '.' && (i == 0 || last || id[i-1] == '.' || id[i:] == ".lock")
		bad = bad || c == '-' && i == 0
		if bad {
			fmt.Fprintf(&name, "%%%02X", c)
		} else {
			name.WriteByte(c)
		}
	}
	if name.Len() > longestName {
		sum := sha256.Sum256([]byte(id))
		return strings.ToValidUTF8(name.String()[:longestName], "") + "%%" + hex.EncodeToString(sum[:8])
	}
	return name.String()
}

// dirOf is the directory of a branch's work tree unless it was moved.
func (r *worktreeRepo) dirOf(branch string) string {
	return filepath.Join(r.trees, strings.TrimPrefix(branch, namespace+"/"))
}
