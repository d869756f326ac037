package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/git"
	"stig/internal/visible"
)

// Outcome is the result of one check.
type Outcome struct {
	Check              // for a check that did not pass, why, if the exit code does not say
	Exit       int     `json:"exit"`                 // exit code of the shell, or one of the constants
	Seconds    float64 `json:"seconds"`              // how long it ran
	Tail       string  `json:"tail"`                 // the last 20 lines of its output, 8 KiB at most; valid UTF-8
	Log        string  `json:"log,omitempty"`        // the file that holds all of its output
	Difference string  `json:"difference,omitempty"` // of one that passed beside before the work: Turned, Held …; "" where nothing was run then
	Failed     *Failed `json:"failed,omitempty"`     // the command of the script that failed; nil where nothing tells
}

// Exit codes of checks that did not finish.
const (
	ExitNotRun    = -1  // an earlier check failed, or no time was left
	ExitDiffers   = 1   // its output differs from the criteria
	ExitBroken    = 2   // does not parse
	ExitTimeout   = 124 // ended at its time limit
	ExitRefused   = 126 // not allowed to run
	ExitMissing   = 127 // a program is missing
	ExitInterrupt = 130 // interrupted
)

// Passed reports whether the check ran and succeeded.
func (o Outcome) Passed() bool { return o.Exit == 0 }

// Verdict is the result of running the checks of an issue. Only Run creates one; nil and the
// zero value did not pass.
type Verdict struct {
	issue    string
	outcomes []Outcome
	notRun   []Check
	hash     string
	tree     git.Tree
	changed  bool // the checks changed tracked files, or committed
	ignored  []string
	edited   []string
	actor    string
	time     time.Time
}

// Passed reports whether there was a check, and every one of them passed.
func (v *Verdict) Passed() bool {
	if v == nil || len(v.outcomes) == 0 {
		return false
	}
	return v.passed() == len(v.outcomes)
}

func (v *Verdict) passed() int {
	return v.Counts().Passed
}

// Counts are how many checks of each kind an issue has.
type Counts struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"`  // those that must not run too
	NotRun int `json:"not_run"` // behind one that failed, or when the time was over
	Manual int `json:"manual"`  // which a person has to read
}

// Counts counts the checks, and what a person must read besides.
func (v *Verdict) Counts() Counts {
	c := Counts{Manual: len(v.notRun)}
	for _, o := range v.outcomes {
		switch {
		case o.Passed():
			c.Passed++
		case o.Exit == ExitNotRun:
			c.NotRun++
		default:
			c.Failed++
		}
	}
	return c
}

// String omits zeros: "2 passed, 1 failed, 3 not run, 1 manual".
func (c Counts) String() string {
	var parts []string
	for _, kind := range []struct {
		n    int
		name string
	}{{c.Passed, "passed"}, {c.Failed, "failed"}, {c.NotRun, "not run"}, {c.Manual, "manual"}} {
		if kind.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", kind.n, kind.name))
		}
	}
	return strings.Join(parts, ", ")
}

// Issue is the id of the issue whose checks ran.
func (v *Verdict) Issue() string { return v.issue }

// Outcomes lists the checks in the order of the criteria, including those not reached.
func (v *Verdict) Outcomes() []Outcome { return v.outcomes }

// NotRun lists the pieces of the criteria that the verdict does not cover, each with the
// reason.
func (v *Verdict) NotRun() []Check { return v.notRun }

// Hash is the Hash of the criteria.
func (v *Verdict) Hash() string { return v.hash }

// Tree is the state of the work tree before the checks ran.
func (v *Verdict) Tree() git.Tree { return v.tree }

// Changed reports whether the checks changed tracked files, or committed: then their results
// are not about Tree alone.
func (v *Verdict) Changed() bool { return v.changed }

// Ignored lists existing files that git ignored when the checks began, such as "node_modules/":
// a fresh checkout lacks them.
func (v *Verdict) Ignored() []string { return v.ignored }

// Edited lists the files of Reads that the work changed; see Reading.
func (v *Verdict) Edited() []string { return v.edited }

// Actor is who ran the checks, and Time when they began.
func (v *Verdict) Actor() string   { return v.actor }
func (v *Verdict) Time() time.Time { return v.time }

const (
	// summaryChecks limits how many checks a summary names.
	summaryChecks = 8
	// summaryRest limits how many unrun pieces it names.
	summaryRest = 4
	// summaryText limits how much of a check it shows, in characters.
	summaryText = 60
	// shortCommit is how many digits of a commit it shows.
	shortCommit = 7
)

// Passing is the sentence of a close reason about the results: that all pass, or which were not
// run, cannot fail, or ran no test.
//
//	All acceptance criteria pass: 3/3 (2 turned, 1 held) [go test ./... 12.3s; just lint 0.8s; go vet ./... 1.1s] at 1a2b3c4
//	1 of 3 checked (1 turned); not run: mast up; tide.yaml [go test ./... 12.3s] at 1a2b3c4
func (v *Verdict) Passing() string {
	results := v.Summary()
	if len(v.notRun) == 0 {
		results = passing + results
	}
	if v.Compared() && !v.ShowsWork() {
		results += greenBefore
	}
	if v.edited != nil {
		results += editedFiles + namedFew(v.edited)
	}
	return results + v.named(cannotFail, func(o Outcome) bool { return o.CannotFail != "" }) + v.named(noTest, Outcome.RanNoTest)
}

