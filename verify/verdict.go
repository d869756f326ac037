package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"stig/criteria"
	"stig/git"
	"stig/visible"
)

// Outcome is how one check went.
type Outcome struct {
	criteria.Check         // of a check that did not run to its end Reason says why
	Exit           int     `json:"exit"`          // exit code of the shell, or one of the constants
	Seconds        float64 `json:"seconds"`       // how long it ran
	Tail           string  `json:"tail"`          // the last 20 lines of its output, 8 KiB at most; valid UTF-8
	Log            string  `json:"log,omitempty"` // the file that holds all of its output
}

// Exit codes of checks that did not run to their end.
const (
	ExitNotRun    = -1  // a check before it failed, or there was no time left
	ExitBroken    = 2   // does not parse
	ExitTimeout   = 124 // ended at its time limit
	ExitRefused   = 126 // not allowed to run
	ExitMissing   = 127 // a program is not here
	ExitInterrupt = 130 // interrupted
)

// Passed reports whether the check ran and succeeded.
func (o Outcome) Passed() bool { return o.Exit == 0 }

// Verdict is what running the checks of an issue showed. Only Run makes
// one; nil and the zero value did not pass.
type Verdict struct {
	issue    string
	outcomes []Outcome
	hash     string
	tree     git.Tree
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
	count := 0
	for _, o := range v.outcomes {
		if o.Passed() {
			count++
		}
	}
	return count
}

// Issue is the id of the issue whose checks ran.
func (v *Verdict) Issue() string { return v.issue }

// Outcomes lists the checks in the order of the criteria, also those that
// were not reached.
func (v *Verdict) Outcomes() []Outcome { return v.outcomes }

// Hash is the Hash of the criteria.
func (v *Verdict) Hash() string { return v.hash }

// Tree is the state of the work tree before the checks ran.
func (v *Verdict) Tree() git.Tree { return v.tree }

// Actor is who had the checks run, and Time when they began.
func (v *Verdict) Actor() string   { return v.actor }
func (v *Verdict) Time() time.Time { return v.time }

const (
	// summaryChecks is how many checks a summary names.
	summaryChecks = 8
	// summaryText is how much of a check it tells, in characters.
	summaryText = 60
	// shortCommit is how much of a commit, in hexadecimal digits.
	shortCommit = 7
)

// passing begins what a close reason tells of a verdict.
const passing = "All acceptance criteria pass: "

// Passing is the sentence of a close reason that tells of the results.
func (v *Verdict) Passing() string { return passing + v.Summary() }

// NamesResults reports whether a close reason has such a sentence, of checks that
// all passed. It sees the form and not whether any check ran.
func NamesResults(reason string) bool {
	for {
		_, after, found := strings.Cut(reason, passing)
		if !found {
			return false
		}
		var passed, all int
		if _, err := fmt.Sscanf(after, "%d/%d [", &passed, &all); err == nil && passed == all && passed > 0 && strings.Contains(after, "]") {
			return true
		}
		reason = after
	}
}

// Summary tells the results in one line, as a close reason ends:
//
//	3/3 [go test ./... 12.3s; just lint 0.8s; go vet ./... 1.1s] at 1a2b3c4
func (v *Verdict) Summary() string {
	var checks []string
	for i, o := range v.outcomes {
		if i == summaryChecks {
			checks = append(checks, "…")
			break
		}
		checks = append(checks, o.summary())
	}
	return fmt.Sprintf("%d/%d [%s]%s", v.passed(), len(v.outcomes), strings.Join(checks, "; "), place(v.tree))
}

func (o Outcome) summary() string {
	text, more, _ := strings.Cut(strings.TrimSpace(o.Text), "\n")
	if line := []rune(text); len(line) > summaryText {
		text, more = string(line[:summaryText]), "more"
	}
	text = visible.Text(strings.TrimSpace(text))
	if more != "" {
		text += " …"
	}
	switch {
	case o.Exit == ExitNotRun:
		return text + " not run"
	case o.Exit != 0:
		return fmt.Sprintf("%s exit %d", text, o.Exit)
	}
	return fmt.Sprintf("%s %.1fs", text, o.Seconds)
}

// place is where a tree is, as the end of a sentence.
func place(t git.Tree) string {
	switch {
	case t == (git.Tree{}):
		return ""
	case t.Head == "":
		return " before the first commit"
	case t.Dirty:
		return " at " + t.Head[:min(shortCommit, len(t.Head))] + " with uncommitted changes"
	}
	return " at " + t.Head[:min(shortCommit, len(t.Head))]
}

// record is a verdict as it is told and kept.
type record struct {
	ID     string    `json:"id"`
	Passed bool      `json:"passed"`
	Checks []Outcome `json:"checks"`
	Hash   string    `json:"criteria_hash"`
	Tree   git.Tree  `json:"tree"`
	Actor  string    `json:"actor"`
	Time   time.Time `json:"time"`
}

// MarshalJSON gives the verdict under the names of `stig verify --json`.
func (v *Verdict) MarshalJSON() ([]byte, error) {
	outcomes := v.outcomes
	if outcomes == nil {
		outcomes = []Outcome{}
	}
	return json.Marshal(record{v.issue, v.Passed(), outcomes, v.hash, v.tree, v.actor, v.time})
}

// Hash identifies criteria: 64 hexadecimal digits that depend on every byte.
func Hash(criteria string) string {
	sum := sha256.Sum256([]byte(criteria))
	return hex.EncodeToString(sum[:])
}
