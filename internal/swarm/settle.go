package swarm

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// settle ends the running round, in the fixed order of the rules.
func (s *State) settle(o *Operation) {
	at := second(o.At)
	s.absent(o.Missing, at)
	for _, d := range s.Directions {
		d.Concentration = Figure(float64(d.Concentration) * (1 - s.Config.Evaporation))
	}
	for _, g := range s.Signals {
		if d := s.directed[g.Target]; d != nil && g.stands(at) {
			d.Concentration = Figure(float64(d.Concentration) * (1 - strength))
		}
	}
	s.Signals = slices.DeleteFunc(s.Signals, func(g Signal) bool { return !g.stands(at) })
	s.opine()
	s.transform()
	for _, a := range s.activeAgents() {
		a.Rounds++
	}
	s.Settled = s.Round
	s.countRoles()
	s.end(at)
	if s.Ended == "" {
		s.Round++
	}
}

// absent degrades agents that did not answer for too many rounds in a row.
func (s *State) absent(missing []string, at time.Time) {
	for _, name := range s.Expected() {
		a := s.Agent(name)
		if !slices.Contains(missing, name) {
			a.Misses = 0
			continue
		}
		if a.Misses++; a.Misses >= s.Config.Retries {
			a.Status, a.Degraded = Degraded, at
		}
	}
}

// opine records the ideas of the active agents in a round with findings.
func (s *State) opine() {
	if !slices.ContainsFunc(s.Findings, func(f Finding) bool { return f.Round == s.Round }) {
		return
	}
	o := Opinions{Round: s.Round, Agents: []Opinion{}, Ideas: []string{}}
	standing := s.currentFindings()
	for _, a := range s.activeAgents() {
		own := Opinion{Agent: a.Name, Ideas: []string{}}
		for _, f := range standing {
			if f.Agent == a.Name && !slices.Contains(own.Ideas, f.Idea) {
				own.Ideas = append(own.Ideas, f.Idea)
			}
		}
		slices.Sort(own.Ideas)
		o.Agents = append(o.Agents, own)
		o.Ideas = append(o.Ideas, own.Ideas...)
	}
	slices.Sort(o.Ideas)
	o.Ideas = slices.Compact(o.Ideas)
	s.Opinions = append(s.Opinions, o)
}

// currentFindings are the findings of each active agent's newest round with findings.
func (s *State) currentFindings() (list []*Finding) {
	newest := map[string]int{}
	for _, a := range s.activeAgents() {
		newest[a.Name] = a.newest
	}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Round == newest[f.Agent] {
			list = append(list, f)
		}
	}
	return list
}

// transform draws the roles of explorers: the first rule that succeeds counts.
func (s *State) transform() {
	if s.Mode == Classic {
		s.elect()
		return
	}
	highest := 0.0
	for _, d := range s.Directions {
		highest = max(highest, float64(d.Concentration))
	}
	for _, a := range s.activeAgents() {
		if a.Role != Explorer {
			continue
		}
		for _, rule := range []struct {
			to, why string
			holds   bool
			chance  float64
		}{
			{DeepAnalyst, "a direction is at 0.7 or more, and it deposited 3 times", highest >= analystMin && a.Deposits >= depositMin, respond(highest, float64(a.Threshold))},
			{Debater, "there is a stop signal", len(s.Signals) > 0, 1},
			{Synthesizer, "it completed 2 rounds", a.Rounds >= roundsMin, synthesis},
		} {
			if rule.holds && Chance(s.Swarm, s.Round, a.Name, purposeRole+rule.to) < rule.chance {
				a.become(rule.to, rule.why, s.Round)
				break
			}
		}
	}
}

func (a *Agent) become(role, why string, round int) {
	a.History = append(a.History, RoleChange{round, a.Role, role, why})
	a.Role = role
}

// elect draws the one agent that concludes a classic swarm, of those that found something.
func (s *State) elect() {
	var drawn *Agent
	least := 1.0
	for _, a := range s.activeAgents() {
		if u := Chance(s.Swarm, s.Round, a.Name, purposeRole+Synthesizer); a.newest > 0 && u < least {
			drawn, least = a, u
		}
	}
	if drawn != nil && s.Round == 1 {
		drawn.become(Synthesizer, "it was drawn to conclude", s.Round)
	}
}

