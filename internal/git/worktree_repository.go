package git

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/visible"
)

// worktreeRepo is a repository with work trees of workers.
type worktreeRepo struct {
	git    Client
	common string // git's directory shared by all work trees
	trees  string // directory of ours
	store  string // as in WorktreeOptions.Store
	onto   string
	leave  Leave
}

// oldest is the first version of git that merges without a work tree.
var oldest = [2]int{2, 38}

// CheckWorktrees reports what would make PrepareWorktree fail in the repository, as far as that
// does not depend on the issue. It changes nothing; if commits are signed, git signs something.
func CheckWorktrees(ctx context.Context, o WorktreeOptions) error {
	r, err := open(ctx, o)
	if err != nil {
		return err
	}
	said, err := r.git.Must(ctx, "version")
	if err != nil {
		return err
	}
	var has [2]int
	if _, err := fmt.Sscanf(said, "git version %d.%d", &has[0], &has[1]); err == nil && slices.Compare(has[:], oldest[:]) < 0 {
		return &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("%s is too old: workers' work trees need git %d.%d", said, oldest[0], oldest[1]), Hint: "install a newer git"}
	}
	if err := r.mayWrite(); err != nil {
		return err
	}
	now, err := r.list(ctx, append(above(r.onto), r.onto)...)
	if err == nil {
		err = r.mayLand(now)
	}
	if err == nil {
		err = r.mayName(now)
	}
	tip := now.heads[r.onto]
	if err == nil && tip == "" {
		tip, err = r.head(ctx)
	}
	if err != nil {
		return err
	}
	if signs, err := signs(ctx, r.git); err != nil || !signs {
		return err
	}
	_, err = (&Worktree{Dir: r.git.Dir, repo: r}).commitTree(ctx, tip+"^{tree}", "nothing, to see whether git signs", nil)
	return err
}

