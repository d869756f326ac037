package night

import (
	"context"

	"stig/dag"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/workspace"
)

// Unlanded is the work to land, with its size and what it is built on.
type Unlanded struct {
	*service.Unlanded

	named []string // full ids of the requested issues
}

// ToLand finds the work to land from a branch; "" means stig's branches. ids may lack their
// prefix.
func ToLand(ctx context.Context, a *workspace.Run, onto string, ids ...string) (*Unlanded, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	found, err := service.FindUnlanded(ctx, a, file.Place(), onto, true)
	if err != nil {
		return nil, err
	}
	u := &Unlanded{Unlanded: found}
	for _, id := range ids {
		issue, err := file.Find(id)
		if err != nil {
			return nil, err
		}
		u.named = append(u.named, issue.ID)
	}
	graph := dag.New(file)
	for i := range u.Issues {
		one := &u.Issues[i]
		for _, unit := range one.Units {
			stat, err := git.StatOf(ctx, u.TreesOf(one.Onto), unit)
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
			if other := file.At(b).ID; u.Has(other) {
				one.After = append(one.After, other)
			}
		}
	}
	return u, nil
}

// builtOn returns the closed issues that an issue waited for, directly or indirectly.
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

// Diff returns the patch of an issue to land.
func Diff(ctx context.Context, a *workspace.Run, id, onto string) (string, error) {
	u, err := ToLand(ctx, a, onto, id)
	if err != nil {
		return "", err
	}
	for _, one := range u.Issues {
		if one.ID == u.named[0] {
			return u.DiffOf(ctx, one)
		}
	}
	return "", nil
}

// DiffOf returns the patch of one of the issues to land.
func (u *Unlanded) DiffOf(ctx context.Context, one service.UnlandedIssue) (text string, err error) {
	for _, unit := range one.Units {
		diff, err := git.DiffOf(ctx, u.TreesOf(one.Onto), unit)
		if text += diff; err != nil {
			return "", err
		}
	}
	return text, nil
}

// git returns a git client in the checkout.
func (u *Unlanded) git() git.Client {
	there := u.Trees.Git
	there.Dir = u.Trees.Root
	return there
}
