package swarm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/visible"
)

// Replay returns the state after the operations of one swarm, in any order: by round, within a
// round by second, agent and number, with the settlement last. It ignores operations that
// Validate refuses, of strangers, of a round after one that is not settled, and after the end;
// a second settlement of a round; duplicates; and a settlement or an end by anybody but the
// starter.
//
// Without a start it returns the zero state.
func Replay(operations []Operation) *State {
	list := make([]*Operation, 0, len(operations))
	for i := range operations {
		list = append(list, &operations[i])
	}
	slices.SortStableFunc(list, before)
	s := &State{
		Given: []string{}, Directions: []*Direction{}, Signals: []Signal{}, Claims: []*Claim{}, Findings: []Finding{}, Agents: []*Agent{},
		Opinions: []Opinions{}, Roles: []RoleCount{}, Verdicts: []Verdict{}, Warnings: []Warned{}, directed: map[string]*Direction{},
	}
	start := slices.IndexFunc(list, func(o *Operation) bool { return o.ValidateStart() == nil })
	if start < 0 {
		s.Convergence = s.converge(false)
		return s
	}
	s.begin(list[start])
	var last *Operation
	for _, o := range list {
		if o.Swarm != s.Swarm || o.Round != s.Round || s.Ended != "" || last != nil && same(last, o) {
			continue
		}
		last = o
		s.take(o)
	}
	s.ordered()
	s.Convergence = s.converge(true)
	return s
}

// before is the order in which operations apply.
func before(a, b *Operation) int {
	c := cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.At.Unix(), b.At.Unix()),
		strings.Compare(a.Agent, b.Agent), cmp.Compare(a.numberOf(), b.numberOf()), strings.Compare(string(a.Kind), string(b.Kind)))
	if c != 0 {
		return c
	}
	return strings.Compare(a.text(), b.text())
}

// rank puts the settlement and the end after everything else in a round.
func rank(k Kind) int {
	switch k {
	case Settle:
		return 1
	case End:
		return 2
	}
	return 0
}

// text distinguishes simultaneous operations of one agent: the whole operation.
func (o *Operation) text() string {
	plain := *o
	plain.Amount = 0
	text, _ := json.Marshal(plain) // JSON has no NaN, but everything else in an operation
	return string(text) + strconv.FormatFloat(o.Amount, 'g', -1, 64)
}

func same(a, b *Operation) bool { return before(a, b) == 0 }

// second truncates a time as operations store it.
func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// ValidateStart returns why an operation cannot start a swarm.
func (o *Operation) ValidateStart() error {
	if o.Kind != Start || o.Swarm == "" || o.Agent == "" {
		return errors.New("start: must name a swarm and who starts it")
	}
	different := map[string]bool{}
	for _, name := range o.Agents {
		different[strings.ToLower(Canonical(name))] = true
	}
	if n := len(different); n != len(o.Agents) || n < LeastAgents || n > MostAgents {
		return fmt.Errorf("agents: must be %d to %d different names; found %d", LeastAgents, MostAgents, n)
	}
	for _, name := range o.Agents {
		if name == "" || name != folded(name) || visible.Text(name) != name || len(name) > mostAgent {
			return fmt.Errorf("agent: must be a name in one line of at most %d bytes; found %q", mostAgent, name)
		}
	}
	if slices.ContainsFunc(o.Directions, func(name string) bool { return folded(name) == "" }) {
		return errors.New("direction: must not be empty")
	}
	if size := len(o.Task) + len(strings.Join(o.Directions, "")); size > mostText {
		return fmt.Errorf("task and directions: must be at most %d bytes in all; found %d", mostText, size)
	}
	return o.configured().validate()
}

// configured is the configuration of a start.
func (o *Operation) configured() Config {
	c := Defaults()
	if o.Config != nil {
		c = *o.Config
	}
	if o.Mode == Classic {
		c.MaxRounds = 2
	}
	return c
}

