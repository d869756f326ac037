package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
)

// Step is a change to reapply on another commit: the difference between two.
type Step struct {
	From, To string
	Of       string // its name in conflicts
	Message  string // of its commit
}

// delivery makes commits that no branch has yet. git eventually removes unused objects.
func (r *worktreeRepo) delivery(branch, onto string) *Worktree {
	own := *r
	own.onto = onto
	return &Worktree{Dir: r.git.Dir, Branch: branch, own: r.common, repo: &own}
}

// Joined returns a commit that contains head and tip, with head's store: tip itself if that is
// the result. onto is head's name. The error is a *RejectedError for conflicts. No branch and
// no file changes.
func Joined(ctx context.Context, o WorktreeOptions, head, onto, tip string) (string, error) {
	return JoinedBeyond(ctx, o, head, onto, tip, "")
}

// JoinedBeyond is Joined for a tip that is built upon a request, whose last commit in it is upon:
// if head has that request in another form, only the work after it is merged.
func JoinedBeyond(ctx context.Context, o WorktreeOptions, head, onto, tip, upon string) (string, error) {
	r, err := open(ctx, o)
	if err != nil {
		return "", err
	}
	t := r.delivery(r.onto, onto)
	t.upon = upon
	return t.combine(ctx, tip, head)
}

// Picked returns a commit with the changes of steps applied to a commit, in order; that commit
// itself if they change nothing. The error is a *RejectedError if one does not apply. No branch
// and no file changes.
func Picked(ctx context.Context, o WorktreeOptions, head, onto string, steps []Step) (string, error) {
	r, err := open(ctx, o)
	for _, s := range steps {
		if err == nil {
			head, err = r.delivery(s.Of, onto).pick(ctx, head, s)
		}
	}
	return head, err
}

// pick applies a change to a commit.
func (t *Worktree) pick(ctx context.Context, head string, s Step) (string, error) {
	tree, err := t.mergeSince(ctx, s.From, s.To, head)
	if err == nil {
		tree, _, err = t.withStore(ctx, tree, head)
	}
	if err != nil {
		return "", err
	}
	if names, err := t.git().Names(ctx, head+"^{tree}"); err != nil || names[0] == tree {
		return head, err
	}
	return t.commitTree(ctx, tree, strings.TrimSpace(s.Message), []string{head})
}

// Standing is the state of a person's checkout.
type Standing struct {
	Branch string // "" if HEAD is detached
	Head   string
	Doing  string   // an unfinished git operation; "" for none
	Dirty  []string // tracked files that differ from HEAD, without the store
}

// StandingOf returns the state of the checkout at o.Root.
func StandingOf(ctx context.Context, o WorktreeOptions) (s Standing, err error) {
	r, err := open(ctx, o)
	if err != nil {
		return s, err
	}
	at, err := CheckoutOf(o.Root)
	if err != nil {
		return s, err
	}
	s.Doing = Busy(at.Own)
	lines, err := r.git.Status(ctx)
	for line := range strings.SplitSeq(lines, "\x00") {
		if head, ok := strings.CutPrefix(line, "# branch.oid "); ok && IsHash(head) {
			s.Head = head
		} else if branch, ok := strings.CutPrefix(line, "# branch.head "); ok && branch != "(detached)" {
			s.Branch = branch
		}
		if path := ChangedPath(line); path != "" && line[0] != '?' && !r.isStore(path) {
			s.Dirty = append(s.Dirty, path)
		}
	}
	return s, err
}

// Forward moves branch and files of the checkout at o.Root to a descendant commit, as git merge
// --ff-only does.
func Forward(ctx context.Context, o WorktreeOptions, commit string) error {
	r, err := open(ctx, o)
	if err != nil {
		return err
	}
	result, err := r.git.Perform(ctx, nil, nil, "-c", noUpkeep, "merge", "--quiet", "--ff-only", commit)
	if err == nil && result.Exit != 0 {
		said := rejected("git merge --ff-only", result)
		err = &fault.Error{Code: fault.Conflict, Reason: o.Root + ": the checkout cannot move forward: " + visible.OneLine(said.Tail), Hint: "nothing was changed; see git status"}
	}
	return err
}

