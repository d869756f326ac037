package guard

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// place names a file from where the line began.
func (w *analyzer) place(file string) string {
	if w.dir == "" || anchored(file) || file == "" {
		return file
	}
	return w.dir + "/" + file
}

// anchored reports whether a path does not depend on the working directory.
func anchored(file string) bool {
	return strings.HasPrefix(file, "/") || strings.HasPrefix(file, "~") || strings.HasPrefix(file, "$") || filepath.IsAbs(file)
}

// mayHold reports whether a path may be that of a store, by its looks.
func mayHold(file string) bool {
	return strings.Contains(file, ".jsonl") || strings.Contains(file, ".beads") || strings.ContainsAny(path.Base(file), "*?[")
}

// Overwrites reports whether the attempt writes a store. dir is where the
// command runs; both are absolute. A path with a variable in it is taken as it stands.
func (a Attempt) Overwrites(dir, store string) bool {
	return slices.ContainsFunc(a.Files, func(file string) bool {
		if !anchored(file) {
			file = dir + "/" + file
		}
		return alike(elements(file), elements(store)) || sameFile(file, store)
	})
}

func elements(file string) []string {
	return strings.Split(strings.TrimPrefix(path.Clean(filepath.ToSlash(file)), "/"), "/")
}

// alike matches a path against a pattern: "**", at its end, stands for what is below,
// and as in a shell a leading dot is matched by a dot alone.
func alike(pattern, of []string) bool {
	if len(pattern) == 0 || len(of) == 0 {
		return len(pattern) == len(of)
	}
	if pattern[0] == "**" {
		return true
	}
	matched, _ := path.Match(pattern[0], of[0])
	matched = matched && strings.HasPrefix(of[0], ".") == strings.HasPrefix(pattern[0], ".")
	return (matched || pattern[0] == of[0]) && alike(pattern[1:], of[1:]) // directories may be called [x]
}

// sameFile reports whether two paths name one file, by whatever links.
func sameFile(file, store string) bool {
	if strings.ContainsAny(file, "*?[\x00") {
		return false
	}
	a, err := os.Stat(file)
	if err != nil {
		return false
	}
	b, err := os.Stat(store)
	return err == nil && os.SameFile(a, b)
}
