package swarm

import (
	"slices"
	"time"
)

// Choice is a suggestion for an agent's next direction. The agent decides.
type Choice struct {
	Kind      string `json:"choice"`    // follow, uncovered or random
	Direction string `json:"direction"` // "" where it has to find one of its own
	Inhibited bool   `json:"inhibited"` // stop signals kept it from following, and it became random
	Effective Figure `json:"effective"` // concentration of the direction less its stop signals
	Drawn     Figure `json:"drawn"`
}

// Follow, Uncovered and Random are the kinds of a choice.
const (
	Follow    = "follow"
	Uncovered = "uncovered"
	Random    = "random"
)

// Effective is the concentration of a direction minus what current stop signals take from it
// for followers, at most half.
func (s *State) Effective(direction string, at time.Time) (effective Figure, inhibiting bool) {
	total := 0.0
	for _, g := range s.Signals {
		if g.Target == direction && g.stands(at) {
			total += strength
		}
	}
	d := s.directed[direction]
	if d == nil {
		return 0, total > 0
	}
	return Figure(float64(d.Concentration) * (1 - min(total, mostTotal))), total > 0
}

// Inhibited reports whether stop signals currently keep an agent from following a direction.
func (s *State) Inhibited(a *Agent, direction string, at time.Time) bool {
	effective, inhibiting := s.Effective(direction, at)
	return inhibiting && Chance(s.Swarm, s.Round, a.Name, purposeInhibit) >= respond(float64(effective), float64(a.Threshold))
}

// Choose draws a direction for an agent of the swarm.
func (s *State) Choose(a *Agent, at time.Time) Choice {
	u := Chance(s.Swarm, s.Round, a.Name, purposeChoose)
	follow := following - float64(a.Random)
	c := Choice{Drawn: Figure(u)}
	switch {
	case u < follow:
		c.Kind, c.Direction = Follow, s.proportional(u/follow, at)
		if c.Direction == "" { // nothing to follow yet
			c.Kind, c.Direction = Uncovered, s.open(u/follow)
		} else if s.Inhibited(a, c.Direction, at) {
			c.Kind, c.Inhibited, c.Direction = Random, true, s.any(u/follow)
		}
	case u < follow+uncovered:
		c.Kind, c.Direction = Uncovered, s.open((u-follow)/uncovered)
	default:
		c.Kind, c.Direction = Random, s.any((u-follow-uncovered)/float64(a.Random))
	}
	c.Effective, _ = s.Effective(c.Direction, at)
	return c
}

// names lists the directions sorted by name, so that a draw does not depend on their order.
func (s *State) names() (names []string) {
	for _, d := range s.Directions {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

// proportional picks a direction by its effective concentration; "" if none has any.
func (s *State) proportional(u float64, at time.Time) (picked string) {
	sum := 0.0
	for _, name := range s.names() {
		effective, _ := s.Effective(name, at)
		sum += float64(effective)
	}
	left := float64(u * sum)
	for _, name := range s.names() {
		effective, _ := s.Effective(name, at)
		if effective == 0 {
			continue
		}
		picked = name
		if left -= float64(effective); left < 0 {
			break
		}
	}
	return picked
}

// open picks a direction without findings and deposits; "" if there is none, so that the agent
// finds one of its own.
func (s *State) open(u float64) string {
	return pick(u, slices.DeleteFunc(s.names(), func(name string) bool {
		return len(s.directed[name].Depositors) > 0 || slices.ContainsFunc(s.Findings, func(f Finding) bool { return f.Direction == name })
	}))
}

// any picks a direction, or a new one ("").
func (s *State) any(u float64) string { return pick(u, append(s.names(), "")) }

func pick(u float64, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[min(int(float64(u)*float64(len(names))), len(names)-1)]
}
