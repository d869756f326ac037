package git

import (
	"context"
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
	r, err := open(ctx, o)
	if err != nil {
		return "", err
	}
	return r.delivery(r.onto, onto).combine(ctx, tip, head)
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

// pick merges with From as the base: old versions of git accept no other base than a common
// ancestor, so it makes such commits.
func (t *Worktree) pick(ctx context.Context, head string, s Step) (string, error) {
	ours, err := t.commitTree(ctx, head+"^{tree}", "ours", []string{s.From})
	if err != nil {
		return "", err
	}
	theirs, err := t.commitTree(ctx, s.To+"^{tree}", "theirs", []string{s.From})
	if err != nil {
		return "", err
	}
	tree, err := t.mergeTree(ctx, theirs, ours)
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
			if undo = c.again && !part; !part && (!c.titled || !namesIssue(c.message, w.Issue)) {
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

// FetchDefault fetches a branch of a remote into DefaultBranch and returns its commit. As with
// any git fetch, the remote-tracking branch follows: Published reads it.
func FetchDefault(ctx context.Context, o WorktreeOptions, remote, branch string) (string, error) {
	g := Client{Dir: o.Root, Env: o.Git.Env}
	err := g.accepted(ctx, nil, nil, "-c", noUpkeep, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--", remote,
		"+refs/heads/"+branch+":refs/heads/"+DefaultBranch)
	if err != nil {
		return "", err
	}
	return g.Commit(ctx, "refs/heads/"+DefaultBranch)
}

// Push sends a commit to a branch at an address. It refuses (*RejectedError) to drop commits
// there other than was, which stig sent before.
func Push(ctx context.Context, o WorktreeOptions, address, branch, commit, was string) error {
	g, name := Client{Dir: o.Root, Env: o.Git.Env}, "refs/heads/"+branch
	listed, err := g.Perform(ctx, nil, nil, "ls-remote", "--quiet", "--", address, name)
	if err != nil {
		return err
	}
	if listed.Exit != 0 {
		return rejected("git ls-remote", listed)
	}
	there, _, _ := strings.Cut(string(listed.Stdout), "\t")
	switch within, err := g.Run(ctx, "merge-base", "--is-ancestor", there, commit); {
	case err != nil:
		return err
	case there == commit:
		return nil
	case there != "" && there != was && within.Exit != 0:
		return &RejectedError{Reason: fmt.Sprintf("branch %s of the forge has commits of others, up to %.12s; merge them into the branch here", branch, there)}
	}
	return g.accepted(ctx, nil, nil, "push", "--quiet", "--force-with-lease="+name+":"+there, "--", address, commit+":"+name)
}

// Delivered reports whether work, the commits after base up to commit, is in head, and the
// commits that brought it there, as far as known. Work counts as delivered if it is an
// ancestor of head, or if patches there equal all of its own or its whole; with trailers, also
// if a message there has its trailer and names one of its runs.
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
		return is, u.plain, err
	}
	theirs, err := r.commits(ctx, "--max-count="+fmt.Sprint(mostLooked), commit+".."+head)
	if err != nil || len(theirs) == 0 || len(u.plain) == 0 {
		return false, nil, err
	}
	left, err := r.unbrought(ctx, []Unit{u}, theirs)
	if err != nil || len(left) > 0 {
		return false, nil, err
	}
	for _, c := range theirs {
		if contains(issuesIn(c.message), issue) {
			by = append(by, c.hash)
		}
	}
	return true, by, nil
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
