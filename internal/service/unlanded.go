package service

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Unlanded is the work that loops finished and that the checked-out branch does not have.
type Unlanded struct {
	Branch string          `json:"branch"` // of the checkout; "" if HEAD is detached
	Head   string          `json:"head"`
	Issues []UnlandedIssue `json:"issues"` // in the order in which they were finished

	readOnly bool // the result is not cached

	Trees    git.WorktreeOptions `json:"-"`
	Place    clone.Place         `json:"-"`
	Branches []WorkBranch        `json:"-"`
}

// WorkBranch is a branch of results with its work to land, oldest first.
type WorkBranch struct {
	Name  string
	Units []git.Unit
}

// UnlandedIssue is the work on one issue that is to land.
type UnlandedIssue struct {
	ID     string   `json:"id"` // "" for commits that name no issue
	Title  string   `json:"title"`
	Status string   `json:"status"`
	Onto   string   `json:"onto"`  // the branch that has it
	After  []string `json:"after"` // unlanded issues that it builds on
	git.Stat

	Units []git.Unit `json:"-"`
}

// Has reports whether an issue has work to land.
func (u *Unlanded) Has(id string) bool {
	return id != "" && slices.ContainsFunc(u.Issues, func(one UnlandedIssue) bool { return one.ID == id })
}

// TreesOf returns the options for work trees whose results go to a branch.
func (u *Unlanded) TreesOf(onto string) git.WorktreeOptions {
	trees := u.Trees
	trees.Onto = onto
	return trees
}

// FindUnlanded lists the work to land, by issue, as far as that needs no text of the store.
// Unless fresh is set it uses the cached result for the same HEAD and branch.
func FindUnlanded(ctx context.Context, a *workspace.Run, store beads.Place, onto string, fresh bool) (*Unlanded, error) {
	trees, err := a.Trees(store)
	if err != nil {
		return nil, err
	}
	if trees == nil {
		return nil, workspace.Usage("land: not in a git repository, so work was done in place and there is nothing to land", "")
	}
	u := &Unlanded{readOnly: a.ReadOnly, Trees: *trees, Issues: []UnlandedIssue{}}
	if u.Place, err = a.Live(store); err != nil {
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
	for _, branch := range ontos(u.Place, onto, u.Branch) {
		units, err := u.unitsOn(ctx, branch, code, fresh)
		if err != nil {
			return nil, err
		}
		u.Branches = append(u.Branches, WorkBranch{branch, units})
		for _, unit := range units {
			u.add(branch, unit)
		}
	}
	return u, nil
}

// ontos returns the branches to look at: the named one, or stig's own. People merge their own
// branches themselves.
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

// unitsOn lists the work on a branch that is not in HEAD.
func (u *Unlanded) unitsOn(ctx context.Context, onto string, code git.Checkout, fresh bool) ([]git.Unit, error) {
	tip, known := code.Ref("refs/heads/" + onto)
	if known && (tip == "" || tip == u.Head) {
		return nil, nil
	}
	if kept := u.Place.Unlanded(onto); known && !fresh && kept.Tip == tip && kept.Head == u.Head {
		return kept.Units, nil
	}
	units, err := git.Unlanded(ctx, u.TreesOf(onto), u.Head)
	if err == nil && known && !u.readOnly {
		_ = u.Place.KeepUnlanded(clone.Unlanded{Onto: onto, Tip: tip, Head: u.Head, Units: units}) // if this fails it is computed again
	}
	return units, err
}

func (u *Unlanded) add(onto string, unit git.Unit) {
	i := slices.IndexFunc(u.Issues, func(one UnlandedIssue) bool { return one.ID == unit.Issue && one.Onto == onto && one.ID != "" })
	if i < 0 {
		i = len(u.Issues)
		u.Issues = append(u.Issues, UnlandedIssue{ID: unit.Issue, Onto: onto, After: []string{}})
	}
	u.Issues[i].Units = append(u.Issues[i].Units, unit)
}

// LandHint returns how many issues are to land, and the command to type; "" if there are none,
// on error, and in the run of a worker.
func LandHint(ctx context.Context, a *workspace.Run, store beads.Place, onto string) (found, command string) {
	if a.Getenv("STIG_RUN") != "" || a.Config.ByReview() || !process.Finder("", a.Getenv)("git") {
		return "", ""
	}
	u, err := FindUnlanded(ctx, a, store, onto, false)
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

// LandCommand returns the command that lands work from a branch; "" and stig's branches need no
// name.
func LandCommand(onto string) string {
	if onto == "" || strings.HasPrefix(onto, "stig/") {
		return "stig land"
	}
	return "stig land --onto " + visible.Quoted(onto)
}

// setUpLimit limits the setup of a tree for checks.
const setUpLimit = time.Hour

// SetUp runs in a tree the setup commands from the profiles of the actors who worked on the
// issues.
func SetUp(ctx context.Context, a *workspace.Run, store beads.Place, dir string, issues ...string) error {
	place, err := a.Live(store)
	if err != nil {
		return err
	}
	runs, _, err := place.Runs(time.Time{})
	if err != nil {
		return err
	}
	ran := map[string]bool{"": true}
	for _, r := range runs {
		if r.Issue == "" || !slices.Contains(issues, r.Issue) {
			continue
		}
		p, err := clone.LoadProfile(filepath.Dir(store.Dir), r.Actor)
		if err != nil || ran[p.Setup] {
			continue // no profile, or already run
		}
		ran[p.Setup] = true
		if trust, err := a.TrustsActor(ctx, p); err != nil || !trust.Agreed {
			return cmp.Or(err, error(&fault.Error{Code: fault.Found, Reason: r.Actor + ": the setup command in its profile is not trusted", Hint: "read it, then type stig trust"}))
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
