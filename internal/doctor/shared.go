package doctor

import (
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// sharedFor is how long doctor reports what changed while runs ran.
const sharedFor = 24 * time.Hour

// shared reports what changed outside the work trees of runs while they ran and has not been
// undone, and stashes that are kept.
func (e *examination) shared(place clone.Place, now time.Time) {
	code, err := workspace.CodeOf(e.store)
	if err != nil || code.Root == "" {
		return
	}
	e.keptStashes()
	runs, _, err := place.Runs(now.Add(-sharedFor))
	if err != nil {
		return // workers reports it
	}
	runs = slices.DeleteFunc(runs, func(r clone.Run) bool { return len(r.Shared) == 0 })
	if len(runs) == 0 {
		return
	}
	is, err := (&git.Watch{Git: e.app.GitIn(code.Root), At: code}).Look(e.ctx)
	if err != nil {
		e.failed("shared git", err)
		return
	}
	var others []string
	for _, r := range runs {
		list := slices.DeleteFunc(slices.Clone(r.Shared), func(c git.SharedChange) bool { return !c.Back && !is.Has(c) || c.Kept != "" })
		grave := slices.DeleteFunc(slices.Clone(list), func(c git.SharedChange) bool { return !c.IsGrave() || c.Back })
		rest := slices.DeleteFunc(list, func(c git.SharedChange) bool { return c.IsGrave() && !c.Back })
		if len(grave) > 0 {
			e.todo("shared git", strings.Join(r.SharedText(grave), ". "), undo(grave[0]))
		}
		others = append(others, r.SharedText(rest)...)
	}
	if len(others) > 0 {
		e.ok("shared git", "%s", strings.Join(others[:min(len(others), mostOthers)], ". "))
	}
}

// mostOthers is the maximum number of changes listed that need no action.
const mostOthers = 5

// undo returns what to type to undo a change.
func undo(c git.SharedChange) string {
	name, had, all := visible.Quoted(c.Name), c.Was != "", ""
	if c.Kind == git.SharedSetting && c.In == git.GlobalConfig {
		all = "--global "
	}
	switch {
	case c.Kind == git.SharedSetting && had:
		return "to undo it, type git config " + all + name + " " + visible.Quoted(c.Was)
	case c.Kind == git.SharedSetting:
		return "to undo it, type git config " + all + "--unset-all " + name
	case c.Kind == git.SharedStash:
		return "see what it contains: git stash show -p -u " + name
	case c.Kind == git.SharedBranch && had && c.In != "":
		return "see git log " + c.Was + ".." + c.Now + "; to undo it, type git -C " + visible.Quoted(c.In) + " reset --keep " + c.Was
	case c.Kind == git.SharedBranch && had:
		return "to undo it, type git branch -f " + name + " " + c.Was
	case c.Kind == git.SharedBranch:
		return "see git log " + name + "; to undo it, type git branch -D " + name
	case c.Kind == git.SharedTag && had:
		return "to undo it, type git tag -f " + name + " " + c.Was
	case c.Kind == git.SharedTag:
		return "to undo it, type git tag -d " + name
	case c.Kind == git.SharedFile:
		return "read it: .git/" + c.Name
	}
	return "see git log --walk-reflogs " + name
}

// keptStashes reports the stashes that left the list while a run ran.
func (e *examination) keptStashes() {
	listed := strings.Fields(e.said("log", "--walk-reflogs", "--format=%H", "refs/stash", "--"))
	for ref := range strings.FieldsSeq(e.said("for-each-ref", "--format=%(refname)", git.StashRefs)) {
		commit := strings.TrimPrefix(ref, git.StashRefs)
		if slices.Contains(listed, commit) {
			continue
		}
		e.todo("shared git", "a stash left the list while a run ran; stig keeps it: "+e.said("log", "-1", "--format=%h %s, of %cs", commit),
			"git stash store "+commit+" puts it back into the list; after that, or to discard it, type git update-ref -d "+ref)
	}
}
