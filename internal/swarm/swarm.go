// Package swarm computes what several explorers of one question know together, and when they
// are done. Its rules come from honeybees looking for a nest and ants marking paths: directions
// have a concentration that evaporates, stop signals lower it, and a quorum of explorers
// decides.
//
// The blackboard is a replay: nothing edits it. Replay returns the state after a list of
// operations, the same on every machine. The package opens no store, reads no clock and draws
// no random numbers: chance is a hash of agent, purpose and round.
//
//	state := swarm.Replay(operations)
//	state.Convergence.Converged
package swarm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"stig/internal/visible"
)

// Kind is the kind of an operation.
type Kind string

// Kinds of operations. Agents make those from Deposit to State, the starter of the swarm the
// others. A settlement writes Role and Warning for people to read; Replay computes them itself.
const (
	Start   Kind = "start"
	Deposit Kind = "deposit"
	Stop    Kind = "stop"
	Probe   Kind = "probe"
	Find    Kind = "finding"
	Host    Kind = "state"
	Role    Kind = "role"
	Warning Kind = "warning"
	Judge   Kind = "verdict" // on a solution, before the settlement
	Settle  Kind = "settle"
	End     Kind = "end"
)

// ofAgents are the kinds that an agent may use.
var ofAgents = []Kind{Deposit, Stop, Probe, Find, Host}

// Reasons are the reasons for a stop signal.
var Reasons = []string{"contradictory_evidence", "better_alternative", "resource_conflict"}

// Mode is how a swarm begins.
type Mode string

const (
	Emergent Mode = "emergent" // without directions: they come from the explorers
	Hybrid   Mode = "hybrid"   // with a list of directions to begin with
	Classic  Mode = "classic"  // one round side by side, one synthesis
)

// Modes lists the modes.
var Modes = []Mode{Emergent, Hybrid, Classic}

// Outcome is why a swarm ended.
type Outcome string

const (
	Proved       Outcome = "proved"    // a solution passed the acceptance criteria
	Converged    Outcome = "converged" // ideas are stable, and one has a quorum
	Exhausted    Outcome = "exhausted" // no round is left
	Stagnant     Outcome = "stagnant"  // nothing changed for twice the time of the warning
	TimedOut     Outcome = "timeout"
	Insufficient Outcome = "insufficient_active_agents"
	Stopped      Outcome = "stopped" // whoever started it ended it
)

// Asks reports whether a person decides after such an end.
func (o Outcome) Asks() bool { return o == Exhausted || o == Stagnant }

// Operation is one line of a swarm's record. Its kind determines which of the keys after At
// count.
type Operation struct {
	Swarm string    `json:"swarm"`
	Round int       `json:"round"` // 0 for the start
	Agent string    `json:"agent"`
	ID    string    `json:"op"` // AGENT-N, counted for each agent
	Kind  Kind      `json:"operation"`
	At    time.Time `json:"created_at"`

	Task       string   `json:"task,omitempty"`
	Agents     []string `json:"agents,omitempty"`
	Mode       Mode     `json:"mode,omitempty"`
	Directions []string `json:"directions,omitempty"`
	Config     *Config  `json:"config,omitempty"`

	Direction   string   `json:"direction,omitempty"`
	Amount      float64  `json:"amount,omitempty"` // 0 is that of the configuration
	Target      string   `json:"target,omitempty"`
	Reason      string   `json:"reason,omitempty"`
	Evidence    string   `json:"evidence,omitempty"`
	Subtask     string   `json:"subtask,omitempty"`
	Idea        string   `json:"core_idea,omitempty"`
	Perspective string   `json:"perspective,omitempty"`
	Details     string   `json:"details,omitempty"`
	AgreesWith  []string `json:"agrees_with,omitempty"`
	Branch      string   `json:"branch,omitempty"`
	Commit      string   `json:"commit,omitempty"`
	Exploring   string   `json:"exploring,omitempty"`
	Claimed     string   `json:"claimed,omitempty"`
	Note        string   `json:"note,omitempty"`

	NewRole     string            `json:"new_role,omitempty"`
	Warning     string            `json:"warning,omitempty"`
	Figures     map[string]Figure `json:"figures,omitempty"`
	Suggestions []string          `json:"suggestions,omitempty"`
	Missing     []string          `json:"missing,omitempty"`
	Verdict     *Verdict          `json:"verdict,omitempty"`
}

// Verdict is the result of the acceptance criteria for an agent's solution.
type Verdict struct {
	Agent  string `json:"agent"`
	Idea   string `json:"core_idea,omitempty"`
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit"`
	Passed bool   `json:"passed"`
	Why    string `json:"why,omitempty"` // it did not pass

	Changed []string `json:"changed,omitempty"` // in records of older versions: changed files that the criteria name
}

// Figure is a number printed with 12 decimals.
type Figure float64

// MarshalJSON writes the number with 12 decimals.
func (f Figure) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(f), 'f', 12, 64), nil
}