// mayWrite refuses a repository in which no branch or work tree can be created.
func (r *worktreeRepo) mayWrite() error {
	probe, err := os.CreateTemp(r.common, "stig-probe-")
	if err != nil {
		return &fault.Error{Code: fault.Store, Reason: r.common + ": is not writable, and work trees need that",
			Hint: "make it writable; stig work runs without work trees if the actor's file says worktree: false", Err: err}
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// above are the names that are parents of a branch name.
func above(branch string) (names []string) {
	for i, c := range branch {
		if c == '/' {
			names = append(names, branch[:i])
		}
	}
	return names
}

// mayName refuses a new branch whose name is a directory for git, or below another branch.
func (r *worktreeRepo) mayName(now repoState) error {
	if now.heads[r.onto] != "" {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(now.heads)) {
		if strings.HasPrefix(r.onto, name+"/") || strings.HasPrefix(name, r.onto+"/") {
			return &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("--onto: there cannot be a branch %s beside the branch %s", r.onto, name),
				Hint: "name another branch with --onto, such as stig-results"}
		}
	}
	return nil
}

func open(ctx context.Context, o WorktreeOptions) (*worktreeRepo, error) {
	env := slices.DeleteFunc(slices.Clone(o.Git.Env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(PlaceVariables, name)
	})
	// setup fetches LFS files, and says that this may take long
	r := &worktreeRepo{git: Client{Dir: o.Root, Env: append(env, "GIT_LFS_SKIP_SMUDGE=1"), Trusted: true}, onto: o.Onto, store: strings.Trim(o.Store, "/"), leave: o.Leave}
	if r.onto == "" {
		r.onto = WorkBranch
	}
	if r.store == "." {
		r.store = ""
	}
	var err error
	if r.common, err = commonOf(ctx, o, r.git); err != nil {
		return nil, err
	}
	name := filepath.Base(r.common)
	if name == ".git" {
		name = filepath.Base(filepath.Dir(r.common))
	}
	sum := sha256.Sum256([]byte(r.common))
	r.trees = filepath.Join(RealPath(o.Dir), name+"-"+hex.EncodeToString(sum[:4]))
	return r, r.checkName(ctx)
}

// commonOf is git's directory shared by all work trees of the repository.
func commonOf(ctx context.Context, o WorktreeOptions, client Client) (string, error) {
	if o.Common != "" {
		return RealPath(o.Common), nil
	}
	result, err := client.Run(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err == nil {
		err = Foreign(result)
	}
	if err == nil && result.Exit != 0 {
		err = &fault.Error{Code: fault.Usage, Reason: o.Root + ": is not in a git repository", Hint: "type git init"}
	}
	return RealPath(filepath.FromSlash(strings.TrimSpace(string(result.Stdout)))), err
}

// checkName refuses invalid branch names, and names with another meaning for git.
func (r *worktreeRepo) checkName(ctx context.Context) error {
	if r.onto == WorkBranch {
		return nil
	}
	result, err := r.git.Run(ctx, "check-ref-format", "--branch", r.onto)
	if err == nil && (result.Exit != 0 || strings.TrimSpace(string(result.Stdout)) != r.onto) {
		err = &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("%q: is not a valid branch name", r.onto), Hint: "type --onto " + WorkBranch}
	}
	return err
}

// repoState is the current state of a repository.
type repoState struct {
	places places
	heads  map[string]string // commits of branches by name; "" for none
}

// look reads the requested branches, and the work trees.
func (r *worktreeRepo) look(ctx context.Context, branches ...string) (now repoState, err error) {
	now.heads = map[string]string{}
	for _, name := range append(branches, namespace) {
		if now.heads[name], err = r.branch(ctx, name); err != nil {
			return now, err
		}
	}
	now.places, err = r.places(ctx, branches...)
	return now, err
}

// list is look for all branches with one of those prefixes; it asks git, which reports why it
// cannot read the repository.
func (r *worktreeRepo) list(ctx context.Context, branches ...string) (now repoState, err error) {
	argv := []string{"for-each-ref", "--format=%(objectname) %(refname)"}
	for _, name := range append(branches, namespace) {
		argv = append(argv, "refs/heads/"+name)
	}
	listed, err := r.git.Must(ctx, argv...)
	if err != nil {
		return now, err
	}
	now.heads = map[string]string{}
	for line := range strings.Lines(listed) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		now.heads[strings.TrimPrefix(name, "refs/heads/")] = commit
	}
	now.places, err = r.places(ctx, branches...)
	return now, err
}

// begin returns the tip of Onto, which it creates from HEAD if necessary.
func (r *worktreeRepo) begin(ctx context.Context, now repoState) (string, error) {
	if err := r.mayLand(now); err != nil {
		return "", err
	}
	if tip := now.heads[r.onto]; tip != "" {
		return tip, nil
	}
	head, err := r.head(ctx)
	if err != nil {
		return "", err
	}
	return r.advance(ctx, "stig: begin", strings.Repeat("0", len(head)), head)
}

// advance moves Onto from one commit to another, and returns its commit: of several loops that
// do so at once the first wins.
func (r *worktreeRepo) advance(ctx context.Context, why, from, to string) (string, error) {
	_, moved := r.git.Must(ctx, "update-ref", "-m", why, "refs/heads/"+r.onto, to, from)
	tip, err := r.branch(ctx, r.onto)
	if err == nil && (tip == "" || tip == from) {
		err = moved
	}
	return tip, err
}

// BeginWork prepares Onto for a loop: it creates it from HEAD if necessary. If it is WorkBranch
// and has nothing that HEAD lacks, it moves to HEAD, so that work does not start from old code;
// a branch named by a person moves by landing only. It returns the number of commits of HEAD
// that Onto lacks, without those that change only the store, which no work tree contains. It
// removes what older versions left in the repository's configuration.
func BeginWork(ctx context.Context, o WorktreeOptions) (behind int, err error) {
	r, err := open(ctx, o)
	if err != nil {
		return 0, err
	}
	if err := r.undoOwnSettings(ctx); err != nil {
		return 0, err
	}
	now, err := r.look(ctx, r.onto)
	if err != nil {
		return 0, err
	}
	tip, err := r.begin(ctx, now)
	if err != nil {
		return 0, err
	}
	head, err := r.head(ctx)
	if err != nil {
		return 0, nil // on a branch without a commit
	}
	if merged, err := r.descends(ctx, head, tip); err != nil {
		return 0, err
	} else if merged && r.onto == WorkBranch && head != tip {
		_, err = r.advance(ctx, "stig: begin at HEAD", tip, head)
		return 0, err
	}
	if head == tip {
		return 0, nil
	}
	return r.git.Ahead(ctx, tip, head, r.store)
}

