package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Unlanded is the work that loops finished and that the branch of the checkout lacks.
type Unlanded struct {
	Branch string          `json:"branch"` // of the checkout; "" where HEAD is detached
	Head   string          `json:"head"`
	Issues []UnlandedIssue `json:"issues"` // in the order in which they were finished

	trees    git.WorktreeOptions
	place    clone.Place
	branches []workBranch
}

// workBranch is a branch that results went to, with what of it is to land, the oldest first.
type workBranch struct {
	name  string
	units []git.Unit
}

// UnlandedIssue is what was done for one issue and is to land.
type UnlandedIssue struct {
	ID     string   `json:"id"` // "" for commits that name no issue
	Title  string   `json:"title"`
	Status string   `json:"status"`
	Onto   string   `json:"onto"`  // the branch that has it
	After  []string `json:"after"` // unlanded issues that it is built on
	git.Stat

	units []git.Unit
}

// LandRequest says what is to land, in the checkout that has the store.
type LandRequest struct {
	IDs    []string
	All    bool
	Onto   string // the branch that has it; "" for each of stig's that loops landed on
	Commit bool   // the store too
	DryRun bool
}

// ToLand finds the work that is to land.
func ToLand(ctx context.Context, a *workspace.Run, onto string) (*Unlanded, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	u, err := findUnlanded(ctx, a, file.Place(), onto, true)
	if err != nil {
		return nil, err
	}
	graph := dag.New(file)
	for i := range u.Issues {
		one := &u.Issues[i]
		for _, unit := range one.units {
			stat, err := git.StatOf(ctx, u.treesOf(one.Onto), unit)
			if err != nil {
				return nil, err
			}
			one.Files, one.Added, one.Deleted = one.Files+stat.Files, one.Added+stat.Added, one.Deleted+stat.Deleted
		}
		at, known := file.Index(one.ID)
		if !known {
			continue
		}
		one.Title, one.Status = file.At(at).Title, file.At(at).Status
		for _, b := range builtOn(graph, at) {
			if other := file.At(b).ID; u.has(other) {
				one.After = append(one.After, other)
			}
		}
	}
	return u, nil
}

// builtOn are the closed issues that one waited for, directly or not.
func builtOn(graph *dag.Graph, at int) (list []int) {
	seen := map[int]bool{at: true}
	for queue := graph.ClosedBlockers(at); len(queue) > 0; queue = queue[1:] {
		if b := queue[0]; !seen[b] {
			seen[b] = true
			list = append(list, b)
			queue = append(queue, graph.ClosedBlockers(b)...)
		}
	}
	return list
}

func (u *Unlanded) has(id string) bool {
	return id != "" && slices.ContainsFunc(u.Issues, func(one UnlandedIssue) bool { return one.ID == id })
}

func (u *Unlanded) treesOf(onto string) git.WorktreeOptions {
	trees := u.trees
	trees.Onto = onto
	return trees
}

// findUnlanded lists by issue what is to land, without what takes the text of the store. Unless it
// is to be fresh, what was found while HEAD and the branch were where they are will do.
func findUnlanded(ctx context.Context, a *workspace.Run, store beads.Place, onto string, fresh bool) (*Unlanded, error) {
	trees, err := a.Trees(store)
	if err != nil {
		return nil, err
	}
	if trees == nil {
		return nil, workspace.Usage("land: there is no git repository here: work was done in place, and nothing is to land", "")
	}
	u := &Unlanded{trees: *trees, Issues: []UnlandedIssue{}}
	if u.place, err = a.Live(store); err != nil {
		return nil, err
	}
	code, err := workspace.CodeOf(store)
	if err != nil {
		return nil, err
	}
	if u.Branch, u.Head = code.Head(); !git.IsHash(u.Head) {
		if u.Head, err = a.GitIn(code.Root).Commit(ctx, "HEAD"); err != nil {
			return nil, err
		}
	}
	for _, branch := range ontos(u.place, onto, u.Branch) {
		units, err := u.unitsOn(ctx, branch, code, fresh)
		if err != nil {
			return nil, err
		}
		u.branches = append(u.branches, workBranch{branch, units})
		for _, unit := range units {
			u.add(branch, unit)
		}
	}
	return u, nil
}

