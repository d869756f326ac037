package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/git"
	"stig/internal/process"
)

// Values of Outcome.Difference: what a passing check shows about the work. A check that was
// green before the work shows nothing about it.
const (
	Turned  = "turned"  // it failed before the work
	New     = "new"     // it could not run before: a program was not there, or its time was over
	Held    = "held"    // it passed before too
	Flaky   = "flaky"   // run twice before the work, it passed once
	Unknown = "unknown" // it was not run before
)

// differences are those values in the order of a reason.
var differences = []string{Turned, New, Held, Flaky, Unknown}

// Before is the exit codes of checks before the work, by what they run and expect; two for a
// check that failed and was run again. The zero value has no checks.
type Before map[string][]int

// beforeKey identifies what a check runs and expects, including the issue if the check names
// it.
func beforeKey(issue string, c Check) string {
	if !strings.Contains(c.Text, issueVariable) {
		issue = ""
	}
	return Hash(strings.Join([]string{issue, c.Text, c.Expect.How, c.Expect.Text}, "\x00"))[:2*knownDigits]
}

// Has reports whether it covers all runnable checks of an issue.
func (b Before) Has(issue string, plan []Check) bool {
	return !slices.ContainsFunc(plan, func(c Check) bool { return c.Class == Runnable && b[beforeKey(issue, c)] == nil })
}

// Passed reports whether a check passed before the work.
func (b Before) Passed(issue string, c Check) bool {
	exits := b[beforeKey(issue, c)]
	return len(exits) > 0 && exits[0] == 0
}

// RunBefore runs all checks of a job and returns their results before the work. A check that
// fails is run once more. Errors are those of Run.
func RunBefore(ctx context.Context, j Job) (Before, error) {
	j.Checks = slices.DeleteFunc(slices.Clone(j.Checks), func(c Check) bool { return c.Class != Runnable })
	j.KeepGoing, j.bare = true, true
	v, err := Run(ctx, j)
	if err != nil {
		return nil, err
	}
	b := v.Shows()
	j.Checks = slices.DeleteFunc(j.Checks, func(c Check) bool { e := b[beforeKey(j.Issue, c)]; return e == nil || e[0] == 0 || cannotRun(e[0]) })
	if len(j.Checks) == 0 {
		return b, nil
	}
	again, err := Run(ctx, j)
	if err != nil {
		return nil, err
	}
	for key, exits := range again.Shows() {
		b[key] = append(b[key], exits...)
	}
	return b, nil
}

// Passes runs the checks of a job whatever the state of the work tree, and reports whether all
// passed. Errors are those of Run.
func Passes(ctx context.Context, j Job) (bool, error) {
	j.bare = true
	v, err := Run(ctx, j)
	return err == nil && v.Passed(), err
}

// Shows returns what a verdict shows the next worker, as that worker's Before. If a check is
// there twice, a failure counts.
func (v *Verdict) Shows() Before {
	b := Before{}
	for _, o := range v.outcomes {
		key := beforeKey(v.issue, o.Check)
		if o.Exit != ExitNotRun && o.Exit != ExitInterrupt && (b[key] == nil || o.Exit != 0) {
			b[key] = []int{o.Exit}
		}
	}
	return b
}

// cannotRun reports whether a check with that exit code could not run or finish.
func cannotRun(exit int) bool {
	return exit == ExitRefused || exit == ExitMissing || exit == ExitTimeout
}

// Against returns the verdict compared with the results before the work.
func (v *Verdict) Against(before Before) *Verdict {
	compared := *v
	compared.outcomes = slices.Clone(v.outcomes)
	for i := range compared.outcomes {
		if o := &compared.outcomes[i]; o.Passed() {
			o.Difference = difference(before[beforeKey(v.issue, o.Check)])
		}
	}
	return &compared
}

// difference returns what a passing check shows, given its exit codes before the work.
func difference(before []int) string {
	switch {
	case len(before) == 0:
		return Unknown
	case before[0] == 0:
		return Held
	case cannotRun(before[0]):
		return New
	case before[len(before)-1] == 0:
		return Flaky
	}
	return Turned
}

// Compared reports whether the checks were also run before the work; see Against.
func (v *Verdict) Compared() bool {
	return slices.ContainsFunc(v.outcomes, func(o Outcome) bool { return o.Difference != "" && o.Difference != Unknown })
}