// MoveOnto moves Onto from one commit to another that contains it, unless it is checked out.
func MoveOnto(ctx context.Context, o WorktreeOptions, why, from, to string) error {
	r, err := open(ctx, o)
	if err != nil {
		return err
	}
	now, err := r.look(ctx, r.onto)
	if err == nil {
		err = r.mayLand(now)
	}
	if err == nil {
		_, err = r.git.Must(ctx, "update-ref", "-m", "stig: "+why, "refs/heads/"+r.onto, to, from)
	}
	return err
}

// LandedSteps returns the changes for an issue in a commit's history as steps that revert them,
// last first; none if no message there names the issue. It refuses (fault.Refused) a commit
// that was also made for other issues. It omits what was reverted already.
func LandedSteps(ctx context.Context, o WorktreeOptions, head, issue string) (steps []Step, err error) {
	r, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	list, err := r.commits(ctx, "--fixed-strings", "--grep="+issue, head)
	if err != nil {
		return nil, err
	}
	undone, err := r.commits(ctx, "--fixed-strings", "--grep="+revertOf, head)
	if err != nil {
		return nil, err
	}
	within := map[string]bool{} // what a later merge for the issue brought
	for i := len(list) - 1; i >= 0; i-- {
		c := list[i]
		about := issuesIn(c.message)
		if len(c.parents) == 0 || within[c.hash] || !contains(about, issue) || isUndone(undone, c.hash) {
			continue
		}
		if !contains(about, issue, issue) {
			return nil, &fault.Error{Code: fault.Refused, Reason: fmt.Sprintf("%s: commit %.12s has its work together with that for others", issue, c.hash), Hint: "revert it by hand: git revert " + c.hash[:12] + " reverts all of it"}
		}
		if len(c.parents) > 1 {
			inner, err := r.commits(ctx, c.parents[0]+".."+c.hash)
			if err != nil {
				return nil, err
			}
			for _, one := range inner {
				within[one.hash] = true
			}
		}
		steps = append(steps, Step{From: c.hash, To: c.parents[0], Of: fmt.Sprintf("%.12s", c.hash)})
	}
	return steps, nil
}

// revertOf begins the line in which git and stig name a reverted commit.
const revertOf = "This reverts commit "

func isUndone(undone []commit, hash string) bool {
	for _, c := range undone {
		if strings.Contains(c.message, revertOf+hash) {
			return true
		}
	}
	return false
}

// Reverts are the commits of a branch that reverted others, and those that undid that, as their
// messages say.
type Reverts struct {
	repo   *worktreeRepo
	branch string
	list   []Revert
	read   map[string]target
}

// Revert is a commit that reverts another one.
type Revert struct {
	Commit  string
	Subject string

	of      string // the commit that it names; "" for none
	message string
	titled  bool // its subject says so, as git and forges write it
	again   bool // and that it undoes a revert
}

// target is a commit that a message names.
type target struct {
	commit
	known bool   // a shallow clone may lack it
	store string // what it changed in the store
}

// Reverts reads the messages of the last commits of a branch that revert or reapply others.
func (g Client) Reverts(ctx context.Context, branch string) (*Reverts, error) {
	r := &Reverts{repo: &worktreeRepo{git: g}, branch: branch, read: map[string]target{}}
	list, err := r.repo.commits(ctx, "--max-count="+strconv.Itoa(mostLooked), "--regexp-ignore-case", "--grep=revert", "--grep=reapply", branch)
	for _, c := range list {
		_, of, _ := strings.Cut(c.message, revertOf)
		of, _, _ = strings.Cut(of, "\n")
		of = strings.TrimRight(strings.Fields(of + " .")[0], ".,;")
		one := Revert{Commit: c.hash, of: of, message: c.message}
		one.Subject, _, _ = strings.Cut(c.message, "\n")
		for rest, ok := one.Subject, true; ok; one.titled = one.titled || ok {
			if rest, ok = strings.CutPrefix(rest, `Revert "`); ok {
				one.again = !one.again
			} else {
				rest, ok = strings.CutPrefix(rest, `Reapply "`)
			}
		}
		if one.again = one.titled && !one.again; one.titled || IsHash(of) {
			r.list = append(r.list, one)
		}
	}
	return r, err
}