// head is HEAD's commit.
func (r *worktreeRepo) head(ctx context.Context) (string, error) {
	if at, err := CheckoutOf(r.git.Dir); err == nil && RealPath(at.Common) == r.common {
		if _, commit := at.Head(); IsHash(commit) {
			return commit, nil
		}
	}
	result, err := r.git.Run(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if err == nil && result.Exit != 0 {
		err = &fault.Error{Code: fault.Usage, Reason: r.git.Dir + ": has no commit yet", Hint: "type git commit --allow-empty -m begin"}
	}
	return strings.TrimSpace(string(result.Stdout)), err
}

// mayLand returns why results cannot go to Onto: it is checked out, so that its files would no
// longer match, or its name leaves no room for stig/ISSUE.
func (r *worktreeRepo) mayLand(now repoState) error {
	if r.onto == namespace {
		return &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("branch %s: leaves no room for branches %s/ISSUE", r.onto, namespace), Hint: "type --onto " + WorkBranch}
	}
	if now.heads[namespace] != "" {
		return &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("branch %s: leaves no room for branches %s/ISSUE", namespace, namespace),
			Hint: fmt.Sprintf("type git branch -m %s NAME", namespace)}
	}
	if at, found := now.places.of(r.onto); found {
		return checkedOut(r.onto, at, ", or name another branch with --onto")
	}
	return nil
}

func checkedOut(branch string, at place, or string) error {
	hint := fmt.Sprintf("type git -C %s switch --detach%s", visible.Quoted(at.dir), or)
	if doing := Busy(at.own); doing != "" {
		hint = fmt.Sprintf("finish the %s there%s; git -C %s status says how", doing, or, visible.Quoted(at.dir))
	}
	return &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("branch %s: is checked out in %s", branch, at.dir), Hint: hint}
}

// branch is the commit of a branch, "" for none. If git keeps it in files, git is not started.
func (r *worktreeRepo) branch(ctx context.Context, name string) (string, error) {
	if commit, known := (Checkout{Common: r.common}).Ref("refs/heads/" + name); known {
		return commit, nil
	}
	result, err := r.git.Run(ctx, "rev-parse", "--quiet", "--verify", "refs/heads/"+name+"^{commit}")
	return strings.TrimSpace(string(result.Stdout)), err
}

// base is a merge base of both, "" for none.
func (r *worktreeRepo) base(ctx context.Context, a, b string) (string, error) {
	if a == b {
		return a, nil
	}
	result, err := r.git.Run(ctx, "merge-base", a, b)
	return strings.TrimSpace(string(result.Stdout)), err
}

// descends reports whether a commit is another or its descendant.
func (r *worktreeRepo) descends(ctx context.Context, commit, from string) (bool, error) {
	if commit == from { // as after a run that committed nothing, and after each landing
		return true, nil
	}
	result, err := r.git.Run(ctx, "merge-base", "--is-ancestor", from, commit)
	return err == nil && result.Exit == 0, err
}

