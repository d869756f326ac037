package swarm

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Roles of an agent. All begin as explorers.
const (
	Explorer    = "EXPLORER"
	DeepAnalyst = "DEEP_ANALYST"
	Debater     = "DEBATER"
	Synthesizer = "SYNTHESIZER"
)

// State is the state of a swarm after its operations.
type State struct {
	Swarm     string    `json:"swarm"`
	Task      string    `json:"task"`
	StartedBy string    `json:"started_by"`
	Started   time.Time `json:"started_at"`
	Mode      Mode      `json:"mode"`
	Config    Config    `json:"config"`
	Given     []string  `json:"given"`   // directions of a hybrid swarm
	Round     int       `json:"round"`   // that runs, or the last one
	Settled   int       `json:"settled"` // rounds
	Ended     Outcome   `json:"ended"`   // "" while it runs
	EndedAt   time.Time `json:"ended_at,omitzero"`

	Directions  []*Direction `json:"directions"` // the highest concentration first
	Signals     []Signal     `json:"stop_signals"`
	Claims      []*Claim     `json:"claims"`
	Findings    []Finding    `json:"findings"`
	Agents      []*Agent     `json:"agents"`
	Opinions    []Opinions   `json:"opinions"` // by round with findings
	Roles       []RoleCount  `json:"roles"`    // by round, as they were after it
	Verdicts    []Verdict    `json:"verdicts"`
	Warnings    []Warned     `json:"warnings"` // of the last settled round
	Convergence Convergence  `json:"convergence"`

	directed  map[string]*Direction
	unchanged int // rounds in a row
	supported string
}

// Direction is a direction for explorers.
type Direction struct {
	Name          string   `json:"direction"`
	Concentration Figure   `json:"concentration"` // in [0, 1]
	Depositors    []string `json:"depositors"`
}

// Signal is a stop signal in effect.
type Signal struct {
	From     string    `json:"from"`
	Target   string    `json:"target"`
	Reason   string    `json:"reason"`
	Evidence string    `json:"evidence"`
	At       time.Time `json:"created_at"`
}

// stands reports whether the signal counts at a time.
func (s Signal) stands(at time.Time) bool { return at.Sub(s.At) <= counts }

// Claim is who probes a subtask.
type Claim struct {
	Subtask string   `json:"subtask"`
	Agents  []string `json:"agents"`
}

// Finding is what an agent found in a round.
type Finding struct {
	Agent       string    `json:"agent"`
	Round       int       `json:"round"`
	Idea        string    `json:"core_idea"`
	Direction   string    `json:"direction"`
	Perspective string    `json:"perspective"`
	Details     string    `json:"details"`
	AgreesWith  []string  `json:"agrees_with"`
	Branch      string    `json:"branch,omitempty"`
	Commit      string    `json:"commit,omitempty"`
	At          time.Time `json:"created_at"`

	key string // of its details
}

// Agent is an explorer with its hosted state.
type Agent struct {
	Name      string    `json:"agent"`
	Role      string    `json:"role"`
	Status    string    `json:"status"`    // active or degraded
	Threshold Figure    `json:"threshold"` // θ, 0.3 to 0.6
	Random    Figure    `json:"random"`    // ρ, 0.1 to 0.2
	Last      time.Time `json:"last_at"`   // of its last operation
	Degraded  time.Time `json:"degraded_at,omitzero"`
	Misses    int       `json:"misses"` // rounds in a row

	Deposits  int `json:"deposits"`
	Rounds    int `json:"rounds"`
	Found     int `json:"findings"`
	Sent      int `json:"signals_sent"`
	Received  int `json:"signals_received"` // on directions that it deposited on
	Operation int `json:"operations"`       // the highest N of its operations

	Exploring string       `json:"exploring"`
	Claimed   string       `json:"claimed"`
	Note      string       `json:"note"`
	History   []RoleChange `json:"role_history"`

	newest int // its newest round with findings
}

// Active and Degraded are the states of an agent.
const (
	Active   = "active"
	Degraded = "degraded"
)

// RoleChange is a role that a settlement drew.
type RoleChange struct {
	Round  int    `json:"round"`
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"`
}

