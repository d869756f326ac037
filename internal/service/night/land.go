// Package night provides what people do in the morning: read what loops did, land their work,
// revert it, and remove their work trees.
package night

import (
	"context"
	"errors"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Landed says what was landed on the checked-out branch.
type Landed struct {
	Branch    string   `json:"branch"`
	From      string   `json:"from"` // commit before
	To        string   `json:"to"`   // commit after
	Issues    []string `json:"issues"`
	Brought   []string `json:"brought"`   // those of Issues that were not named but are built on
	There     []string `json:"there"`     // named issues with nothing to land
	Committed string   `json:"committed"` // commit of the store; "" for none
	DryRun    bool     `json:"dry_run"`

	landing []service.UnlandedIssue
}

// LandRequest says what to land in the checkout that has the store.
type LandRequest struct {
	IDs    []string
	All    bool
	Onto   string // the branch to land from; "" means all of stig's branches
	Commit bool   // commit the store too
	DryRun bool
}

// Land brings finished work to the checked-out branch: it creates a commit with the work, runs
// the checks of the issues on it, and moves the checkout to it. A named issue brings the issues
// it is built on. If anything fails, nothing is changed. Errors: fault.Conflict if the checkout
// is not clean or the work conflicts, fault.Found if a check fails or may not run.
func Land(ctx context.Context, a *workspace.Run, r LandRequest) (*Landed, error) {
	if err := a.ForPeople("land"); err != nil {
		return nil, err
	}
	u, err := ToLand(ctx, a, r.Onto, r.IDs...)
	if err != nil {
		return nil, err
	}
	done := &Landed{Branch: u.Branch, From: u.Head, To: u.Head, Issues: []string{}, Brought: []string{}, There: []string{}, DryRun: r.DryRun}
	if u.choose(r, done); len(done.landing) == 0 {
		return done, nil
	}
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	var commit func(context.Context, string) (string, error)
	if r.Commit {
		if commit, err = service.PrepareCommit(ctx, a, store.Place()); err != nil {
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
	if err := git.Forward(ctx, u.Trees, done.To); err != nil {
		return nil, err
	}
	if commit != nil {
		done.Committed, err = commit(ctx, strings.Join(done.Issues, ", "))
	}
	u.tidy(ctx, a, store.Place(), append(done.Issues, done.There...))
	for _, branch := range u.Branches {
		_ = u.follow(ctx, branch.Name, done.To, false) // if this fails, the next stig work does it
	}
	return done, err
}

// choose selects what to land: all, or the named issues and what they are built on.
func (u *Unlanded) choose(r LandRequest, done *Landed) {
	picked := map[string]bool{}
	for _, id := range u.named {
		if !u.Has(id) {
			done.There = append(done.There, id)
		}
		picked[id] = true
	}
	for _, one := range slices.Backward(u.Issues) {
		for _, id := range one.After {
			if picked[one.ID] && !slices.Contains(u.named, id) && !slices.Contains(done.Brought, id) {
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
}

// mayForward returns an error if the checkout cannot be moved.
func (u *Unlanded) mayForward(ctx context.Context) error {
	s, err := git.StandingOf(ctx, u.Trees)
	refuse := func(reason, hint string) error {
		return &fault.Error{Code: fault.Conflict, Reason: u.Trees.Root + ": " + reason, Hint: hint}
	}
	switch {
	case err != nil:
		return err
	case s.Doing != "":
		return refuse("is in the middle of a "+s.Doing, "finish it, then type stig land again")
	case s.Branch == "":
		return refuse("HEAD is detached, and work lands on a branch", "type git switch BRANCH, then stig land again")
	case strings.HasPrefix(s.Branch, "stig/"):
		return refuse("is on "+s.Branch+", which is a worker branch", "type git switch BRANCH, then stig land again")
	case s.Head != u.Head:
		return refuse("HEAD moved meanwhile", "type stig land again")
	case len(s.Dirty) > 0:
		return refuse("has uncommitted changes: "+visible.Some(s.Dirty, 5), "commit them, or type git stash, then stig land again")
	}
	return nil
}

// commitOf creates the commit that the checkout moves to. If the work to land is the beginning
// of a branch that forked from HEAD, it is merged; otherwise its changes are cherry-picked.
func (u *Unlanded) commitOf(ctx context.Context, landing []service.UnlandedIssue) (head string, err error) {
	head = u.Head
	for _, branch := range u.Branches {
		var list []git.Step
		begins, last := 0, ""
		for i, unit := range branch.Units {
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
			head, err = git.Joined(ctx, u.TreesOf(branch.Name), head, u.Branch, last)
		} else {
			head, err = git.Picked(ctx, u.TreesOf(branch.Name), head, u.Branch, list)
		}
		if err != nil {
			return "", conflicting(err)
		}
	}
	return head, nil
}

func landingOf(landing []service.UnlandedIssue, unit git.Unit) (service.UnlandedIssue, bool) {
	for _, one := range landing {
		if slices.ContainsFunc(one.Units, func(its git.Unit) bool { return its.Commit == unit.Commit }) {
			return one, true
		}
	}
	return service.UnlandedIssue{}, false
}

// conflicting returns the refusal of work that conflicts.
func conflicting(err error) error {
	refused, ok := errors.AsType[*git.RejectedError](err)
	if !ok {
		return err
	}
	hint := "nothing was changed; type stig land --all, which merges all of it, or git merge " + git.WorkBranch + " and resolve it there"
	return &fault.Error{Code: fault.Conflict, Reason: refused.Reason, Hint: hint, Err: err}
}

// stepOf returns a change to cherry-pick, with a message that names its issue.
func stepOf(one service.UnlandedIssue, unit git.Unit) git.Step {
	message := one.ID + ": " + visible.OneLine(one.Title) + "\n\n"
	for _, run := range unit.Runs {
		message += "Run: " + run + "\n"
	}
	return git.Step{From: unit.From, To: unit.Commit, Of: one.ID, Message: message + "\n" + git.IssueTrailer + ": " + one.ID}
}

// tidy removes the work trees and branches of landed issues. Those with work that exists
// nowhere else are kept and reported.
func (u *Unlanded) tidy(ctx context.Context, a *workspace.Run, store beads.Place, ids []string) {
	trees, err := git.Worktrees(ctx, u.Trees)
	for _, tree := range trees {
		if slices.Contains(ids, tree.Issue) {
			err = errors.Join(err, tree.Remove(ctx))
		}
	}
	if err != nil {
		a.Note("%v", err)
	}
	for _, id := range ids {
		service.RemoveLeftovers(ctx, a, store, id)
	}
}