// ontos are the branches to look at: the one that is named, or stig's own. What people have on
// branches of other names they merge by themselves.
func ontos(place clone.Place, named, here string) (list []string) {
	if named != "" {
		return []string{named}
	}
	list = []string{git.WorkBranch}
	for _, branch := range place.LandedOn() {
		if strings.HasPrefix(branch, "stig/") && branch != git.WorkBranch {
			list = append(list, branch)
		}
	}
	return slices.DeleteFunc(list, func(branch string) bool { return branch == here })
}

// unitsOn lists what is on a branch and not in HEAD.
func (u *Unlanded) unitsOn(ctx context.Context, onto string, code git.Checkout, fresh bool) ([]git.Unit, error) {
	tip, known := code.Ref("refs/heads/" + onto)
	if known && (tip == "" || tip == u.Head) {
		return nil, nil
	}
	if kept := u.place.Unlanded(onto); known && !fresh && kept.Tip == tip && kept.Head == u.Head {
		return kept.Units, nil
	}
	units, err := git.Unlanded(ctx, u.treesOf(onto), u.Head)
	if err == nil && known {
		_ = u.place.KeepUnlanded(clone.Unlanded{Onto: onto, Tip: tip, Head: u.Head, Units: units}) // else it is found again
	}
	return units, err
}

func (u *Unlanded) add(onto string, unit git.Unit) {
	i := slices.IndexFunc(u.Issues, func(one UnlandedIssue) bool { return one.ID == unit.Issue && one.Onto == onto && one.ID != "" })
	if i < 0 {
		i = len(u.Issues)
		u.Issues = append(u.Issues, UnlandedIssue{ID: unit.Issue, Onto: onto, After: []string{}})
	}
	u.Issues[i].units = append(u.Issues[i].units, unit)
}

// LandHint says how many issues are to land, and what to type; "" where none is, where that
// cannot be told, and in the run of a worker.
func LandHint(ctx context.Context, a *workspace.Run, store beads.Place, onto string) (found, command string) {
	if a.Getenv("STIG_RUN") != "" || !process.Finder("", a.Getenv)("git") {
		return "", ""
	}
	u, err := findUnlanded(ctx, a, store, onto, false)
	if err != nil || len(u.Issues) == 0 {
		return "", ""
	}
	var from []string
	for _, one := range u.Issues {
		from = append(from, one.Onto)
	}
	slices.Sort(from)
	return visible.Counted(len(u.Issues), "issue") + " to land on " + strings.Join(slices.Compact(from), ", "), LandCommand(onto)
}

// LandCommand lists what is to land from a branch, "" for those that are found without a name.
func LandCommand(onto string) string {
	if onto == "" || strings.HasPrefix(onto, "stig/") {
		return "stig land"
	}
	return "stig land --onto " + visible.Quoted(onto)
}

// LandDiff is the patch of an issue that is to land.
func LandDiff(ctx context.Context, a *workspace.Run, id, onto string) (string, error) {
	u, err := ToLand(ctx, a, onto)
	if err != nil {
		return "", err
	}
	ids, err := u.named(a, []string{id})
	if err != nil {
		return "", err
	}
	text := ""
	for _, one := range u.Issues {
		for _, unit := range one.units {
			if one.ID != ids[0] {
				break
			}
			diff, err := git.DiffOf(ctx, u.treesOf(one.Onto), unit)
			if text += diff; err != nil {
				return "", err
			}
		}
	}
	return text, nil
}

// named gives the full ids of issues.
func (u *Unlanded) named(a *workspace.Run, ids []string) (full []string, err error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for _, id := range ids {
		issue, err := file.Find(id)
		if err != nil {
			return nil, err
		}
		full = append(full, issue.ID)
	}
	return full, nil
}