// numberOf is the N of an operation's id, AGENT-N; 0 for none.
func (o Operation) numberOf() int {
	n, err := strconv.Atoi(o.ID[strings.LastIndexByte(o.ID, '-')+1:])
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Limits of an operation in bytes, since traces with several operations have limited room: of a
// name, of a text, and of the whole.
const (
	mostName  = 300
	mostText  = 2500
	mostLine  = 5000
	mostIdeas = 20 // ideas that a finding agrees with
)

// field is a text in an agent's operation.
type field struct {
	key    string
	also   []string // other names for it in an answer, as plain returns them
	in     func(*Operation) *string
	most   int
	needed bool
}

// fields are the texts that count in an agent's operation, by kind.
var fields = map[Kind][]field{
	Deposit: {direction},
	Stop: {
		{"target", []string{"targetdirection"}, func(o *Operation) *string { return &o.Target }, mostName, true},
		{"reason", nil, func(o *Operation) *string { return &o.Reason }, mostName, true},
		{"evidence", nil, func(o *Operation) *string { return &o.Evidence }, mostText, true},
	},
	Probe: {{"subtask", []string{"description"}, func(o *Operation) *string { return &o.Subtask }, mostName, true}},
	Find: {
		{"core_idea", []string{"idea"}, func(o *Operation) *string { return &o.Idea }, mostName, true},
		direction,
		{"perspective", nil, func(o *Operation) *string { return &o.Perspective }, mostName, false},
		{"details", nil, func(o *Operation) *string { return &o.Details }, mostText, true},
		{"branch", nil, func(o *Operation) *string { return &o.Branch }, mostLine, false},
	},
	Host: {
		{"exploring", []string{"exploringdirection", "currentexploringdirection"}, func(o *Operation) *string { return &o.Exploring }, mostName, false},
		{"claimed", []string{"claimedsubtask", "currentclaimedsubtask"}, func(o *Operation) *string { return &o.Claimed }, mostName, false},
		{"note", nil, func(o *Operation) *string { return &o.Note }, mostText, false},
	},
}

var direction = field{"direction", nil, func(o *Operation) *string { return &o.Direction }, mostName, true}

// Normal normalizes an agent's operation for Validate and Replay: it keeps only the keys of its
// kind, folds texts and turns ideas into slugs.
func (o Operation) Normal() Operation {
	n := Operation{Swarm: o.Swarm, Round: o.Round, Agent: o.Agent, ID: o.ID, Kind: o.Kind, At: o.At}
	for _, f := range fields[o.Kind] {
		text := trimmed(*f.in(&o))
		if f.most != mostText {
			text = visible.OneLine(text)
		}
		*f.in(&n) = text
	}
	switch o.Kind {
	case Deposit:
		n.Amount = o.Amount
	case Stop:
		n.Reason = strings.ReplaceAll(strings.ToLower(n.Reason), " ", "_")
	case Find:
		n.Idea, n.Commit = slug(o.Idea), o.Commit
		for _, idea := range o.AgreesWith {
			if idea = slug(idea); idea != "" && !slices.Contains(n.AgreesWith, idea) {
				n.AgreesWith = append(n.AgreesWith, idea)
			}
		}
	}
	return n
}

// Texts are the free texts in an operation.
func (o Operation) Texts() []string {
	list := append([]string{o.Task}, slices.Concat(o.Directions, o.AgreesWith)...)
	for _, f := range fields[o.Kind] {
		list = append(list, *f.in(&o))
	}
	return list
}

// Validate returns what is wrong with an agent's operation, whatever the blackboard contains.
func (o Operation) Validate() error {
	if fields[o.Kind] == nil {
		if o.Kind == Role {
			return fmt.Errorf("role: is drawn when a round is settled, and cannot be set")
		}
		return fmt.Errorf("operation: must be %s; found %q", joined(ofAgents), o.Kind)
	}
	size := len(o.Commit) + len(o.Swarm) + len(o.Agent) + len(o.ID) + len(strings.Join(o.AgreesWith, ", "))
	for _, f := range fields[o.Kind] {
		text := *f.in(&o)
		if size += len(text); len(text) > f.most {
			return fmt.Errorf("%s: must be at most %d bytes; found %d", f.key, f.most, len(text))
		}
	}
	switch {
	case math.IsNaN(o.Amount) || o.Amount < 0 || o.Amount > 1:
		return fmt.Errorf("amount: must be above 0 and at most 1; found %v", o.Amount)
	case o.Kind == Stop && !slices.Contains(Reasons, o.Reason):
		return fmt.Errorf("reason: must be %s; found %q", strings.Join(Reasons, ", "), o.Reason)
	case o.Kind == Host && o.Exploring+o.Claimed+o.Note == "":
		return fmt.Errorf("state: must have exploring, claimed or note")
	case len(o.AgreesWith) > mostIdeas:
		return fmt.Errorf("agrees_with: must be at most %d ideas; found %d", mostIdeas, len(o.AgreesWith))
	}
	for _, f := range fields[o.Kind] {
		if f.needed && *f.in(&o) == "" {
			return fmt.Errorf("%s: missing", f.key)
		}
	}
	if 6*size+512 <= mostLine { // its JSON is no longer than that
		return nil
	}
	if line, err := json.Marshal(o); err != nil || len(line) > mostLine {
		return fmt.Errorf("%s: must be at most %d bytes in all; found %d", o.Kind, mostLine, len(line))
	}
	return nil
}

func joined[T ~string](list []T) string {
	var words []string
	for _, one := range list {
		words = append(words, string(one))
	}
	return strings.Join(words, ", ")
}

// folded puts a text on one line, with single blanks.
func folded(text string) string { return visible.OneLine(trimmed(text)) }

// trimmed is a text without surrounding blanks, as JSON returns it, and without NUL, which no
// trace can hold.
func trimmed(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD"))
}

// slug normalizes an idea for comparison: letters and digits of any script in lower case,
// separated by -.
func slug(idea string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(trimmed(idea)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), "-")
}
