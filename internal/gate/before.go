package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Values of Outcome.Difference: what a check that passes shows of the work. A check that was
// green before the work began shows nothing of it.
const (
	Turned  = "turned"  // it failed before the work
	New     = "new"     // it could not run before: a program was not there, or its time was over
	Held    = "held"    // it passed before too
	Flaky   = "flaky"   // run twice before the work, it passed once
	Unknown = "unknown" // it was not run before
)

// differences are those values in the order in which a reason counts them.
var differences = []string{Turned, New, Held, Flaky, Unknown}

// Before is what checks showed before the work: their exit codes, by what they run and
// expect; two of a check that failed, and was run once more. The zero value is that of no check.
type Before map[string][]int

// beforeKey is what a check runs and expects. The issue counts where the check names it.
func beforeKey(issue string, c Check) string {
	if !strings.Contains(c.Text, issueVariable) {
		issue = ""
	}
	return Hash(strings.Join([]string{issue, c.Text, c.Expect.How, c.Expect.Text}, "\x00"))[:2*knownDigits]
}

// Has reports whether it says of all the checks of an issue that can be run what they showed.
func (b Before) Has(issue string, plan []Check) bool {
	return !slices.ContainsFunc(plan, func(c Check) bool { return c.Class == Runnable && b[beforeKey(issue, c)] == nil })
}

// Passed reports whether a check passed before the work.
func (b Before) Passed(issue string, c Check) bool {
	exits := b[beforeKey(issue, c)]
	return len(exits) > 0 && exits[0] == 0
}

// RunBefore runs the checks of a job, whatever fails, and gives what they show before the
// work. One that fails is run once more. Errors are those of Run.
func RunBefore(ctx context.Context, j Job) (Before, error) {
	j.Checks = slices.DeleteFunc(slices.Clone(j.Checks), func(c Check) bool { return c.Class != Runnable })
	j.KeepGoing = true
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

// Shows is what a verdict shows to whoever works next: their Before. Of a check that stands
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

// cannotRun reports whether a check with that exit code could not run, or not to its end.
func cannotRun(exit int) bool {
	return exit == ExitRefused || exit == ExitMissing || exit == ExitTimeout
}

// Against is the verdict beside what its checks showed before the work.
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

// difference is what a check that passes shows beside its exit codes before the work.
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

// Compared reports whether the checks were run before the work too; see Against.
func (v *Verdict) Compared() bool {
	return slices.ContainsFunc(v.outcomes, func(o Outcome) bool { return o.Difference != "" && o.Difference != Unknown })
}

// ShowsWork reports whether a check passes that did not before the work.
func (v *Verdict) ShowsWork() bool {
	return slices.ContainsFunc(v.outcomes, func(o Outcome) bool { return o.Difference == Turned || o.Difference == New })
}

// MayHold reports whether all checks stand in fences marked "verify held", which are to be
// green before the work too.
func (v *Verdict) MayHold() bool {
	return !slices.ContainsFunc(v.outcomes, func(o Outcome) bool { return !o.Held })
}

// difference counts what the checks show of the work, as a reason has it: " (2 turned, 1
// held)"; "" where nothing was run before.
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

// Befores keeps what checks showed before the work, in a file each: by the tree in which they
// ran (git.Tree.State), so that the verdict of one landing is the Before of the next, or by
// another name. The newest 200 stay.
type Befores struct{ Dir string }

// Load gives what is kept under a name; nil for nothing, and for what cannot be read.
func (s Befores) Load(name string) (b Before) {
	text, err := os.ReadFile(s.file(name))
	if err == nil && json.Unmarshal(text, &b) != nil {
		return nil
	}
	return b
}

// Save adds to what is kept under a name.
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

// Forget removes what is kept under a name.
func (s Befores) Forget(name string) error {
	if err := os.Remove(s.file(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s Befores) file(name string) string { return filepath.Join(s.Dir, fileName(name)+".json") }
