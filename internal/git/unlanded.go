package git

import (
	"context"
	"fmt"
	"net/url"
	slashpath "path"
	"slices"
	"strconv"
	"strings"
)

// Unit is the work on one issue, in one piece, on the branch for results: the commits after
// From up to Commit.
type Unit struct {
	Issue  string // "" if no commit says
	From   string
	Commit string
	Runs   []string // the runs of loops named in its messages

	plain  []string // its commits without merges
	undoes string   // the commit that it reverts; "" for none
}

// Unlanded lists what is on Onto and was not brought to the commit head, oldest first. Work
// counts as brought if it is an ancestor of head or a person's branch, if a message there has
// its trailer and names one of its runs, or if a patch there equals that of a commit, of the
// unit, or of several units in a row; so it may have been squashed, picked or rebased. Changes
// to the store do not count. At most 500 commits of head that Onto lacks are examined.
func Unlanded(ctx context.Context, o WorktreeOptions, head string) ([]Unit, error) {
	r, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	tip, err := r.branch(ctx, r.onto)
	if err != nil || tip == "" || tip == head {
		return nil, err
	}
	ours, err := r.commits(ctx, tip, "--not", head, "--exclude="+namespace+"/*", "--exclude="+r.onto, "--branches")
	units := unitsOf(ours, tip)
	units = slices.DeleteFunc(units, func(u Unit) bool { // work that was reverted there, and by which commit
		return isUndone(ours, u.Commit) || slices.ContainsFunc(ours, func(c commit) bool { return u.undoes != "" && c.hash == u.undoes })
	})
	if err != nil || len(units) == 0 {
		return nil, err
	}
	theirs, err := r.commits(ctx, "--max-count="+fmt.Sprint(mostLooked), tip+".."+head)
	if err != nil || len(theirs) == 0 {
		return units, err
	}
	return r.unbrought(ctx, units, theirs)
}

// mostLooked limits how many commits are searched for delivered work.
const mostLooked = 500

// commit is a commit with its message.
type commit struct {
	hash    string
	parents []string
	message string
}

// commits lists the commits of git log for some arguments, each after its parents.
func (r *worktreeRepo) commits(ctx context.Context, argv ...string) (list []commit, err error) {
	said, err := r.git.Must(ctx, append([]string{"log", "-z", "--topo-order", "--reverse", "--format=%H%x00%P%x00%B"}, argv...)...)
	fields := strings.Split(said, "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		list = append(list, commit{hash: strings.TrimSpace(fields[i]), parents: strings.Fields(fields[i+1]), message: fields[i+2]})
	}
	return list, err
}

// unitsOf splits the commits up to a tip by issue. Each first-parent step is one unit,
// including what it merged; consecutive steps for one issue are one unit, and a step that names
// no issue belongs to the next one that is not a merge.
func unitsOf(list []commit, tip string) (units []Unit) {
	at := map[string]commit{}
	for _, c := range list {
		at[c.hash] = c
	}
	var steps []commit
	for c, ok := at[tip]; ok && len(c.parents) > 0; c, ok = at[c.parents[0]] {
		steps = append(steps, c)
		delete(at, c.hash)
	}
	var silent *Unit // steps that name no issue yet
	flush := func() {
		if silent != nil {
			units, silent = append(units, *silent), nil
		}
	}
	for _, step := range slices.Backward(steps) {
		u, merges := unitOf(step, at), len(step.parents) > 1
		switch {
		case merges && u.Issue == "" && len(u.plain) == 0: // it brought what head has
			continue
		case merges:
			flush()
		case silent != nil:
			u.From, u.plain, u.Runs = silent.From, append(silent.plain, u.plain...), append(silent.Runs, u.Runs...)
		}
		if silent = nil; u.Issue == "" && !merges {
			silent = &u
			continue
		}
		if last := len(units) - 1; last >= 0 && units[last].Issue == u.Issue && u.Issue != "" {
			u.From, u.plain, u.Runs = units[last].From, append(units[last].plain, u.plain...), append(units[last].Runs, u.Runs...)
			units = units[:last]
		}
		units = append(units, u)
	}
	flush()
	return units
}