// alone runs git while no other loop of the clone does so: git does not support concurrent
// creation of work trees.
func (r *worktreeRepo) alone(ctx context.Context, argv ...string) (err error) {
	dir := filepath.Join(r.common, "stig")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := file.LockUntil(ctx, filepath.Join(dir, "worktrees.lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	_, err = r.git.Must(ctx, argv...)
	return err
}

// forget removes a work tree with all its content, whether it exists or not.
func (r *worktreeRepo) forget(ctx context.Context, dir string) error {
	result, err := r.git.Run(ctx, "worktree", "remove", "--force", "--force", dir)
	if err != nil || result.Exit == 0 || strings.Contains(string(result.Stderr), "is not a working tree") {
		return err
	}
	return fmt.Errorf("git worktree remove: exit %d: %s", result.Exit, strings.TrimSpace(string(result.Stderr)))
}

// note is stored in git's directory of a completed work tree.
type note struct {
	Issue  string `json:"issue"`
	Branch string `json:"branch"`
	Upon   string `json:"upon,omitempty"` // see Worktree.upon
}

const noteFile = "stig-tree.json"

func readNote(own string) (n note, there bool) {
	text, err := os.ReadFile(filepath.Join(own, noteFile))
	return n, err == nil && json.Unmarshal(text, &n) == nil
}

// place is any work tree of the repository.
type place struct {
	note
	dir     string
	own     string // git's directory of it
	current string // branch checked out or being rebased there; "" for none
	ready   bool   // it has a note
}

type places []place

// places lists the work trees of the repository, as far as needed for these branches.
func (r *worktreeRepo) places(ctx context.Context, branches ...string) (all places, err error) {
	if all, known := r.placesInFiles(branches); known {
		return all, nil
	}
	listed, err := r.git.Must(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	own := ownDirectories(r.common)
	for line := range strings.Lines(listed + "\n") {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "worktree":
			p := place{dir: filepath.FromSlash(value)}
			if p.own = own[p.dir]; p.own == "" {
				p.own = r.common // of the main one
			}
			all = append(all, p.read())
		case key == "branch" && len(all) > 0:
			all[len(all)-1].current = strings.TrimPrefix(value, "refs/heads/")
		}
	}
	return all, nil
}

// placesInFiles is places without git; known says whether that is enough: not if the main work
// tree seems to have one of the branches, since a bare repository has HEAD too.
func (r *worktreeRepo) placesInFiles(branches []string) (all places, known bool) {
	all = places{{dir: strings.TrimSuffix(r.common, string(filepath.Separator)+".git"), own: r.common}}
	own := ownDirectories(r.common)
	for _, dir := range slices.Sorted(maps.Keys(own)) {
		all = append(all, place{dir: dir, own: own[dir]})
	}
	for i, p := range all {
		branch, commit := Checkout{Own: p.own, Common: r.common}.Head()
		if branch == "" && !IsHash(commit) || branch == ".invalid" { // as when references are not in files
			return nil, false
		}
		all[i] = p.read()
		all[i].current = cmp.Or(branch, all[i].current)
	}
	return all, !slices.Contains(branches, all[0].current)
}

// read adds what git's directory of a work tree says, except for its HEAD.
func (p place) read() place {
	p.note, p.ready = readNote(p.own)
	p.current = Checkout{Own: p.own}.Rebasing()
	return p
}

// ownDirectories maps the tops of linked work trees to git's directories of them.
func ownDirectories(common string) map[string]string {
	own := map[string]string{}
	all := filepath.Join(common, "worktrees")
	entries, _ := os.ReadDir(all) // filepath.Glob takes a path with [ for a pattern
	for _, entry := range entries {
		link := filepath.Join(all, entry.Name(), "gitdir")
		if text, err := os.ReadFile(link); err == nil {
			dir := strings.TrimSpace(string(text))
			dir = file.Under(filepath.Dir(link), dir)
			own[filepath.Dir(filepath.FromSlash(dir))] = filepath.Dir(link)
		}
	}
	return own
}

// of finds where a branch is checked out.
func (all places) of(branch string) (place, bool) {
	i := slices.IndexFunc(all, func(p place) bool { return p.current == branch })
	if i < 0 {
		return place{}, false
	}
	return all[i], true
}

// ofTree finds the work tree of an issue: by its note or, if it is incomplete, by its place.
func (all places) ofTree(t *Worktree) (place, bool) {
	i := slices.IndexFunc(all, func(p place) bool {
		return p.ready && p.Branch == t.Branch || !p.ready && p.dir == t.Dir
	})
	if i < 0 {
		return place{}, false
	}
	return all[i], true
}
