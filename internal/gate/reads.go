package gate

import (
	"path"
	"slices"
	"strings"

	"stig/internal/git"
	"stig/internal/process"
)

// starters run the script that is their first argument; shells do so too.
var starters = []string{"python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "source", "."}

// rulesOf are the files that say what a program runs.
var rulesOf = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "just": {"justfile", "Justfile"}, "task": {"Taskfile.yml"},
	"npm": {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "bun": {"package.json"},
}

// scripts lists the files that checks start, or that say what is run, from where they run.
func scripts(checks []Check) (files []string) {
	for _, c := range checks {
		if !c.Asked() {
			continue
		}
		for _, command := range Commands(c.Text) {
			words := command.Words
			if len(words) == 0 {
				continue
			}
			name := path.Base(words[0])
			if strings.Contains(words[0], "/") {
				files = append(files, path.Clean(command.Place(words[0])))
			}
			for _, rules := range rulesOf[name] {
				files = append(files, path.Clean(command.Place(rules)))
			}
			at := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") })
			if at >= 0 && (slices.Contains(starters, name) || process.IsShell(name)) {
				files = append(files, path.Clean(command.Place(words[1+at])))
			}
		}
	}
	return files
}

// isTest reports whether a file is one of tests, as its name tells.
func isTest(file string) bool {
	dir, name := path.Split(strings.ToLower(file))
	stem, _, _ := strings.Cut(name, ".")
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if slices.Contains([]string{"test", "tests", "spec", "specs", "__tests__", "testdata", "e2e"}, part) {
			return true
		}
	}
	return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec") ||
		strings.Contains(name, ".test.") || strings.Contains(name, ".spec.")
}

// Reads gives those of the files that the checks read and that decide what they show: scripts
// and their rules, and tests that were there before. The paths count from where they run.
func Reads(checks []Check, changed []git.Change) (files []string) {
	started := scripts(checks)
	for _, f := range changed {
		if slices.Contains(started, f.Path) || f.Was && isTest(f.Path) {
			files = append(files, f.Path)
		}
	}
	return files
}

// Reading is the verdict with the files of Reads that the work changed: its reason names them.
func (v *Verdict) Reading(files []string) *Verdict {
	read := *v
	read.edited = files
	return &read
}

// Misses gives the first of the paths, directories or files, that a check names a file at or
// below: it reads what may not be there. "" for none.
func Misses(checks []Check, paths []string) string {
	for _, c := range checks {
		if !c.Asked() {
			continue
		}
		for _, command := range Commands(c.Text) {
			for _, word := range command.Words {
				_, value, option := strings.Cut(word, "=")
				if !option {
					value = word
				}
				file := path.Clean(command.Place(value))
				for _, p := range paths {
					if file == p || strings.HasPrefix(file, p+"/") || strings.HasPrefix(p, file+"/") {
						return p
					}
				}
			}
		}
	}
	return ""
}
