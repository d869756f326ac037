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

// WorkBranch is the branch that results go to where no other is named.
const WorkBranch = "stig/work"

// WorktreeOptions say where work trees go and what they come from.
type WorktreeOptions struct {
	Git   Client // of which the environment counts
	Root  string // a directory in the repository
	Dir   string // that gets the work trees, each repository in a directory of its own
	Store string // path of the store's directory in the repository, with slashes; work trees leave it out; "" for none
	Onto  string // the branch that results go to; "" is WorkBranch

	Common string // git's directory of all work trees of the repository; "" has git asked

	Leave Leave // new files that are no work
}

// Worktree is the work tree and the branch of one issue.
type Worktree struct {
	Issue  string
	Dir    string // top of the work tree
	Branch string // such as stig/harbor-9fd.3
	Base   string // commit that the branch and Onto had in common when the tree was prepared
	Head   string // commit of the branch when the tree was prepared or listed
	Tip    string // commit of Onto when the tree was prepared; "" where it was listed
	New    bool   // it was made, and holds what Head has and nothing else

	LeftOut []LeftOut // what the last Commit left out

	repo  *worktreeRepo
	own   string // git's directory of the work tree
	ready bool   // it was made to the end
	tip   string // what Merge gave; "" before
	from  string // where Onto was then

	unnamed bool // git knows nobody to commit as
}

// PrepareWorktree gives the work tree of an issue. There is one at most: if it exists it is
// given as it is, with the work in it. A new one holds the branch stig/ISSUE, which starts
// at the tip of Onto, which is made from HEAD if it does not exist. An existing branch of
// that name is continued, if it has a commit in common with Onto.
//
// The work tree is locked, so that git does not prune it. Submodules and files of LFS
// are not fetched. Nothing is left behind where it cannot be made.
func PrepareWorktree(ctx context.Context, o WorktreeOptions, issue string) (*Worktree, error) {
	r, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	t := &Worktree{Issue: issue, Branch: BranchOf(issue, r.onto), repo: r}
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
		t.Dir, t.own, t.ready = at.dir, at.own, true
		return t, t.resume(ctx, tip)
	}
	if found { // removed by hand, or not made, removed or put back to the end: nothing of worth is in it
		err = r.forget(ctx, at.dir)
	} else if at, found := now.places.of(t.Branch); found {
		err = checkedOut(t.Branch, at, "")
	}
	if err == nil {
		err = t.make(ctx, tip)
	}
	return t, err
}

// since sets where the branch is, and what it has in common with Onto.
func (t *Worktree) since(ctx context.Context, head, tip string) (err error) {
	t.Head, t.Base, t.Tip = head, head, tip
	if head != tip && tip != "" {
		t.Base, err = t.repo.base(ctx, head, tip)
	}
	return err
}

// resume makes sure that an existing work tree can be worked in. A branch without work of
// its own moves to the tip of Onto.
func (t *Worktree) resume(ctx context.Context, tip string) error {
	if !t.linked() { // git ends with 1 where the link was gone, and has made it
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
	return t.since(ctx, tip, tip)
}

// branchAgain makes the branch of a work tree again that somebody removed, where HEAD is at
// a commit and on no branch: it may be the only name that the work had. Else the error
// says where the work is.
func (t *Worktree) branchAgain(ctx context.Context, s status) error {
	anew := "; to begin anew, type git worktree remove -f -f " + visible.Quoted(t.Dir)
	switch {
	case s.head == "(initial)":
		return &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("branch %s: was removed, and is checked out in %s", t.Branch, t.Dir),
			Hint: "name the commit to go on from: git branch " + t.Branch + " COMMIT" + anew}
	case s.branch != "":
		return &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("branch %s: was removed, and %s is on %s", t.Branch, t.Dir, s.branch),
			Hint: "to go on from there, type git branch " + t.Branch + " " + s.head + anew}
	}
	if _, err := t.repo.git.Must(ctx, "update-ref", "-m", "stig: made again", "refs/heads/"+t.Branch, s.head, ""); err != nil {
		return err
	}
	t.Head = s.head
	return nil
}

// repairIndex makes an index anew that git cannot read, as one may be after the machine went
// down, and reports whether it did: with what HEAD has. No file of the work tree changes.
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

// reason is why the work tree is locked, so that git does not prune it.
func (t *Worktree) reason() string { return "stig: work on " + t.Issue }

// lockAge is how long a git that runs may hold a lock of a work tree of ours.
const lockAge = 2 * time.Second

// breakLocks removes the locks of a git that was killed, alone or with the machine, which
// would block others. Nobody but the caller works in the tree.
func (t *Worktree) breakLocks(ctx context.Context) error {
	return breakLocks(ctx, filepath.Join(t.own, "index.lock"), filepath.Join(t.own, "HEAD.lock"), t.repo.lockOf(t.Branch))
}