// unitOf returns one step with the commits it merged, which it removes from at.
func unitOf(step commit, at map[string]commit) Unit {
	u := Unit{From: step.parents[0], Commit: step.hash, Runs: runsIn(step.message)}
	_, undoes, _ := strings.Cut(step.message, revertOf)
	u.undoes, _, _ = strings.Cut(strings.TrimSpace(undoes), ".")
	issues := issuesIn(step.message)
	for queue := slices.Clone(step.parents[1:]); len(queue) > 0; queue = queue[1:] {
		c, ok := at[queue[0]]
		if !ok {
			continue
		}
		delete(at, c.hash)
		if u.Runs, issues = append(u.Runs, runsIn(c.message)...), append(issues, issuesIn(c.message)...); len(c.parents) < 2 {
			u.plain = append(u.plain, c.hash)
		}
		queue = append(queue, c.parents...)
	}
	if len(step.parents) < 2 {
		u.plain = []string{step.hash}
	}
	if len(issues) > 0 {
		u.Issue = issues[0]
	}
	return u
}

// issuesIn are the issues that a message names: by trailers, including those of squashed
// messages, or by its subject in stig's form if there is no trailer.
func issuesIn(message string) (issues []string) {
	for line := range strings.Lines(message) {
		if issue, ok := strings.CutPrefix(strings.TrimLeft(line, " \t*"), IssueTrailer+":"); ok {
			issues = append(issues, strings.TrimSpace(issue))
		}
	}
	if len(issues) > 0 {
		return issues
	}
	for line := range strings.Lines(message) {
		line = strings.TrimLeft(line, " \t*")
		branch, merged := strings.CutPrefix(line, "Merge branch '"+namespace+"/")
		if name, _, ok := strings.Cut(branch, "' into "+WorkBranch); merged && ok {
			if issue, err := url.PathUnescape(name); err == nil {
				issues = append(issues, issue)
			}
		} else if issue, _, ok := strings.Cut(line, ": work of "); ok && !strings.Contains(issue, " ") {
			issues = append(issues, issue)
		}
	}
	return issues
}

// runsIn are the runs of loops that a message names.
func runsIn(message string) (runs []string) {
	for word := range strings.FieldsSeq(message) {
		if word = strings.Trim(word, "(),.;:"); strings.HasPrefix(word, "r-") && len(word) == len("r-0123456789") {
			runs = append(runs, word)
		}
	}
	return runs
}

// unbrought removes the units that are in commits of head.
func (r *worktreeRepo) unbrought(ctx context.Context, units []Unit, theirs []commit) (left []Unit, err error) {
	said, runs := map[string]int{}, map[string]bool{}
	var plain []string
	for _, c := range theirs {
		issues := issuesIn(c.message)
		slices.Sort(issues)
		for _, issue := range slices.Compact(issues) {
			said[issue]++
		}
		for _, run := range runsIn(c.message) {
			runs[run] = true
		}
		if len(c.parents) < 2 {
			plain = append(plain, c.hash)
		}
	}
	ids, err := r.patches(ctx, plain)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, id := range ids {
		there[id] = true
	}
	for _, u := range units {
		switch brought, err := r.isBrought(ctx, u, said, runs, there); {
		case err != nil:
			return nil, err
		case !brought:
			left = append(left, u)
		}
	}
	return r.unsquashed(ctx, left, there)
}

// isBrought reports whether a unit is in commits with these trailers, runs and patches. A
// trailer without a run on either side counts for one unit.
func (r *worktreeRepo) isBrought(ctx context.Context, u Unit, said map[string]int, runs, there map[string]bool) (bool, error) {
	if u.Issue != "" && said[u.Issue] > 0 {
		if slices.ContainsFunc(u.Runs, func(run string) bool { return runs[run] }) {
			return true, nil
		}
		if len(u.Runs) == 0 {
			said[u.Issue]--
			return true, nil
		}
	}
	ids, err := r.patches(ctx, u.plain)
	if err != nil {
		return false, err
	}
	some := false
	for _, id := range ids {
		if some = there[id]; !some {
			break
		}
	}
	if some || len(u.plain) < 2 {
		return some || len(ids) == 0, nil
	}
	id, err := r.patch(ctx, u.From, u.Commit)
	return id == "" || there[id], err
}

