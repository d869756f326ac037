package workspace

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/file"
	"stig/internal/store/jsonl"
)

// ExcludeLine returns the line that makes git ignore a file below the root of a work tree.
func ExcludeLine(root, path string) (string, error) {
	below, err := filepath.Rel(root, path)
	if err == nil && !filepath.IsLocal(below) {
		err = errors.New(path + ": not below " + root)
	}
	return "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(filepath.ToSlash(below)), err
}

// excludeLocks makes git ignore the lock files of the store, by info/exclude, which belongs to
// this clone; the store's .gitignore may be another program's. If that cannot be written, git
// status shows the lock files.
func excludeLocks(p beads.Place, place clone.Place) {
	touched, err := jsonl.Touched(p)
	if err != nil || len(touched) == 0 || place.Tree.Common == "" {
		return
	}
	exclude := HostFile{Path: filepath.Join(place.Tree.Common, "info", "exclude")}
	for _, lock := range touched[1:] {
		line, err := ExcludeLine(place.Worktree, lock)
		if err != nil || hasLine(filepath.Join(filepath.Dir(lock), ".gitignore"), filepath.Base(lock)) || hasLine(exclude.Path, line) {
			continue
		}
		text, err := exclude.Read()
		if err != nil {
			return
		}
		next := string(text)
		if next != "" && !strings.HasSuffix(next, "\n") {
			next += "\n"
		}
		for _, step := range exclude.Change(text, []byte(next+line+"\n")) {
			_ = step.Do()
		}
	}
}

func hasLine(path, line string) bool {
	text, err := file.Read(path)
	return err == nil && slices.ContainsFunc(strings.Split(string(text), "\n"), func(l string) bool { return strings.TrimSpace(l) == line })
}
