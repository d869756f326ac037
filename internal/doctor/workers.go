package doctor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/visible"
)

// workers reports what worker loops left: claims of loops that were killed, expired leases,
// unknown work trees, changes of what clones share, work that waits to land, and unreadable
// files of the live state.
func (e *examination) workers() {
	place, err := e.app.Live(e.store)
	if err != nil {
		e.failed("workers", err)
		return
	}
	now, err := e.app.Clock()
	if err != nil {
		return // environment reports it
	}
	presences, _ := place.Presences() // unreadable files are moved aside
	claims, judge, _ := service.Judge(e.app, place, now).AsRead(func() (clone.Claims, error) { return place.Claims() })
	e.unreadable(place)
	e.leftTrees(place)
	e.shared(place, now)
	running, dead := 0, []string{}
	for _, p := range presences {
		switch runs, known := p.Runs(); {
		case runs:
			running++
		case known && p.Process != (process.ID{}) && p.Issue != "" && p.State != clone.Dead:
			dead = append(dead, fmt.Sprintf("%s (%s)", p.Issue, p.Name))
		}
	}
	if found, command := service.LandHint(e.ctx, e.app, e.store, ""); found != "" {
		e.todo("landing", found, command)
	}
	dead = append(dead, e.lapsed(claims, judge)...)
	slices.Sort(dead)
	if dead = slices.Compact(dead); len(dead) > 0 {
		e.todo("workers", "claims of loops that ended, and claims not renewed in time: "+strings.Join(dead, ", "), "stig sweep --dry-run")
	} else if len(presences) > 0 {
		e.ok("workers", "%s, no claim to return", visible.Counted(running, "loop"))
	}
}

// lapsed returns the issues in progress whose leases expired, each with its holder.
func (e *examination) lapsed(claims clone.Claims, judge clone.Judge) (names []string) {
	snapshot, err := e.app.At(e.store).Snapshot()
	if err != nil {
		return nil // findStore reports it
	}
	defer snapshot.Close()
	for _, issue := range snapshot.All() {
		l, ok := claims.Lease(issue.ID)
		if ok && issue.Status == beads.StatusInProgress && l.Actor == issue.Assignee && judge.Ended(l) {
			names = append(names, fmt.Sprintf("%s (%s)", issue.ID, l.Actor))
		}
	}
	return names
}

// unreadable reports files of the live state that could not be read. They were moved aside, and
// stig goes on without their content.
func (e *examination) unreadable(place clone.Place) {
	if paths := place.Unreadable(); len(paths) > 0 {
		e.todo("live state", "unreadable, moved aside: "+strings.Join(paths, ", "), "rm "+strings.Join(paths, " "))
	}
}

// workTrees reports work trees of closed issues, which nobody needs any more.
func (e *examination) workTrees() {
	snapshot, err := e.app.At(e.store).Snapshot()
	if err != nil {
		return // findStore reports it
	}
	defer snapshot.Close()
	for entry := range strings.SplitSeq(e.said("worktree", "list", "--porcelain"), "\n\n") {
		_, issue, ok := strings.Cut(entry, "\nbranch refs/heads/stig/")
		dir, _, _ := strings.Cut(strings.TrimPrefix(entry, "worktree "), "\n")
		issue, _, _ = strings.Cut(issue, "\n")
		if at, known := snapshot.Index(issue); !ok || !known || !beads.IsClosed(snapshot.At(at).Status) {
			continue
		}
		if service.Stranded(e.ctx, e.app, e.store, issue) != "" {
			continue // branches reports it
		}
		do := "see what it contains: git -C " + dir + " status; then type git worktree remove " + dir
		if strings.Contains(entry, "\nlocked stig: ") {
			do = "stig worktree rm " + visible.Quoted(issue)
		} else if strings.Contains(entry, "\nlocked") {
			do = strings.Replace(do, "type ", "type git worktree unlock "+dir+" && ", 1)
		}
		e.todo("work trees", fmt.Sprintf("%s is closed, but its work tree is still there: %s", issue, filepath.ToSlash(dir)), do)
	}
}

// branches reports branches of closed issues with work that is on no other branch.
func (e *examination) branches() {
	snapshot, err := e.app.At(e.store).Snapshot()
	if err != nil {
		return // findStore reports it
	}
	defer snapshot.Close()
	there := map[string]bool{}
	for name := range strings.FieldsSeq(e.said("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/stig/")) {
		there[name] = true
	}
	for _, issue := range snapshot.All() {
		branch := git.BranchOf(issue.ID, git.WorkBranch)
		if !there[branch] || !beads.IsClosed(issue.Status) {
			continue
		}
		if remedy := service.Stranded(e.ctx, e.app, e.store, issue.ID); remedy != "" {
			e.todo("branches", fmt.Sprintf("%s is closed, but its work is only on branch %s", issue.ID, branch),
				remedy+"; to discard it: "+service.Discard(e.ctx, e.app, e.store, issue.ID))
		}
	}
}