// Of returns the last commit that reverted some work, or a part of it, and was not undone itself;
// the zero value for none.
func (r *Reverts) Of(ctx context.Context, w Work) (by Revert, err error) {
	var standing []Revert
	undoes := map[string]bool{} // commits about the work: whether each undoes a revert
	for _, c := range r.list {
		undo, known := undoes[c.of]
		if undo = !undo; !known {
			part, err := r.isPart(ctx, c.of, w)
			if err != nil {
				return Revert{}, err
			}
			if undo = c.again && !part; !part && (!c.titled || !namesIssue(c.message, w.Issue) && !revertsRequest(c.message, w.Request)) {
				continue
			}
		}
		undoes[c.Commit] = undo
		switch before, err := r.isBefore(ctx, c.Commit, w.Since); {
		case err != nil:
			return Revert{}, err
		case before: // the work was done over after that
		case !undo:
			standing = append(standing, c)
		case known:
			standing = slices.DeleteFunc(standing, func(one Revert) bool { return one.Commit == c.of })
		case len(standing) > 0:
			standing = standing[:len(standing)-1]
		}
	}
	if len(standing) > 0 {
		by = standing[len(standing)-1]
	}
	return by, nil
}

// isBefore reports whether a commit is another one or before it, which may be "".
func (r *Reverts) isBefore(ctx context.Context, commit, other string) (bool, error) {
	if other == "" {
		return false, nil
	}
	return r.repo.descends(ctx, other, commit)
}

// isPart reports whether a commit is part of work: it is known as such, its message names the
// issue, it brought w.Commit, or it closed the issue in the store.
func (r *Reverts) isPart(ctx context.Context, hash string, w Work) (bool, error) {
	if !IsHash(hash) {
		return false, nil
	}
	of, err := r.target(ctx, hash, w.Store)
	switch {
	case err != nil || !of.known:
		return false, err
	case slices.Contains(w.Landed, hash) || namesIssue(of.message, w.Issue):
		return true, nil
	}
	closed := 0
	for line := range strings.Lines(of.store) {
		if strings.Contains(line, `"`+w.Issue+`"`) && strings.Contains(line, `"closed"`) {
			closed += map[byte]int{'+': 1, '-': -1}[line[0]]
		}
	}
	if closed > 0 || w.Commit == "" {
		return closed > 0, nil
	}
	brought, err := r.repo.git.Must(ctx, "rev-list", "--max-count=1", w.Commit, "--not", of.parents[0])
	if err != nil || brought == "" {
		return false, err
	}
	left, err := r.repo.git.Must(ctx, "rev-list", "--max-count=1", w.Commit, "--not", hash)
	return err == nil && left == "", err
}

// target reads a commit once.
func (r *Reverts) target(ctx context.Context, hash, store string) (t target, err error) {
	if t, ok := r.read[hash]; ok {
		return t, nil
	}
	list, absent := r.repo.commits(ctx, "--max-count=1", hash)
	if t.known = absent == nil && len(list) > 0 && len(list[0].parents) > 0; t.known {
		t.commit = list[0]
		if store != "" {
			t.store, err = r.repo.git.Must(ctx, "diff-tree", "-p", "--unified=0", t.parents[0], hash, "--", store)
		}
	}
	r.read[hash] = t
	return t, err
}

// namesIssue reports whether a message has an id as a word: api-1 is in neither api-12 nor
// api-1.2.
func namesIssue(message, id string) bool {
	if !strings.Contains(message, id) {
		return false
	}
	found, err := regexp.MatchString(`(?:^|[^0-9A-Za-z_.-])`+regexp.QuoteMeta(id)+`(?:$|[^0-9A-Za-z_.-]|\.(?:$|\s))`, message)
	return err == nil && found
}

// revertsRequest reports whether a message reverts a request, as GitHub writes it.
func revertsRequest(message string, number int) bool {
	found, err := regexp.MatchString(fmt.Sprintf(`(?m)^Reverts \S*#%d\s*$`, number), message)
	return err == nil && found
}

// contains reports whether a list has an issue, and with only whether it has no other.
func contains(list []string, issue string, only ...string) bool {
	found := false
	for _, one := range list {
		if one == issue {
			found = true
		} else if len(only) > 0 {
			return false
		}
	}
	return found
}