// ShowsWork reports whether a check passes now and did not before the work.
func (v *Verdict) ShowsWork() bool {
	return slices.ContainsFunc(v.outcomes, func(o Outcome) bool { return o.Difference == Turned || o.Difference == New })
}

// MayHold reports whether all checks are in fences marked "verify held", which should be green
// before the work too.
func (v *Verdict) MayHold() bool {
	return !slices.ContainsFunc(v.outcomes, func(o Outcome) bool { return !o.Held })
}

// difference formats what the checks show about the work, as in a reason: " (2 turned, 1
// held)"; "" if nothing was run before.
func (v *Verdict) difference() string {
	if !v.Compared() {
		return ""
	}
	var parts []string
	for _, kind := range differences {
		n := 0
		for _, o := range v.outcomes {
			if o.Difference == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Befores stores the results of checks before the work, one file a key: the tree in which they
// ran (git.Tree.State), so that the verdict of one landing is the Before of the next, or
// another name. It keeps the newest 200.
type Befores struct{ Dir string }

// Load returns what is stored under a name; nil for nothing, and for unreadable files.
func (s Befores) Load(name string) (b Before) {
	text, err := os.ReadFile(s.file(name))
	if err == nil && json.Unmarshal(text, &b) != nil {
		return nil
	}
	return b
}

// Save adds to what is stored under a name.
func (s Befores) Save(name string, b Before) error {
	all := s.Load(name)
	if all == nil {
		all = Before{}
	}
	for key, exits := range b {
		all[key] = exits
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return errors.Join(replace(s.file(name), append(text, '\n')), prune(s.Dir, ".json"))
}

// Forget removes what is stored under a name.
func (s Befores) Forget(name string) error {
	if err := os.Remove(s.file(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s Befores) file(name string) string { return filepath.Join(s.Dir, fileName(name)+".json") }

// starters run the script in their first argument; shells do too.
var starters = []string{"python", "python3", "node", "deno", "bun", "ruby", "perl", "php"}

// rulesOf are the files that configure what a program runs.
var rulesOf = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "just": {"justfile", "Justfile"}, "rake": {"Rakefile"}, "task": {"Taskfile.yml"},
	"npm": {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "bun": {"package.json"},
}

// scripts lists the files that checks start, or that configure what runs, relative to where
// they run. A script whose output a check judges is the work, not the check.
func scripts(checks []Check) (files []string) {
	for _, c := range checks {
		if !c.Asked() {
			continue
		}
		for _, command := range Commands(c.Text) {
			words := command.Words
			if len(words) == 0 || command.Judged {
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

// testDirs and testNames mark tests, what they expect, and the configuration of what runs them:
// a directory, and how a name begins.
var (
	testDirs  = []string{"test", "tests", "spec", "specs", "__tests__", "testdata", "e2e", "fixtures", "golden", "goldens", "snapshots", "__snapshots__"}
	testNames = []string{"test_", "conftest.", "pytest.", "tox.", "jest.config.", "vitest.config.", "karma.conf.", "playwright.config.", "cypress.config.", ".mocharc.", ".rspec", "phpunit.xml"}
)

// isTest reports whether a file's name marks it as a test.
func isTest(file string) bool {
	dir, name := path.Split(strings.ToLower(file))
	stem, _, _ := strings.Cut(name, ".")
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if slices.Contains(testDirs, part) {
			return true
		}
	}
	return slices.ContainsFunc(testNames, func(begin string) bool { return strings.HasPrefix(name, begin) }) ||
		strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec") || strings.Contains(name, ".test.") || strings.Contains(name, ".spec.")
}

// Reads returns those of the files that the checks read and that decide their result: scripts
// and their configuration, and tests that existed before. Paths are relative to where the
// checks run.
func Reads(checks []Check, changed []git.Change) (files []string) {
	started := scripts(checks)
	for _, f := range changed {
		if slices.Contains(started, f.Path) || f.Was && isTest(f.Path) {
			files = append(files, f.Path)
		}
	}
	return files
}

// Reading returns the verdict with those files of Reads that the work changed: its reason names
// them.
func (v *Verdict) Reading(files []string) *Verdict {
	read := *v
	read.edited = files
	return &read
}

// Misses returns the first of the paths, directories or files, that a check refers to and that
// may be missing. "" for none.
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