// What a reason says after the place.
const (
	greenBefore = "; green before the work too"
	editedFiles = "; changed in this run: "
)

// namedFew names the first of several things, and counts the others.
func namedFew(names []string) string {
	if more := len(names) - summaryRest; more > 0 {
		names = append(slices.Clone(names[:summaryRest]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, "; ")
}

// named names the checks of a kind, after introductory words; "" for none.
func (v *Verdict) named(kind string, is func(Outcome) bool) string {
	var texts []string
	for _, o := range v.outcomes {
		if is(o) {
			texts = append(texts, shortened(o.Text))
		}
	}
	if texts == nil {
		return ""
	}
	return kind + strings.Join(texts, "; ")
}

// Summary formats the results in one line, as at the end of a close reason:
//
//	3/3 [go test ./... 12.3s; just lint 0.8s; go vet ./... 1.1s] at 1a2b3c4
//	1 of 3 checked; not run: mast up; tide.yaml [go test ./... 12.3s] at 1a2b3c4
//	1 passed, 1 failed, 2 not run [go test ./... 12.3s; …] at 1a2b3c4
func (v *Verdict) Summary() string {
	switch {
	case !v.Passed():
		return v.Counts().String() + v.ran()
	case len(v.notRun) == 0:
		return fmt.Sprintf("%d/%d", v.passed(), len(v.outcomes)) + v.difference() + v.ran()
	}
	var rest []string
	for _, c := range v.notRun {
		rest = append(rest, shortened(c.Text))
	}
	return fmt.Sprintf("%d of %d checked%s; not run: %s", v.passed(), len(v.outcomes)+len(v.notRun), v.difference(), namedFew(rest)) + v.ran()
}

// ran names the checks that ran, and where.
func (v *Verdict) ran() string {
	var checks []string
	for i, o := range v.outcomes {
		if i == summaryChecks {
			checks = append(checks, more)
			break
		}
		checks = append(checks, o.summary())
	}
	return fmt.Sprintf(" [%s]%s", strings.Join(checks, "; "), v.place())
}

// shortened is the first line of a text, within the limit of a summary.
func shortened(text string) string {
	text, more, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line := []rune(text); len(line) > summaryText {
		text, more = string(line[:summaryText]), "more"
	}
	text = visible.Text(strings.TrimSpace(text))
	if more != "" {
		text += " …"
	}
	return text
}

func (o Outcome) summary() string {
	text := shortened(o.Text)
	switch {
	case o.Exit == ExitNotRun:
		return text + " not run"
	case o.Exit != 0:
		return fmt.Sprintf("%s exit %d", shortened(o.Fault()), o.Exit)
	}
	return fmt.Sprintf("%s %.1fs", text, o.Seconds)
}

// firstPlace is the place of a tree before the first commit.
const firstPlace = " before the first commit"

// place says where the checks ran, as the end of a sentence.
func (v *Verdict) place() string {
	t, with := v.tree, ""
	switch {
	case t == (git.Tree{}):
		return ""
	case t.Head == "":
		return firstPlace
	case t.Dirty && v.changed:
		with = " with uncommitted changes and changes by the checks"
	case t.Dirty:
		with = " with uncommitted changes"
	case v.changed:
		with = " with changes by the checks"
	}
	return " at " + t.Head[:min(shortCommit, len(t.Head))] + with
}

// record is a verdict as shown and stored.
type record struct {
	ID     string    `json:"id"`
	Passed bool      `json:"passed"`
	Checks []Outcome `json:"checks"`
	NotRun []Check   `json:"not_run"`
	Hash   string    `json:"criteria_hash"`
	Tree   git.Tree  `json:"tree"`
	Actor  string    `json:"actor"`
	Time   time.Time `json:"time"`
	// Changed: the checks changed tracked files.
	Changed bool     `json:"tree_changed"`
	Ignored []string `json:"ignored,omitempty"`
	Edited  []string `json:"edited,omitempty"`
	Counts  Counts   `json:"counts"`
}

// verdict is the verdict in a record.
func (r record) verdict() *Verdict {
	return &Verdict{r.ID, r.Checks, r.NotRun, r.Hash, r.Tree, r.Changed, r.Ignored, r.Edited, r.Actor, r.Time}
}

// MarshalJSON encodes the verdict with the names of `stig verify --json`.
func (v *Verdict) MarshalJSON() ([]byte, error) {
	outcomes := v.outcomes
	if outcomes == nil {
		outcomes = []Outcome{}
	}
	rest := v.notRun
	if rest == nil {
		rest = []Check{}
	}
	return json.Marshal(record{v.issue, v.Passed(), outcomes, rest, v.hash, v.tree, v.actor, v.time, v.changed, v.ignored, v.edited, v.Counts()})
}

// Hash identifies criteria: 64 hexadecimal digits that depend on every byte.
func Hash(criteria string) string {
	sum := sha256.Sum256([]byte(criteria))
	return hex.EncodeToString(sum[:])
}
