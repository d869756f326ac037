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
	"cmp"
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

// mostName limits a name in an operation, mostText a text, and mostLine the whole, in bytes,
// since traces with several operations have limited room.
const (
	mostName = 300
	mostText = 2500
	mostLine = 5000

	mostIdeas = 20 // ideas that a finding agrees with
)

// Normal normalizes an agent's operation for Validate and Replay: it keeps only the keys of its
// kind, folds texts and turns ideas into slugs.
func (o Operation) Normal() Operation {
	n := Operation{Swarm: o.Swarm, Round: o.Round, Agent: o.Agent, ID: o.ID, Kind: o.Kind, At: o.At}
	switch o.Kind {
	case Deposit:
		n.Direction, n.Amount = folded(o.Direction), o.Amount
	case Stop:
		n.Target, n.Reason, n.Evidence = folded(o.Target), strings.ReplaceAll(strings.ToLower(folded(o.Reason)), " ", "_"), trimmed(o.Evidence)
	case Probe:
		n.Subtask = folded(o.Subtask)
	case Find:
		n.Idea, n.Direction, n.Perspective, n.Details = slug(o.Idea), folded(o.Direction), folded(o.Perspective), trimmed(o.Details)
		n.Branch, n.Commit = folded(o.Branch), o.Commit
		for _, idea := range o.AgreesWith {
			if idea = slug(idea); idea != "" && !slices.Contains(n.AgreesWith, idea) {
				n.AgreesWith = append(n.AgreesWith, idea)
			}
		}
	case Host:
		n.Exploring, n.Claimed, n.Note = folded(o.Exploring), folded(o.Claimed), trimmed(o.Note)
	}
	return n
}

// Texts are the free texts in an operation.
func (o Operation) Texts() []string {
	return slices.Concat([]string{
		o.Task, o.Direction, o.Target, o.Evidence, o.Subtask, o.Idea, o.Perspective, o.Details, o.Branch, o.Exploring, o.Claimed, o.Note,
	}, o.Directions, o.AgreesWith)
}

// Validate returns what is wrong with an agent's operation, whatever the blackboard contains.
func (o Operation) Validate() error {
	if n := len(o.AgreesWith); n > mostIdeas {
		return fmt.Errorf("agrees_with: must be at most %d ideas; found %d", mostIdeas, n)
	}
	size := len(o.Branch) + len(o.Commit) + len(o.Swarm) + len(o.Agent) + len(o.ID)
	for _, idea := range o.AgreesWith {
		size += len(idea) + 1
	}
	for _, text := range []struct {
		key, value string
		most       int
	}{
		{"direction", o.Direction, mostName}, {"target", o.Target, mostName}, {"subtask", o.Subtask, mostName}, {"core_idea", o.Idea, mostName},
		{"perspective", o.Perspective, mostName}, {"exploring", o.Exploring, mostName}, {"claimed", o.Claimed, mostName},
		{"evidence", o.Evidence, mostText}, {"details", o.Details, mostText}, {"note", o.Note, mostText},
	} {
		if len(text.value) > text.most {
			return fmt.Errorf("%s: must be at most %d bytes; found %d", text.key, text.most, len(text.value))
		}
		size += len(text.value)
	}
	if err := o.validateKind(); err != nil {
		return err
	}
	if 6*size+512 <= mostLine { // its JSON is no longer than that
		return nil
	}
	if line, err := json.Marshal(o); err != nil || len(line) > mostLine {
		return fmt.Errorf("%s: must be at most %d bytes in all; found %d", o.Kind, mostLine, len(line))
	}
	return nil
}

func (o Operation) validateKind() error {
	need := func(key, value string) error {
		if value == "" {
			return fmt.Errorf("%s: missing", key)
		}
		return nil
	}
	switch o.Kind {
	case Deposit:
		if math.IsNaN(o.Amount) || o.Amount < 0 || o.Amount > 1 {
			return fmt.Errorf("amount: must be above 0 and at most 1; found %v", o.Amount)
		}
		return need("direction", o.Direction)
	case Stop:
		if !slices.Contains(Reasons, o.Reason) {
			return fmt.Errorf("reason: must be %s; found %q", strings.Join(Reasons, ", "), o.Reason)
		}
		return cmp.Or(need("target", o.Target), need("evidence", o.Evidence))
	case Probe:
		return need("subtask", o.Subtask)
	case Find:
		return cmp.Or(need("core_idea", o.Idea), need("direction", o.Direction), need("details", o.Details))
	case Host:
		if o.Exploring+o.Claimed+o.Note == "" {
			return fmt.Errorf("state: must have exploring, claimed or note")
		}
		return nil
	case Role:
		return fmt.Errorf("role: is drawn when a round is settled, and cannot be set")
	}
	return fmt.Errorf("operation: must be %s; found %q", joined(ofAgents), o.Kind)
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
