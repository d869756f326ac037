package night

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// RevertRequest asks to revert the work on an issue, and says why.
type RevertRequest struct {
	ID, Reason, Onto string
	DryRun           bool
}

// Reverted says what was reverted.
type Reverted struct {
	ID      string   `json:"id"`
	Places  []string `json:"places"`   // the branches on which it was reverted
	BuiltOn []string `json:"built_on"` // closed issues that build on it
	Changed bool     `json:"reopened"`
	DryRun  bool     `json:"dry_run"`
}

// Revert reverts the work on an issue on the checked-out branch and on the branches of results,
// and reopens the issue with the reason as feedback to whoever did the work.
func Revert(ctx context.Context, a *workspace.Run, r RevertRequest) (*Reverted, error) {
	if err := cmp.Or(a.ForPeople("land --revert"), service.NeedsReason(r.Reason, "what is wrong with it")); err != nil {
		return nil, err
	}
	u, err := ToLand(ctx, a, r.Onto, r.ID)
	if err != nil {
		return nil, err
	}
	done := &Reverted{ID: u.named[0], Places: []string{}, DryRun: r.DryRun}
	if done.BuiltOn, err = dependentsOf(a, done.ID); err != nil {
		return nil, err
	}
	if err := u.takeBack(ctx, r, done); err != nil {
		return nil, err
	}
	if len(done.Places) == 0 {
		return nil, workspace.Usage(fmt.Sprintf("%s: no commit on %s or %s names it", done.ID, u.Branch, cmp.Or(r.Onto, git.WorkBranch)),
			"undo it with git revert, then type stig reopen "+visible.Quoted(done.ID)+" --reason WHY")
	}
	reopened, err := service.Reopen(ctx, a, service.ReopenRequest{ID: done.ID, Reason: r.Reason, DryRun: r.DryRun})
	if err != nil || r.DryRun {
		return done, err
	}
	done.Changed = reopened.Changed
	if head, err := u.git().Commit(ctx, "HEAD"); err == nil && slices.Contains(done.Places, u.Branch) {
		for _, branch := range u.Branches {
			if err := u.follow(ctx, branch.Name, head, true); err != nil {
				a.Warn("%s: does not have the revert: %v", branch.Name, err)
				a.Hint("type git merge " + visible.Quoted(u.Branch) + " there")
			}
		}
	}
	if err := u.beginAnew(ctx, done.ID); err != nil {
		a.Warn("%s: the next run continues with the old work in its work tree: %v", done.ID, err)
	}
	return done, u.tell(ctx, a, done.ID, r.Reason)
}

// follow moves a branch of results to the checkout's commit once all of the branch has landed.
// With whole, work that has not landed is kept, and the two are merged.
func (u *Unlanded) follow(ctx context.Context, onto, head string, whole bool) error {
	wait := followWait
	if whole {
		wait = landWait
	}
	unlock, err := clone.LockOnto(ctx, u.Place, onto, wait)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	trees := u.TreesOf(onto)
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

// followWait is how long to wait for a loop that is landing if nothing depends on it.
const followWait = 2 * time.Second

// beginAnew sets the work tree and the branch of an issue aside, so that the next run begins at
// the tip of the branch of results.
func (u *Unlanded) beginAnew(ctx context.Context, id string) error {
	trees, err := git.Worktrees(ctx, u.Trees)
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if tree.Issue == id {
			_, err = putAside(ctx, u.Place, tree, true)
		}
	}
	return err
}

// dependentsOf returns the closed issues that are built on an issue.
func dependentsOf(a *workspace.Run, id string) (ids []string, err error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	at, _ := file.Index(id)
	graph := dag.New(file)
	ids = []string{}
	for i := range file.All() {
		if graph.Closed(i) && i != at && slices.Contains(builtOn(graph, i), at) {
			ids = append(ids, file.At(i).ID)
		}
	}
	return ids, nil
}

// takeBack creates the commits that revert an issue, and moves the branches to them.
func (u *Unlanded) takeBack(ctx context.Context, r RevertRequest, done *Reverted) error {
	message := func(commit string) string {
		return fmt.Sprintf("Revert the work on %s\n\n%s\n\nThis reverts commit %s.", done.ID, strings.TrimSpace(r.Reason), commit)
	}
	landed, err := git.LandedSteps(ctx, u.Trees, u.Head, done.ID)
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
		head, err := git.Picked(ctx, u.Trees, u.Head, u.Branch, landed)
		if err == nil && !r.DryRun {
			err = git.Forward(ctx, u.Trees, head)
		}
		if err != nil {
			return inTheWay(err, done)
		}
		done.Places = append(done.Places, u.Branch)
	}
	for _, branch := range u.Branches {
		if err := u.takeBackOn(ctx, branch, r, done, message); err != nil {
			return err
		}
	}
	return nil
}

// takeBackOn reverts work that has not landed yet.
func (u *Unlanded) takeBackOn(ctx context.Context, branch service.WorkBranch, r RevertRequest, done *Reverted, message func(string) string) error {
	var back []git.Step
	for _, unit := range slices.Backward(branch.Units) {
		if unit.Issue == done.ID {
			back = append(back, git.Step{From: unit.Commit, To: unit.From, Of: done.ID, Message: message(unit.Commit)})
		}
	}
	if len(back) == 0 {
		return nil
	}
	unlock, err := clone.LockOnto(ctx, u.Place, branch.Name, landWait)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	trees := u.TreesOf(branch.Name)
	tip, err := u.git().Commit(ctx, "refs/heads/"+branch.Name)
	if err != nil {
		return err
	}
	head, err := git.Picked(ctx, trees, tip, branch.Name, back)
	if err == nil && !r.DryRun {
		err = git.MoveOnto(ctx, trees, "revert "+done.ID, tip, head)
	}
	if err != nil {
		return inTheWay(err, done)
	}
	done.Places = append(done.Places, branch.Name)
	return nil
}

// landWait is how long to wait for a loop that is landing.
const landWait = 10 * time.Minute

// inTheWay returns the refusal to revert work that conflicts with later work.
func inTheWay(err error, done *Reverted) error {
	refused, ok := errors.AsType[*git.RejectedError](err)
	if !ok {
		return err
	}
	hint := "later work changed the same lines"
	if len(done.BuiltOn) > 0 {
		hint = "first revert what is built on it: " + strings.Join(done.BuiltOn, ", ")
	}
	return &fault.Error{Code: fault.Conflict, ID: done.ID, Reason: "cannot be reverted: conflicts in " + strings.Join(refused.Files, ", "), Hint: hint, Err: err}
}

// tell leaves the reason as feedback to whoever did the work.
func (u *Unlanded) tell(ctx context.Context, a *workspace.Run, id, reason string) error {
	runs, _, err := u.Place.Runs(time.Time{})
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(runs) {
		if r.Issue == id && (!r.IsBesideOthers() || r.Outcome == string(clone.OutcomeClosed)) {
			content := map[string]any{"payload": visible.OneLine(reason), "to": r.Actor, "run": r.ID}
			_, err := traces.Add(ctx, a, traces.AddRequest{Drafts: []traces.Draft{{Issue: id, Type: trace.Feedback, Content: content}}})
			return err
		}
	}
	return nil // no loop did it
}