// RoleCount is how many agents have which role after a round.
type RoleCount struct {
	Round  int            `json:"round"`
	Agents map[string]int `json:"agents"`
}

// Opinions are the ideas of the active agents, each of its newest round with findings.
type Opinions struct {
	Round  int       `json:"round"`
	Agents []Opinion `json:"agents"`
	Ideas  []string  `json:"ideas"` // of all of them, sorted
}

// Opinion is what one agent holds.
type Opinion struct {
	Agent string   `json:"agent"`
	Ideas []string `json:"ideas"`
}

// Warned is shown to explorers in their next prompts.
type Warned struct {
	Kind        string            `json:"warning"`
	Figures     map[string]Figure `json:"figures"`
	Suggestions []string          `json:"suggestions"`
}

// Agent returns an agent by name, in any case; nil for none.
func (s *State) Agent(name string) *Agent {
	name = Canonical(name)
	for _, a := range s.Agents {
		if strings.EqualFold(a.Name, name) {
			return a
		}
	}
	return nil
}

// activeAgents lists the agents that count.
func (s *State) activeAgents() (list []*Agent) {
	for _, a := range s.Agents {
		if a.Status == Active {
			list = append(list, a)
		}
	}
	return list
}

// Expected lists the agents that the running round waits for: the active ones, and in the
// second round of a classic swarm the synthesizer.
func (s *State) Expected() (names []string) {
	for _, a := range s.activeAgents() {
		if s.Mode != Classic || s.Round < 2 || a.Role == Synthesizer {
			names = append(names, a.Name)
		}
	}
	return names
}

// Blind reports whether agents may not see each other's findings yet.
func (s *State) Blind() bool { return s.Settled == 0 && s.Ended == "" }

// SeenBy is the state visible to an agent during a round: in the first round without others'
// work.
func (s *State) SeenBy(agent string) *State {
	if !s.Blind() {
		return s
	}
	if a := s.Agent(agent); a != nil {
		agent = a.Name
	}
	seen := *s
	seen.Findings = slices.DeleteFunc(slices.Clone(s.Findings), func(f Finding) bool { return f.Agent != agent })
	seen.Signals = slices.DeleteFunc(slices.Clone(s.Signals), func(g Signal) bool { return g.From != agent })
	seen.Directions, seen.Claims, seen.Agents, seen.Opinions = []*Direction{}, []*Claim{}, []*Agent{}, []Opinions{}
	seen.directed = map[string]*Direction{}
	for _, a := range s.Agents {
		if a.Name != agent {
			a = &Agent{Name: a.Name, Role: a.Role, Status: a.Status, Threshold: a.Threshold, Random: a.Random, History: []RoleChange{}}
		}
		seen.Agents = append(seen.Agents, a)
	}
	for _, name := range s.Given {
		seen.direction(name)
	}
	seen.Convergence = seen.converge(false)
	return &seen
}

// Leading is the direction with the highest concentration; nil if none has any.
func (s *State) Leading() *Direction {
	if len(s.Directions) == 0 || s.Directions[0].Concentration == 0 {
		return nil
	}
	return s.Directions[0]
}

// direction returns a direction, creating it if necessary.
func (s *State) direction(name string) *Direction {
	d := s.directed[name]
	if d == nil {
		d = &Direction{Name: name, Depositors: []string{}}
		s.directed[name] = d
		s.Directions = append(s.Directions, d)
	}
	return d
}

// Newest is the newest finding on an idea; nil for none.
func (s *State) Newest(idea string) *Finding {
	for i := len(s.Findings) - 1; i >= 0; i-- {
		if s.Findings[i].Idea == idea {
			return &s.Findings[i]
		}
	}
	return nil
}

// ordered sorts what has a natural order.
func (s *State) ordered() {
	slices.SortFunc(s.Directions, func(a, b *Direction) int {
		return cmp.Or(cmp.Compare(b.Concentration, a.Concentration), strings.Compare(a.Name, b.Name))
	})
	slices.SortFunc(s.Claims, func(a, b *Claim) int { return strings.Compare(a.Subtask, b.Subtask) })
}
