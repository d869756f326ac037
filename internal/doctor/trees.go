package doctor

import (
	"os"
	"path/filepath"
	"strings"

	"stig/internal/clone"
	"stig/internal/file"
	"stig/internal/visible"
)

// leftTrees reports work trees of loops that their clone does not know: it was removed, perhaps
// cloned again, or moved. Nothing else names them, and each may be as large as the clone. If a
// clone was moved, the next loop there finds its own.
func (e *examination) leftTrees(place clone.Place) {
	state := e.app.StateDir()
	if state == "" {
		return
	}
	found, _ := filepath.Glob(filepath.Join(state, "trees", "*", "*", ".git"))
	var clones []string
	left := map[string][]string{}
	for _, path := range found {
		text, _ := file.Read(path)
		admin, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if _, err := os.Stat(admin); !ok || !os.IsNotExist(err) || isOurs(place, filepath.Base(admin), path) {
			continue
		}
		clone, _, _ := strings.Cut(filepath.ToSlash(admin), "/.git/worktrees/")
		if left[clone] == nil {
			clones = append(clones, clone)
		}
		left[clone] = append(left[clone], visible.Quoted(filepath.Dir(path)))
	}
	for _, clone := range clones {
		e.todo("work trees", visible.Counted(len(left[clone]), "work tree")+" of a clone at "+clone+", where git does not know them",
			"if the clone was moved, type stig work there; if it was removed: rm -rf "+strings.Join(left[clone], " "))
	}
}

// isOurs reports whether this clone has a work tree of that name whose .git is at path.
func isOurs(place clone.Place, name, path string) bool {
	text, err := file.Read(filepath.Join(place.Tree.Common, "worktrees", name, "gitdir"))
	return err == nil && strings.TrimSpace(string(text)) == filepath.ToSlash(path)
}
