package service

import (
	"context"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Unlanded is the work that loops finished and that the branch of the checkout lacks.
type Unlanded struct {
	Branch string          `json:"branch"` // of the checkout; "" where HEAD is detached
	Head   string          `json:"head"`
	Issues []UnlandedIssue `json:"issues"` // in the order in which they were finished

	Trees    git.WorktreeOptions `json:"-"`
	Place    clone.Place         `json:"-"`
	Branches []WorkBranch        `json:"-"`
}

// WorkBranch is a branch that results went to, with what of it is to land, the oldest first.
type WorkBranch struct {
	Name  string
	Units []git.Unit
}

// UnlandedIssue is what was done for one issue and is to land.
type UnlandedIssue struct {
	ID     string   `json:"id"` // "" for commits that name no issue
	Title  string   `json:"title"`
	Status string   `json:"status"`
	Onto   string   `json:"onto"`  // the branch that has it
	After  []string `json:"after"` // unlanded issues that it is built on
	git.Stat

	Units []git.Unit `json:"-"`
}

// Has reports whether work on an issue is to land.
func (u *Unlanded) Has(id string) bool {
	return id != "" && slices.ContainsFunc(u.Issues, func(one UnlandedIssue) bool { return one.ID == id })
}

// TreesOf are the options for work trees whose results go to a branch.
func (u *Unlanded) TreesOf(onto string) git.WorktreeOptions {
	trees := u.Trees
	trees.Onto = onto
	return trees
}

// FindUnlanded lists by issue what is to land, without what takes the text of the store. Unless it
// is to be fresh, what was found while HEAD and the branch were where they are will do.
func FindUnlanded(ctx context.Context, a *workspace.Run, store beads.Place, onto string, fresh bool) (*Unlanded, error) {
	trees, err := a.Trees(store)
	if err != nil {
		return nil, err
	}
	if trees == nil {
		return nil, workspace.Usage("land: there is no git repository here: work was done in place, and nothing is to land", "")
	}
	u := &Unlanded{Trees: *trees, Issues: []UnlandedIssue{}}
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
	if kept := u.Place.Unlanded(onto); known && !fresh && kept.Tip == tip && kept.Head == u.Head {
		return kept.Units, nil
	}
	units, err := git.Unlanded(ctx, u.TreesOf(onto), u.Head)
	if err == nil && known {
		_ = u.Place.KeepUnlanded(clone.Unlanded{Onto: onto, Tip: tip, Head: u.Head, Units: units}) // else it is found again
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

// LandHint says how many issues are to land, and what to type; "" where none is, where that
// cannot be told, and in the run of a worker.
func LandHint(ctx context.Context, a *workspace.Run, store beads.Place, onto string) (found, command string) {
	if a.Getenv("STIG_RUN") != "" || !process.Finder("", a.Getenv)("git") {
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

// LandCommand lists what is to land from a branch, "" for those that are found without a name.
func LandCommand(onto string) string {
	if onto == "" || strings.HasPrefix(onto, "stig/") {
		return "stig land"
	}
	return "stig land --onto " + visible.Quoted(onto)
}