// Landed says what was brought to the branch of the checkout.
type Landed struct {
	Branch    string   `json:"branch"`
	From      string   `json:"from"` // its commit before
	To        string   `json:"to"`   // and after
	Issues    []string `json:"issues"`
	Brought   []string `json:"brought"`   // of these, what others are built on
	There     []string `json:"there"`     // issues of which nothing was to land
	Committed string   `json:"committed"` // the commit of the store; "" for none
	DryRun    bool     `json:"dry_run"`

	landing []UnlandedIssue
}

// Land brings what is finished to the branch of the checkout: it makes a commit with it, runs the
// checks of the issues on that, and moves the checkout there. A named issue brings what it is
// built on. Nothing is changed where anything of that fails. Errors are: fault.Conflict where the checkout is not
// clean or the work conflicts, fault.Found where a check fails or may not run.
func Land(ctx context.Context, a *workspace.Run, r LandRequest) (*Landed, error) {
	if err := a.ForPeople("land"); err != nil {
		return nil, err
	}
	u, err := ToLand(ctx, a, r.Onto)
	if err != nil {
		return nil, err
	}
	done := &Landed{Branch: u.Branch, From: u.Head, To: u.Head, Issues: []string{}, Brought: []string{}, There: []string{}, DryRun: r.DryRun}
	if err := u.choose(a, r, done); err != nil || len(done.landing) == 0 {
		return done, err
	}
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	var commit func(context.Context, string) (string, error)
	if r.Commit {
		if commit, err = PrepareCommit(ctx, a, store.Place()); err != nil {
			return nil, err
		}
	}
	if err := u.mayForward(ctx); err != nil {
		return nil, err
	}
	if done.To, err = u.commitOf(ctx, done.landing); err != nil {
		return nil, err
	}
	if err := u.proven(ctx, a, store.Place(), done); err != nil || r.DryRun {
		return done, err
	}
	if err := git.Forward(ctx, u.trees, done.To); err != nil {
		return nil, err
	}
	if commit != nil {
		done.Committed, err = commit(ctx, strings.Join(done.Issues, ", "))
	}
	u.tidy(ctx, a, store.Place(), append(done.Issues, done.There...))
	for _, branch := range u.branches {
		_ = u.follow(ctx, branch.name, done.To, false) // else the next stig work does it
	}
	return done, err
}

// choose picks what is to land: all, or the issues that are named and what they are built on.
func (u *Unlanded) choose(a *workspace.Run, r LandRequest, done *Landed) error {
	ids, err := u.named(a, r.IDs)
	if err != nil {
		return err
	}
	picked := map[string]bool{}
	for _, id := range ids {
		if !u.has(id) {
			done.There = append(done.There, id)
		}
		picked[id] = true
	}
	for _, one := range slices.Backward(u.Issues) {
		for _, id := range one.After {
			if picked[one.ID] && !slices.Contains(ids, id) && !slices.Contains(done.Brought, id) {
				done.Brought = append(done.Brought, id)
			}
		}
	}
	for _, one := range u.Issues {
		if !r.All && !picked[one.ID] && !slices.Contains(done.Brought, one.ID) || one.ID == "" && !r.All {
			continue
		}
		done.landing = append(done.landing, one)
		if one.ID != "" {
			done.Issues = append(done.Issues, one.ID)
		}
	}
	if r.All {
		done.Brought = []string{}
	}
	return nil
}

// mayForward refuses a checkout that cannot be moved on.
func (u *Unlanded) mayForward(ctx context.Context) error {
	s, err := git.StandingOf(ctx, u.trees)
	refuse := func(reason, hint string) error {
		return &fault.Error{Code: fault.Conflict, Reason: u.trees.Root + ": " + reason, Hint: hint}
	}
	switch {
	case err != nil:
		return err
	case s.Doing != "":
		return refuse("is in the middle of a "+s.Doing, "finish it, then type stig land again")
	case s.Branch == "":
		return refuse("HEAD is detached, and work lands on a branch", "type git switch BRANCH, then stig land again")
	case strings.HasPrefix(s.Branch, "stig/"):
		return refuse("is on "+s.Branch+", which is a branch of workers", "type git switch BRANCH, then stig land again")
	case s.Head != u.Head:
		return refuse("HEAD moved meanwhile", "type stig land again")
	case len(s.Dirty) > 0:
		return refuse("has changes that are not committed: "+some(s.Dirty), "commit them, or type git stash, then stig land again")
	}
	return nil
}