// lockOf is the file by which git keeps others from a branch.
func (r *worktreeRepo) lockOf(branch string) string {
	return filepath.Join(r.common, "refs", "heads", filepath.FromSlash(branch)+".lock")
}

// breakLocks removes files by which a git that was killed keeps others from something.
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

// make makes the work tree, and the branch where there is none.
func (t *Worktree) make(ctx context.Context, tip string) error {
	if left, err := os.ReadDir(t.Dir); len(left) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &fault.Error{Code: fault.Conflict, Reason: t.Dir + ": is there and is no work tree of this repository", Hint: "move it away", Err: err}
	}
	if err := os.MkdirAll(filepath.Dir(t.Dir), 0o700); err != nil {
		return t.noRoom(err)
	}
	old := t.Head
	add := []string{"worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", t.reason()}
	if old == "" {
		add = append(add, "--detach", t.Dir, tip) // fill makes the branch
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

// adopts says why an existing branch cannot be that of the issue.
func (t *Worktree) adopts(ctx context.Context, branch, tip string) error {
	base, err := t.repo.base(ctx, branch, tip)
	if err == nil && base == "" {
		err = &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("branch %s: is there and has no commit in common with %s", t.Branch, t.repo.onto),
			Hint: fmt.Sprintf("type git branch -m %s NAME", t.Branch)}
	}
	return err
}

// fill puts the files into a new work tree, but for the store's, and makes the branch
// at tip where there is none.
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
	text, err := json.Marshal(note{Issue: t.Issue, Branch: t.Branch})
	if err == nil {
		err = os.WriteFile(filepath.Join(t.own, noteFile), append(text, '\n'), 0o600)
	}
	return err
}

// toHead has git put the files of HEAD into a work tree without any.
var toHead = []string{"read-tree", "--reset", "-u", "HEAD"}

// files checks out all but the store's, with the command that is given.
func (t *Worktree) files(ctx context.Context, take []string) error {
	if err := t.leaveOut(); err != nil {
		return err
	}
	_, err := t.git().Must(ctx, append([]string{"-c", "submodule.recurse=false"}, take...)...)
	return err
}

// undo removes what is there of a work tree that could not be made.
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

// noRoom says of an error that there is no room on the disk, if that is it: git does not
// always say so.
func (t *Worktree) noRoom(err error) error {
	probe := filepath.Join(t.Dir, ".stig-probe")
	full := os.WriteFile(probe, make([]byte, 1<<16), 0o600)
	_ = os.Remove(probe)
	if errors.Is(full, syscall.ENOSPC) || errors.Is(full, syscall.EDQUOT) || strings.Contains(strings.ToLower(err.Error()), "no space left on device") {
		return &fault.Error{Code: fault.Store, Reason: t.Dir + ": no space left for a work tree", Hint: "free space there and try again", Err: err}
	}
	return err
}

// pattern is a path as git's patterns of files name it.
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

// Worktrees gives the work trees of the repository that PrepareWorktree made, by their directories,
// without Base. One that was not made or removed to the end has no Issue, and can be
// removed; one whose branch is gone has no Head.
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
			continue // of somebody else
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

// Ahead reports whether the branch had commits at Head that Onto lacks.
func (t *Worktree) Ahead(ctx context.Context) (bool, error) {
	tip, err := t.repo.branch(ctx, t.repo.onto)
	if err != nil || t.Head == "" {
		return false, err
	}
	merged, err := t.repo.descends(ctx, tip, t.Head)
	return tip != "" && !merged, err
}

// WorktreeAt gives the directory of the work tree that has a branch checked out; "" for none.
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

// longestName is how many bytes of a branch or directory are the issue's id: a file
// system takes 255, of which git wants some for its locks.
const longestName = 150

// namespace is where the branches of issues are.
const namespace = "stig"

// BranchOf names the branch of an issue whose results go to the branch onto. Ids that git
// does not take as they are, that hold a slash, or that give onto are written with %XX;
// two ids never have one branch.
func BranchOf(issue, onto string) string {
	name := Escaped(issue)
	branch := namespace + "/" + name
	if branch == onto || strings.HasPrefix(onto, branch+"/") {
		branch = fmt.Sprintf("%s/%%%02X%s", namespace, name[0], name[1:])
	}
	return branch
}

// Escaped writes what git does not take in names of branches, or file systems do not in
// those of files, as %XX.
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

// dirOf is where the work tree of a branch lies unless it was moved.
func (r *worktreeRepo) dirOf(branch string) string {
	return filepath.Join(r.trees, strings.TrimPrefix(branch, namespace+"/"))
}
