package dag

import (
	"fmt"
	"slices"

	"stig/internal/beads"
)

// Upon is a request for review upon whose branch another issue can be worked on, before that
// request landed.
type Upon struct {
	On      int // the issue in review
	Request int // the number of its request
}

// Words phrases what an issue is built upon; name returns the name of an issue.
func (u Upon) Words(name func(i int) string) string {
	return fmt.Sprintf("upon request #%d of %s", u.Request, name(u.On))
}

// Upon returns the request upon which an issue is to be worked on. It is the one thing that the
// issue waits for, and nothing else waits for it: a chain is linear. The issue closes only after
// the issue in review.
func (g *Graph) Upon(i int) (u Upon, ok bool) {
	u, ok = g.upon[i]
	return u, ok
}

// stack finds the issues that can be worked on upon a request for review. A store that stacks
// nothing returns nil for its requests.
func (g *Graph) stack() {
	s, ok := g.issues.(interface {
		Requests() func(i int) (number int, waits bool)
	})
	if !ok || s.Requests() == nil {
		return
	}
	request := s.Requests()
	for i := range g.issues.Len() {
		on, one := g.onlyBlocker(i)
		if !one {
			continue
		}
		number, waits := request(on)
		begun := g.issues.At(i).Status == beads.StatusInProgress // its worker goes on while others answer reviewers
		if number != 0 && (waits || begun) && g.alone(i) && g.alone(on) && slices.Equal(g.Waiting(on), []int{i}) {
			if g.upon == nil {
				g.upon = map[int]Upon{}
			}
			g.upon[i] = Upon{on, number}
		}
	}
	var held []int
	for i := range g.upon {
		if !g.hasGround(i) {
			held = append(held, i)
		}
	}
	for _, i := range held {
		delete(g.upon, i)
	}
}

// hasGround reports whether the lowest issue of a chain waits for nothing.
func (g *Graph) hasGround(i int) bool {
	for range len(g.upon) {
		u, stacked := g.upon[i]
		if !stacked {
			break
		}
		i = u.On
	}
	_, cycle := g.upon[i]
	return !cycle && !g.waits(i)
}

// onlyBlocker returns the one unclosed blocker of an issue.
func (g *Graph) onlyBlocker(i int) (on int, one bool) {
	for _, b := range g.blockers.of(i) {
		switch {
		case !g.holds(int(b)) || one && on == int(b):
		case one:
			return on, false
		default:
			on, one = int(b), true
		}
	}
	return on, one
}

// alone reports whether an issue is a single piece of work that waits for nothing but issues,
// each of which must be done.
func (g *Graph) alone(i int) bool {
	if g.Closed(i) || len(g.own[i]) > 0 || g.damaged(i) || len(g.gates.of(i)) > 0 || len(g.children.of(i)) > 0 {
		return false
	}
	for _, dep := range g.issues.At(i).Deps {
		if dep.Type == beads.Conditional {
			return false
		}
	}
	return !slices.ContainsFunc(g.Above(i)[1:], g.waits)
}