// unsquashed removes units of which several in a row, from the first, make one patch.
func (r *worktreeRepo) unsquashed(ctx context.Context, units []Unit, there map[string]bool) ([]Unit, error) {
	for last := len(units) - 1; last > 0; last-- {
		id, err := r.patch(ctx, units[0].From, units[last].Commit)
		if err != nil {
			return nil, err
		}
		if there[id] {
			return r.unsquashed(ctx, units[last+1:], there)
		}
	}
	return units, nil
}

// Work is the finished work on an issue, for a reader in another repository.
type Work struct {
	Issue  string
	Commit string   // the commit that has it; "" if unknown
	Since  string   // a commit before which nothing can have reverted it; "" if unknown
	Landed []string // further commits that brought it to a branch, as far as known
	Store  string   // path of the store's file, from the root; "" if git does not track it

	Request int // the request for review that brought it; 0 for none
}

// Has reports whether a branch has the work up to w.Commit, as it is, or squashed, rebased or
// picked as Unlanded judges. known is false if the repository lacks the commit.
func (g Client) Has(ctx context.Context, w Work, branch string) (has, known bool, err error) {
	there, err := g.Run(ctx, "rev-parse", "--quiet", "--verify", w.Commit+"^{commit}")
	if err != nil || there.Exit != 0 {
		return false, false, err
	}
	r := &worktreeRepo{git: g}
	if w.Store != "" {
		r.store = slashpath.Dir(w.Store)
	}
	commit := strings.TrimSpace(string(there.Stdout))
	ours, err := r.commits(ctx, commit, "--not", branch)
	if err != nil || len(ours) == 0 {
		return err == nil, true, err
	}
	theirs, err := r.commits(ctx, "--max-count="+strconv.Itoa(mostLooked), commit+".."+branch)
	if err != nil || len(theirs) == 0 {
		return false, true, err
	}
	left, err := r.unbrought(ctx, unitsOf(ours, commit), theirs)
	return err == nil && len(left) == 0, true, err
}

// patches returns the patch ids of commits without the store; none if nothing else is in them.
func (r *worktreeRepo) patches(ctx context.Context, commits []string) (map[string]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	return r.patchIDs(ctx, []byte(strings.Join(commits, "\n")+"\n"), "--root", "--stdin")
}

// patch is the patch id of the difference between two commits without the store; "" for
// nothing.
func (r *worktreeRepo) patch(ctx context.Context, from, to string) (string, error) {
	ids, err := r.patchIDs(ctx, nil, from, to)
	for _, id := range ids {
		return id, err
	}
	return "", err
}

func (r *worktreeRepo) patchIDs(ctx context.Context, stdin []byte, argv ...string) (map[string]string, error) {
	text, err := r.git.besides(ctx, r.store, stdin, append([]string{"diff-tree", "-p", "-r", "--no-renames", "--full-index"}, argv...)...)
	if err != nil || text == "" {
		return nil, err
	}
	found, err := r.git.mustRun(ctx, []byte(text), nil, "patch-id", "--stable")
	ids := map[string]string{}
	for line := range strings.Lines(found) {
		if id, commit, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			ids[commit] = id
		}
	}
	return ids, err
}

// Stat is the size of a change; binary files have no lines.
type Stat struct {
	Files   int `json:"files"`
	Added   int `json:"added"`   // lines
	Deleted int `json:"deleted"` // lines
}

// StatOf returns the size of a unit's change without the store.
func StatOf(ctx context.Context, o WorktreeOptions, u Unit) (s Stat, err error) {
	r, err := open(ctx, o)
	if err != nil {
		return s, err
	}
	text, err := r.git.besides(ctx, r.store, nil, "diff-tree", "-r", "--numstat", u.From, u.Commit)
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		added, _ := strconv.Atoi(fields[0]) // "-" for a binary file
		deleted, _ := strconv.Atoi(fields[1])
		s.Files, s.Added, s.Deleted = s.Files+1, s.Added+added, s.Deleted+deleted
	}
	return s, err
}

// DiffOf returns a unit's change without the store, as a patch.
func DiffOf(ctx context.Context, o WorktreeOptions, u Unit) (string, error) {
	r, err := open(ctx, o)
	if err != nil {
		return "", err
	}
	return r.git.besides(ctx, r.store, nil, "diff-tree", "-r", "-p", "-M", u.From, u.Commit)
}