func (s *State) countRoles() {
	count := RoleCount{s.Round, map[string]int{}}
	for _, a := range s.Agents {
		count.Agents[a.Role]++
	}
	s.Roles = append(s.Roles, count)
}

// end decides whether the swarm goes on, and with which warnings.
func (s *State) end(at time.Time) {
	s.Convergence = s.converge(true)
	c := &s.Convergence
	if now := c.support(); now == s.supported {
		s.unchanged++
	} else {
		s.supported, s.unchanged = now, 0
	}
	c.Unchanged = s.unchanged
	s.Warnings = s.warnings(c)
	proved := slices.ContainsFunc(s.Verdicts, func(v Verdict) bool { return v.Passed })
	for _, reason := range []struct {
		outcome Outcome
		holds   bool
	}{
		{Proved, proved}, {Insufficient, c.Active < s.Config.LeastActive}, {Converged, c.Converged},
		{Stagnant, s.unchanged >= stagnant}, {Exhausted, s.Round >= s.Config.MaxRounds},
		{TimedOut, at.Sub(s.Started) >= time.Duration(s.Config.Timeout)*time.Second},
	} {
		if reason.holds {
			s.Ended, s.EndedAt = reason.outcome, at
			return
		}
	}
}

// warnings are shown to explorers, each with a suggestion.
func (s *State) warnings(c *Convergence) []Warned {
	list := []Warned{}
	if float64(c.Diversity) < s.Config.Diversity {
		list = append(list, Warned{"diversity", map[string]Figure{"diversity": c.Diversity, "least": Figure(s.Config.Diversity)},
			[]string{"explore more at random", "try another perspective", "challenge the leading idea"}})
	}
	if s.unchanged >= warnAfter {
		list = append(list, Warned{"stagnation", map[string]Figure{"rounds": Figure(s.unchanged)},
			[]string{"divide the task in another way", "bring in a new perspective", "argue against the leading direction with evidence"}})
	}
	return list
}

// support records who supports what, to detect whether a round changed anything.
func (c *Convergence) support() string {
	var lines []string
	for _, idea := range c.Ideas {
		lines = append(lines, idea.Idea+"\x00"+strings.Join(idea.Supporters, "\x00"))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Drawn returns the role changes and warnings of a settled round as operations, for readers of
// the record.
func (s *State) Drawn(round int, at time.Time) (list []Operation) {
	add := func(o Operation) {
		o.Swarm, o.Round, o.At = s.Swarm, round, second(at)
		list = append(list, o)
	}
	for _, a := range s.Agents {
		for _, change := range a.History {
			if change.Round == round {
				add(Operation{Kind: Role, Agent: a.Name, ID: a.Name + "-0", NewRole: change.To, Reason: change.Reason})
			}
		}
	}
	for _, w := range s.Warnings {
		add(Operation{Kind: Warning, Agent: s.StartedBy, ID: s.StartedBy + "-0", Warning: w.Kind, Figures: w.Figures, Suggestions: w.Suggestions})
	}
	if s.Ended != "" && s.Ended != Stopped {
		add(Operation{Kind: End, Agent: s.StartedBy, ID: s.StartedBy + "-0", Reason: string(s.Ended)})
	}
	return list
}

// String is a line about the last settled round.
func (s *State) String() string {
	c, leading := s.Convergence, "none"
	if d := s.Leading(); d != nil {
		leading = fmt.Sprintf("%s %.2f", d.Name, d.Concentration)
	}
	line := fmt.Sprintf("round %d: %d of %d active, leading %s, stable %d/%d, quorum %.0f %% of %.0f %%", s.Settled, c.Active, len(s.Agents),
		leading, c.StableRounds, s.Config.Beta, float64(100*c.Share), 100*float64(s.Config.Quorum.Over)/float64(s.Config.Quorum.Under))
	if s.Ended != "" {
		line += ", " + string(s.Ended)
	}
	return line
}