// DefaultBranch is stig's copy of the remote's default branch, where work goes by review.
const DefaultBranch = namespace + "/default"

// RemoteURL returns the address of a remote, as the configuration of git has it.
func RemoteURL(ctx context.Context, o WorktreeOptions, remote string) (string, error) {
	result, err := Client{Dir: o.Root, Env: o.Git.Env}.Run(ctx, "config", "--get", "remote."+remote+".url")
	if err == nil && result.Exit != 0 {
		err = &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("no remote %q, to which work goes for review", remote), Hint: "type git remote add " + visible.Quoted(remote) + " URL"}
	}
	return strings.TrimSpace(string(result.Stdout)), err
}

// requestSpace begins the names of stig's copies of branches on the forge.
const requestSpace = namespace + "/requests/"

// RequestBranch is stig's copy of an issue's branch on the forge.
func RequestBranch(branch string) string {
	return requestSpace + strings.TrimPrefix(branch, namespace+"/")
}

func isRequestBranch(branch string) bool { return strings.HasPrefix(branch, requestSpace) }

// FetchTo fetches a branch of a remote into a branch here, and returns its commit. As with any
// git fetch, the remote-tracking branch follows: Published reads it.
func FetchTo(ctx context.Context, o WorktreeOptions, remote, branch, into string) (string, error) {
	g := Client{Dir: o.Root, Env: o.Git.Env}
	err := g.accepted(ctx, nil, nil, "-c", noUpkeep, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--", remote,
		"+refs/heads/"+branch+":refs/heads/"+into)
	if err != nil {
		return "", err
	}
	return g.Commit(ctx, "refs/heads/"+into)
}

// RemoteTip returns the commit of a branch at an address; "" for none.
func RemoteTip(ctx context.Context, o WorktreeOptions, address, branch string) (string, error) {
	listed, err := Client{Dir: o.Root, Env: o.Git.Env}.Perform(ctx, nil, nil, "ls-remote", "--quiet", "--", address, "refs/heads/"+branch)
	if err == nil && listed.Exit != 0 {
		err = rejected("git ls-remote", listed)
	}
	tip, _, _ := strings.Cut(string(listed.Stdout), "\t")
	return tip, err
}

// RemoveBranch removes a branch that nobody works on, if there is one.
func RemoveBranch(ctx context.Context, o WorktreeOptions, branch string) error {
	_, err := Client{Dir: o.Root, Env: o.Git.Env}.Must(ctx, "update-ref", "-d", "refs/heads/"+branch)
	return err
}

// Push sends a commit to a branch at an address. It drops no commit there but landed, which is
// on the default branch already ("" for none): if there are others, the error wraps ErrMoved.
func Push(ctx context.Context, o WorktreeOptions, address, branch, commit, landed string) error {
	there, err := RemoteTip(ctx, o, address, branch)
	if err != nil || there == commit {
		return err
	}
	g := Client{Dir: o.Root, Env: o.Git.Env}
	if there != "" && there != landed {
		within, err := g.Run(ctx, "merge-base", "--is-ancestor", there, commit)
		if err != nil {
			return err
		}
		if within.Exit != 0 {
			return moved(branch+" of the forge", there)
		}
	}
	return g.accepted(ctx, nil, nil, "push", "--quiet", "--force-with-lease=refs/heads/"+branch+":"+there, "--", address, commit+":refs/heads/"+branch)
}

// Delivered reports whether work, the commits after base up to commit, is in head, and the
// commits that brought it there, as far as known. Work counts as delivered if it is an
// ancestor of head, or if patches there equal all of its own or its whole; with trailers, also
// if a message there has its trailer and names one of its runs. The trailer of a commit that was
// picked from the work says nothing about the rest of it.
func Delivered(ctx context.Context, o WorktreeOptions, issue, base, commit, head string, trailers bool) (is bool, by []string, err error) {
	r, err := open(ctx, o)
	if err != nil {
		return false, nil, err
	}
	ours, err := r.commits(ctx, base+".."+commit)
	if err != nil {
		return false, nil, err
	}
	u := Unit{From: base, Commit: commit}
	for _, c := range ours {
		if len(c.parents) < 2 {
			u.plain = append(u.plain, c.hash)
		}
		if trailers {
			u.Issue, u.Runs = issue, append(u.Runs, runsIn(c.message)...)
		}
	}
	if is, err := r.descends(ctx, head, commit); err != nil || is {
		by, e := r.mergesOf(ctx, commit, head)
		return is, append(by, u.plain...), errors.Join(err, e)
	}
	theirs, err := r.commits(ctx, "--max-count="+fmt.Sprint(mostLooked), commit+".."+head)
	if err != nil || len(theirs) == 0 || len(u.plain) == 0 {
		return false, nil, err
	}
	if by, err = r.broughtBy(ctx, u, issue, theirs); err != nil {
		return false, nil, err
	}
	left, err := r.unbrought(ctx, []Unit{u}, theirs)
	return err == nil && len(left) == 0, by, err
}