func (s *State) begin(o *Operation) {
	s.Swarm, s.Task, s.StartedBy, s.Started, s.Mode, s.Config = o.Swarm, o.Task, o.Agent, second(o.At), cmp.Or(o.Mode, Emergent), o.configured()
	s.Round = 1
	for _, name := range o.Agents {
		name = Canonical(name)
		s.Agents = append(s.Agents, &Agent{
			Name: name, Role: Explorer, Status: Active, Last: s.Started, History: []RoleChange{},
			Threshold: Figure(0.3 + float64(0.3*Chance(s.Swarm, 0, name, purposeTheta))),
			Random:    Figure(0.1 + float64(0.1*Chance(s.Swarm, 0, name, purposeRho))),
		})
	}
	for _, name := range o.Directions {
		if name = folded(name); name != "" && s.Mode != Emergent && !slices.Contains(s.Given, name) {
			s.Given = append(s.Given, name)
			s.direction(name)
		}
	}
}

// take stores one operation of the running round.
func (s *State) take(o *Operation) {
	switch {
	case o.Kind == Settle && o.Agent == s.StartedBy:
		s.settle(o)
		return
	case o.Kind == Judge && o.Agent == s.StartedBy:
		if v := o.Verdict; v != nil && s.Agent(v.Agent) != nil {
			s.Verdicts = append(s.Verdicts, *v)
		}
		return
	case o.Kind == End && o.Agent == s.StartedBy:
		s.Ended, s.EndedAt = Stopped, second(o.At)
		return
	}
	a := s.Agent(o.Agent)
	if a == nil {
		return
	}
	normal := o.Normal()
	if normal.Validate() != nil {
		return
	}
	if s.apply(a, normal) {
		a.Last = second(o.At)
		a.Operation = max(a.Operation, o.numberOf())
	}
}

// apply applies an agent's operation to the blackboard; false if it does not count.
func (s *State) apply(a *Agent, o Operation) bool {
	switch o.Kind {
	case Deposit:
		d := s.direction(o.Direction)
		d.Concentration = min(d.Concentration+Figure(cmp.Or(o.Amount, s.Config.Deposit)), 1)
		if !slices.Contains(d.Depositors, a.Name) {
			d.Depositors = append(d.Depositors, a.Name)
		}
		a.Deposits++
	case Stop:
		s.Signals = append(s.Signals, Signal{a.Name, o.Target, o.Reason, o.Evidence, second(o.At)})
		a.Sent++
		if d := s.directed[o.Target]; d != nil {
			for _, name := range d.Depositors {
				if other := s.Agent(name); other != nil && other != a {
					other.Received++
				}
			}
		}
	case Probe:
		return s.probe(a, o.Subtask)
	case Find:
		s.Findings = append(s.Findings, Finding{
			Agent: a.Name, Round: o.Round, Idea: o.Idea, Direction: o.Direction, Perspective: o.Perspective, Details: o.Details,
			AgreesWith: append([]string{}, o.AgreesWith...), Branch: o.Branch, Commit: o.Commit, At: second(o.At), key: strings.ToLower(folded(o.Details)),
		})
		a.Found++
		a.newest = o.Round
	case Host:
		a.Exploring, a.Claimed, a.Note = cmp.Or(o.Exploring, a.Exploring), cmp.Or(o.Claimed, a.Claimed), cmp.Or(o.Note, a.Note)
	}
	return true
}

// probe claims a subtask, unless it has its agents already.
func (s *State) probe(a *Agent, subtask string) bool {
	i := slices.IndexFunc(s.Claims, func(c *Claim) bool { return c.Subtask == subtask })
	if i < 0 {
		i = len(s.Claims)
		s.Claims = append(s.Claims, &Claim{Subtask: subtask})
	}
	c := s.Claims[i]
	if slices.Contains(c.Agents, a.Name) {
		return true
	}
	if len(c.Agents) >= s.Config.PerSubtask {
		return false
	}
	c.Agents = append(c.Agents, a.Name)
	a.Claimed = subtask
	return true
}

// Probers are the agents that probe a subtask.
func (s *State) Probers(subtask string) []string {
	for _, c := range s.Claims {
		if c.Subtask == folded(subtask) {
			return c.Agents
		}
	}
	return nil
}
