package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"
)

// Outcome is how one check went.
type Outcome struct {
	Check           // of a check that failed without running, Reason says why
	Exit    int     `json:"exit"`          // exit code of the shell, or one of the constants
	Seconds float64 `json:"seconds"`       // how long it ran
	Tail    string  `json:"tail"`          // the last lines of its output, valid UTF-8
	Log     string  `json:"log,omitempty"` // the file that holds all of its output
}

// Exit codes of checks that did not run to their end.
const (
	ExitNotRun    = -1  // a check before it failed, or there was no time left
	ExitTimeout   = 124 // ended at its time limit
	ExitRefused   = 126 // not allowed to run
	ExitMissing   = 127 // a program is not here
	ExitInterrupt = 130 // interrupted
)

// Passed tells whether the check ran and succeeded.
func (o Outcome) Passed() bool { return o.Exit == 0 }

// Verdict is what running the checks of an issue showed. Only Verify makes
// one; nil and the zero value did not pass.
type Verdict struct {
	issue    string
	outcomes []Outcome
	hash     string
	tree     Tree
	actor    string
	time     time.Time
}

// Passed tells whether there was a check, and every one of them passed.
func (v *Verdict) Passed() bool {
	if v == nil || len(v.outcomes) == 0 {
		return false
	}
	for _, o := range v.outcomes {
		if !o.Passed() {
			return false
		}
	}
	return true
}

// Issue is the id of the issue whose checks ran.
func (v *Verdict) Issue() string { return v.issue }

// Outcomes lists the checks in the order of the criteria, also those that
// were not reached.
func (v *Verdict) Outcomes() []Outcome { return v.outcomes }

// Hash is the Hash of the criteria.
func (v *Verdict) Hash() string { return v.hash }

// Tree is the state of the work tree before the checks ran.
func (v *Verdict) Tree() Tree { return v.tree }

// Summary tells the results in one line, as a close reason ends:
//
//	3/3 [go test ./... 12.3s; …] at 1a2b3c4
func (v *Verdict) Summary() string { return "" }

// MarshalJSON gives the verdict under the names of `stig verify --json`.
func (v *Verdict) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"id": v.issue, "passed": v.Passed(), "checks": v.outcomes})
}

// Hash identifies criteria: 64 hexadecimal digits that depend on every byte.
func Hash(criteria string) string {
	sum := sha256.Sum256([]byte(criteria))
	return hex.EncodeToString(sum[:])
}

// Verdicts keeps the last verdict of each issue in a directory of git's own.
type Verdicts struct{ Dir string }

// Save keeps a verdict in place of the one before it.
func (s Verdicts) Save(v *Verdict) error { return errors.New("verdicts cannot be kept yet") }

// Fresh gives the verdict on an issue if it passed and still counts: nothing
// of the criteria and of the tree has changed since.
func (s Verdicts) Fresh(id, criteriaHash string, tree Tree) (*Verdict, bool) { return nil, false }