// mergesOf returns the merge that brought a commit to a head; none for a fast-forward.
func (r *worktreeRepo) mergesOf(ctx context.Context, commit, head string) ([]string, error) {
	said, err := r.git.Must(ctx, "rev-list", "--first-parent", "--merges", "--ancestry-path", commit+".."+head)
	list := strings.Fields(said)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	first := list[len(list)-1:]
	before, err := r.descends(ctx, first[0]+"^1", commit)
	if before {
		first = nil
	}
	return first, err
}

// broughtBy returns the commits that have patches of a unit or name its issue. It clears the
// messages of those with the patch of one commit.
func (r *worktreeRepo) broughtBy(ctx context.Context, u Unit, issue string, theirs []commit) (by []string, err error) {
	mine, err := r.patches(ctx, u.plain)
	if err != nil {
		return nil, err
	}
	whole, err := r.patch(ctx, u.From, u.Commit)
	if err != nil {
		return nil, err
	}
	picked := map[string]bool{}
	for _, id := range mine {
		picked[id] = true
	}
	var plain []string
	for _, c := range theirs {
		if len(c.parents) < 2 {
			plain = append(plain, c.hash)
		}
	}
	ids, err := r.patches(ctx, plain)
	for i, c := range theirs {
		id := ids[c.hash]
		if picked[id] || id != "" && id == whole || contains(issuesIn(c.message), issue) {
			by = append(by, c.hash)
		}
		if picked[id] && id != whole {
			theirs[i].message = ""
		}
	}
	return by, err
}

// Conflicts returns the files in which a commit conflicts with another, without the store's.
func Conflicts(ctx context.Context, o WorktreeOptions, commit, onto string) ([]string, error) {
	r, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	_, err = r.delivery(commit, onto).mergeTree(ctx, commit, onto)
	if refused, ok := errors.AsType[*RejectedError](err); ok && len(refused.Files) > 0 {
		return refused.Files, nil
	}
	return nil, err
}

// FetchRequest fetches a commit of a request for review, unless it is here, and reports whether
// it is here then. GitHub and Gitea keep the last commit of a request whose branch was removed.
func FetchRequest(ctx context.Context, o WorktreeOptions, remote string, number int, commit string) (bool, error) {
	g := Client{Dir: o.Root, Env: o.Git.Env}
	here := func() (bool, error) {
		result, err := g.Run(ctx, "cat-file", "-e", commit+"^{commit}")
		return err == nil && result.Exit == 0, err
	}
	if is, err := here(); is || err != nil {
		return is, err
	}
	_, err := g.Perform(ctx, nil, nil, "-c", noUpkeep, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=", "--", remote, fmt.Sprintf("refs/pull/%d/head", number))
	if err != nil {
		return false, err
	}
	return here()
}

// Contains reports whether a commit is another one or contains it.
func Contains(ctx context.Context, o WorktreeOptions, commit, other string) (bool, error) {
	r, err := open(ctx, o)
	if err != nil {
		return false, err
	}
	return r.descends(ctx, commit, other)
}

// IssuesSince returns the issues that messages of commits since a revision name, each once.
func (g Client) IssuesSince(ctx context.Context, revision string) (issues []string, err error) {
	said, err := g.Must(ctx, "log", "-z", "--format=%B", revision+"..HEAD")
	for message := range strings.SplitSeq(said, "\x00") {
		for _, issue := range issuesIn(message) {
			if !slices.Contains(issues, issue) {
				issues = append(issues, issue)
			}
		}
	}
	return issues, err
}