// some names the first of a list.
func some(list []string) string {
	const most = 5
	text := strings.Join(list[:min(len(list), most)], ", ")
	if len(list) > most {
		text += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return text
}

// commitOf makes the commit that the checkout is to move to. What a branch begins with, where it
// leaves HEAD, is merged; of other work the changes are made anew.
func (u *Unlanded) commitOf(ctx context.Context, landing []UnlandedIssue) (head string, err error) {
	head = u.Head
	for _, branch := range u.branches {
		var list []git.Step
		begins, last := 0, ""
		for i, unit := range branch.units {
			one, lands := landingOf(landing, unit)
			if !lands {
				continue
			}
			if last = unit.Commit; begins == i {
				begins++
			}
			list = append(list, stepOf(one, unit))
		}
		leaves := false
		if len(list) == begins && begins > 0 {
			is, err := u.git().Run(ctx, "merge-base", "--is-ancestor", list[0].From, head)
			if leaves = is.Exit == 0; err != nil {
				return "", err
			}
		}
		if leaves {
			head, err = git.Joined(ctx, u.treesOf(branch.name), head, u.Branch, last)
		} else {
			head, err = git.Picked(ctx, u.treesOf(branch.name), head, u.Branch, list)
		}
		if err != nil {
			return "", conflicting(err)
		}
	}
	return head, nil
}

func landingOf(landing []UnlandedIssue, unit git.Unit) (UnlandedIssue, bool) {
	for _, one := range landing {
		if slices.ContainsFunc(one.units, func(its git.Unit) bool { return its.Commit == unit.Commit }) {
			return one, true
		}
	}
	return UnlandedIssue{}, false
}

// conflicting is the refusal of work that does not fit.
func conflicting(err error) error {
	refused, ok := errors.AsType[*git.RejectedError](err)
	if !ok {
		return err
	}
	hint := "nothing was changed; type stig land --all, which merges all of it, or git merge " + git.WorkBranch + " and resolve it there"
	return &fault.Error{Code: fault.Conflict, Reason: refused.Reason, Hint: hint, Err: err}
}

// stepOf is a change to be made anew, with a message that names its issue.
func stepOf(one UnlandedIssue, unit git.Unit) git.Step {
	message := one.ID + ": " + visible.OneLine(one.Title) + "\n\n"
	for _, run := range unit.Runs {
		message += "Run: " + run + "\n"
	}
	return git.Step{From: unit.From, To: unit.Commit, Of: one.ID, Message: message + "\n" + git.IssueTrailer + ": " + one.ID}
}

// proven runs the checks of what is to land in a tree of its own that holds the commit.
func (u *Unlanded) proven(ctx context.Context, a *workspace.Run, store beads.Place, done *Landed) (err error) {
	if done.To == u.Head {
		return nil
	}
	dir, remove, err := git.DetachedTree(ctx, u.trees, "landing", done.To)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	there := a.Fresh(ctx, "land")
	there.Dir, there.Progress, there.Terminal = dir, io.Discard, false
	there.Store = filepath.Join(u.place.Worktree, filepath.FromSlash(u.place.Store))
	if err := u.setUp(ctx, a, store, dir, done.landing); err != nil {
		return err
	}
	for _, one := range done.landing {
		if one.ID == "" || one.Status == "" {
			continue
		}
		if err := passes(ctx, there, one.ID); err != nil {
			return err
		}
	}
	return nil
}

// passes runs the checks of one issue.
func passes(ctx context.Context, a *workspace.Run, id string) error {
	t, err := GateRunOf(ctx, a, id)
	if err != nil {
		return err
	}
	defer func() { _ = t.WaitEdits() }() // it reads in the tree that is removed next
	if !t.Asks() {
		a.Note("%s: has no check to be run", id)
		return nil
	}
	err = Try(ctx, a, t, GateRunOptions{})
	if refused, ok := fault.As(err, fault.Found); ok {
		refused.Hint += "; to land it unchecked, git merge " + git.WorkBranch
	}
	if err != nil || t.Verdict.Passed() {
		return err
	}
	refused := &fault.Error{Code: fault.Found, ID: id, Reason: "its checks did not run to their end on the tree that would land",
		Hint: "nothing was changed; see stig verify " + visible.Quoted(id)}
	for _, o := range t.Verdict.Outcomes() {
		if !o.Passed() && o.Exit != gate.ExitNotRun {
			refused.Reason = fmt.Sprintf("on the tree that would land its check %s ends with exit code %d: %s", o.Named(), o.Exit,
				cmp.Or(visible.HideSecrets(visible.OneLine(o.Reason+" "+o.Tail)), "(no output)"))
			refused.Hint = "nothing was changed; where the work is at fault, type stig land --revert " + visible.Quoted(id) + " --reason WHY"
			break
		}
	}
	return refused
}

// setUpLimit bounds the setup of a tree for checks.
const setUpLimit = time.Hour

// setUp runs in a tree what the files of the actors who did the work have run in theirs.
func (u *Unlanded) setUp(ctx context.Context, a *workspace.Run, store beads.Place, dir string, landing []UnlandedIssue) error {
	runs, _, err := u.place.Runs(time.Time{})
	if err != nil {
		return err
	}
	ran := map[string]bool{"": true}
	for _, r := range runs {
		if !slices.ContainsFunc(landing, func(one UnlandedIssue) bool { return one.ID == r.Issue && r.Issue != "" }) {
			continue
		}
		p, err := clone.LoadProfile(filepath.Dir(store.Dir), r.Actor)
		if err != nil || ran[p.Setup] {
			continue // what is in no file does not run
		}
		ran[p.Setup] = true
		if trust, err := a.TrustsActor(ctx, p); err != nil || !trust.Agreed {
			return cmp.Or(err, error(&fault.Error{Code: fault.Found, Reason: r.Actor + ": nobody agreed to the setup that its file names", Hint: "read it, then type stig trust"}))
		}
		result, err := process.Run(ctx, process.Command{Argv: []string{"sh", "-c", p.Setup}, Dir: dir, Env: a.EnvironFor(), Limit: setUpLimit})
		if err == nil && result.Exit != 0 {
			err = &fault.Error{Code: fault.Found, Reason: fmt.Sprintf("setup of %s: exit %d: %s", r.Actor, result.Exit, visible.HideSecrets(visible.OneLine(string(result.Stderr)))), Hint: "nothing was changed"}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tidy removes the work trees and branches of what landed. What holds work that is nowhere else
// stays, and is named.
func (u *Unlanded) tidy(ctx context.Context, a *workspace.Run, store beads.Place, ids []string) {
	trees, err := git.Worktrees(ctx, u.trees)
	for _, tree := range trees {
		if slices.Contains(ids, tree.Issue) {
			err = errors.Join(err, tree.Remove(ctx))
		}
	}
	if err != nil {
		a.Note("%v", err)
	}
	for _, id := range ids {
		removeLeftovers(ctx, a, store, id)
	}
}

// RevertRequest takes the work on an issue back, and says why.
type RevertRequest struct {
	ID, Reason, Onto string
	DryRun           bool
}

// Reverted says what was taken back.
type Reverted struct {
	ID      string   `json:"id"`
	Places  []string `json:"places"`   // the branches that it was taken back on
	BuiltOn []string `json:"built_on"` // closed issues that are built on it
	Changed bool     `json:"reopened"`
	DryRun  bool     `json:"dry_run"`
}

// Revert takes the work on an issue back where it is, on the branch of the checkout or on that
// which results go to, and opens the issue again with the reason as feedback to who did it.
func Revert(ctx context.Context, a *workspace.Run, r RevertRequest) (*Reverted, error) {
	if err := cmp.Or(a.ForPeople("land --revert"), needsReason(r.Reason, "what is wrong with it")); err != nil {
		return nil, err
	}
	u, err := ToLand(ctx, a, r.Onto)
	if err != nil {
		return nil, err
	}
	ids, err := u.named(a, []string{r.ID})
	if err != nil {
		return nil, err
	}
	done := &Reverted{ID: ids[0], Places: []string{}, DryRun: r.DryRun}
	if done.BuiltOn, err = dependentsOf(a, done.ID); err != nil {
		return nil, err
	}
	if err := u.takeBack(ctx, r, done); err != nil {
		return nil, err
	}
	if len(done.Places) == 0 {
		return nil, workspace.Usage(fmt.Sprintf("%s: no commit on %s or %s names it", done.ID, u.Branch, cmp.Or(r.Onto, git.WorkBranch)),
			"take it back with git revert, then type stig reopen "+visible.Quoted(done.ID)+" --reason WHY")
	}
	reopened, err := Reopen(ctx, a, ReopenRequest{ID: done.ID, Reason: r.Reason, DryRun: r.DryRun})
	if err != nil || r.DryRun {
		return done, err
	}
	done.Changed = reopened.Changed
	if head, err := u.git().Commit(ctx, "HEAD"); err == nil && slices.Contains(done.Places, u.Branch) {
		for _, branch := range u.branches {
			if err := u.follow(ctx, branch.name, head, true); err != nil {
				a.Warn("%s: does not have what was taken back: %v", branch.name, err)
				a.Hint("type git merge " + visible.Quoted(u.Branch) + " there")
			}
		}
	}
	if err := u.beginAnew(ctx, a, done.ID); err != nil {
		a.Warn("%s: the next run goes on with what its work tree holds: %v", done.ID, err)
	}
	return done, u.tell(ctx, a, done.ID, r.Reason)
}

// follow moves a branch that results go to where the checkout is, once all of it is there; with
// whole, what is not stays, and the two are merged.
func (u *Unlanded) follow(ctx context.Context, onto, head string, whole bool) error {
	wait := followWait
	if whole {
		wait = landWait
	}
	unlock, err := clone.LockOnto(ctx, u.place, onto, wait)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	trees := u.treesOf(onto)
	left, err := git.Unlanded(ctx, trees, head)
	if err != nil || len(left) > 0 && !whole {
		return err
	}
	tip, err := u.git().Commit(ctx, "refs/heads/"+onto)
	if fault.Is(err, fault.NoRevision) {
		return nil
	}
	to := head
	if err == nil && len(left) > 0 {
		to, err = git.Joined(ctx, trees, tip, onto, head)
	}
	if err != nil || to == tip {
		return err
	}
	return git.MoveOnto(ctx, trees, "follow "+u.Branch, tip, to)
}

// followWait is how long a loop is waited for that lands, where nothing depends on it.
const followWait = 2 * time.Second

// beginAnew puts the work tree and the branch of an issue aside, so that the next begins at the
// tip of the branch that results go to.
func (u *Unlanded) beginAnew(ctx context.Context, a *workspace.Run, id string) error {
	trees, err := git.Worktrees(ctx, u.trees)
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if tree.Issue == id {
			_, err = putAside(ctx, u.place, tree, true)
		}
	}
	return err
}

// dependentsOf are the closed issues that are built on one.
func dependentsOf(a *workspace.Run, id string) (ids []string, err error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	at, _ := file.Index(id)
	graph := dag.New(file)
	ids = []string{}
	for i := range file.Len() {
		if graph.Closed(i) && i != at && slices.Contains(builtOn(graph, i), at) {
			ids = append(ids, file.At(i).ID)
		}
	}
	return ids, nil
}

// takeBack makes the commits that take an issue back, and moves the branches there.
func (u *Unlanded) takeBack(ctx context.Context, r RevertRequest, done *Reverted) error {
	message := func(commit string) string {
		return fmt.Sprintf("Revert the work on %s\n\n%s\n\nThis reverts commit %s.", done.ID, strings.TrimSpace(r.Reason), commit)
	}
	landed, err := git.LandedSteps(ctx, u.trees, u.Head, done.ID)
	if err != nil {
		return err
	}
	for i, step := range landed {
		landed[i].Message = message(step.From)
	}
	if len(landed) > 0 {
		if err := u.mayForward(ctx); err != nil {
			return err
		}
		head, err := git.Picked(ctx, u.trees, u.Head, u.Branch, landed)
		if err == nil && !r.DryRun {
			err = git.Forward(ctx, u.trees, head)
		}
		if err != nil {
			return inTheWay(err, done)
		}
		done.Places = append(done.Places, u.Branch)
	}
	for _, branch := range u.branches {
		if err := u.takeBackOn(ctx, branch, r, done, message); err != nil {
			return err
		}
	}
	return nil
}

// takeBackOn takes back what has not landed yet.
func (u *Unlanded) takeBackOn(ctx context.Context, branch workBranch, r RevertRequest, done *Reverted, message func(string) string) error {
	var back []git.Step
	for _, unit := range slices.Backward(branch.units) {
		if unit.Issue == done.ID {
			back = append(back, git.Step{From: unit.Commit, To: unit.From, Of: done.ID, Message: message(unit.Commit)})
		}
	}
	if len(back) == 0 {
		return nil
	}
	unlock, err := clone.LockOnto(ctx, u.place, branch.name, landWait)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	trees := u.treesOf(branch.name)
	tip, err := u.git().Commit(ctx, "refs/heads/"+branch.name)
	if err != nil {
		return err
	}
	head, err := git.Picked(ctx, trees, tip, branch.name, back)
	if err == nil && !r.DryRun {
		err = git.MoveOnto(ctx, trees, "revert "+done.ID, tip, head)
	}
	if err != nil {
		return inTheWay(err, done)
	}
	done.Places = append(done.Places, branch.name)
	return nil
}

// landWait is how long a loop is waited for that lands.
const landWait = 10 * time.Minute

func (u *Unlanded) git() git.Client {
	there := u.trees.Git
	there.Dir = u.trees.Root
	return there
}

// inTheWay is the refusal of work that later work changed, or is built on.
func inTheWay(err error, done *Reverted) error {
	refused, ok := errors.AsType[*git.RejectedError](err)
	if !ok {
		return err
	}
	hint := "later work changed the same lines"
	if len(done.BuiltOn) > 0 {
		hint = "take back first what is built on it: " + strings.Join(done.BuiltOn, ", ")
	}
	return &fault.Error{Code: fault.Conflict, ID: done.ID, Reason: "cannot be taken back: conflicts in " + strings.Join(refused.Files, ", "), Hint: hint, Err: err}
}

// tell leaves the reason for whoever did the work.
func (u *Unlanded) tell(ctx context.Context, a *workspace.Run, id, reason string) error {
	runs, _, err := u.place.Runs(time.Time{})
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(runs) {
		if r.Issue == id && r.Task != clone.SwarmTask {
			content := map[string]any{"payload": visible.OneLine(reason), "to": r.Actor, "run": r.ID}
			_, err := traces.Add(ctx, a, traces.AddRequest{Drafts: []traces.Draft{{Issue: id, Type: trace.Feedback, Content: content}}})
			return err
		}
	}
	return nil // no loop did it
}

// WorkTree is the work tree of an issue.
type WorkTree struct {
	ID          string   `json:"id"` // "" of one that was not made to the end
	Dir         string   `json:"dir"`
	Branch      string   `json:"branch"`
	Ahead       bool     `json:"ahead"`       // the branch has commits that results lack
	Uncommitted []string `json:"uncommitted"` // files
	Gone        bool     `json:"gone"`        // the directory is not there
	Running     string   `json:"running"`     // the run that works in it; "" for none

	tree *git.Worktree
}

// WorkTrees lists the work trees of workers in this clone.
func WorkTrees(ctx context.Context, a *workspace.Run) (list []WorkTree, err error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	options, err := a.Trees(store.Place())
	if err != nil || options == nil {
		return []WorkTree{}, err
	}
	place, err := a.Live(store.Place())
	if err != nil {
		return nil, err
	}
	runs, _, err := place.Runs(time.Time{})
	if err != nil {
		return nil, err
	}
	trees, err := git.Worktrees(ctx, *options)
	if err != nil {
		return nil, err
	}
	list = []WorkTree{}
	for _, tree := range trees {
		one := WorkTree{ID: tree.Issue, Dir: tree.Dir, Branch: tree.Branch, Uncommitted: []string{}, Gone: !workspace.Exists(tree.Dir), Running: runningIn(runs, tree.Dir), tree: tree}
		if one.Ahead, err = tree.Ahead(ctx); err != nil {
			return nil, err
		}
		if !one.Gone && one.ID != "" {
			left, err := tree.Uncommitted(ctx)
			if err != nil {
				return nil, err
			}
			one.Uncommitted = append(one.Uncommitted, left.Files...)
		}
		list = append(list, one)
	}
	return list, nil
}

// runningIn is the run that works in a directory, as far as can be seen; "" for none.
func runningIn(runs []clone.Run, dir string) string {
	for _, r := range slices.Backward(runs) {
		if r.Worktree != dir || !r.Ended.IsZero() || r.Outcome != "" {
			continue
		}
		loop, _ := process.Running(r.Loop)
		program, _ := process.Running(r.Program)
		if loop || program {
			return r.ID
		}
	}
	return ""
}

// TreeRemoved says what became of the work tree of an issue.
type TreeRemoved struct {
	ID        string   `json:"id"`
	Dir       string   `json:"dir"`
	Leftovers string   `json:"leftovers"` // the branch that has what was not committed; "" for none
	Files     []string `json:"files"`     // that it has
	Branch    string   `json:"branch"`    // that stays, since it has commits that results lack; "" where it went
	DryRun    bool     `json:"dry_run"`
}

// RemoveWorkTree removes the work tree of an issue, whatever it holds: what was not committed is
// kept on a branch of leftovers. It refuses (fault.Conflict) one that a run works in.
func RemoveWorkTree(ctx context.Context, a *workspace.Run, id string, dryRun bool) (*TreeRemoved, error) {
	if err := a.ForPeople("worktree rm"); err != nil {
		return nil, err
	}
	list, err := WorkTrees(ctx, a)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(one WorkTree) bool { return one.ID == id || one.Branch == git.BranchOf(id, git.WorkBranch) })
	if at < 0 {
		return nil, workspace.Usage(id+": has no work tree in this clone", "type stig worktree list")
	}
	one := list[at]
	if one.Running != "" {
		return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: "run " + one.Running + " works in " + one.Dir, Hint: "let it end, or end its loop: stig worker kill NAME"}
	}
	done := &TreeRemoved{ID: id, Dir: one.Dir, Files: one.Uncommitted, DryRun: dryRun}
	if one.Ahead {
		done.Branch = one.Branch
	}
	switch {
	case dryRun:
		return done, nil
	case one.Gone || one.ID == "":
		return done, one.tree.Forget(ctx)
	case len(one.Uncommitted) == 0 && !one.Ahead:
		if err := one.tree.Remove(ctx); !fault.Is(err, fault.Refused) {
			return done, err
		}
	}
	place, err := a.LivePlace()
	if err != nil {
		return nil, err
	}
	kept, err := putAside(ctx, place, one.tree, !one.Ahead)
	done.Leftovers, done.Files = cmp.Or(kept.Branch, kept.Commit), append([]string{}, kept.Files...)
	return done, err
}

// putAside removes a work tree, with its branch if that is said, and keeps what is nowhere else as
// leftovers of the last run in it.
func putAside(ctx context.Context, place clone.Place, tree *git.Worktree, branch bool) (kept git.Leftovers, err error) {
	runs, _, err := place.Runs(time.Time{})
	if err != nil {
		return kept, err
	}
	o := git.Aside{Run: "unknown", Actor: "unknown", Branch: branch}
	for _, r := range runs {
		if r.Worktree == tree.Dir {
			o.Run, o.Actor = r.ID, r.Actor
		}
	}
	if o.Held, err = place.Held(o.Run); err != nil {
		return kept, err
	}
	return tree.SetAside(ctx, o)
}
