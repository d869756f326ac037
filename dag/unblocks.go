package dag

import (
	"math/bits"
	"slices"
)

// Unblocks returns for every issue how many other unclosed issues wait for it, directly or
// indirectly. An issue waits for its blockers, and for everything that its blockers and its
// unclosed epics wait for: exactly what keeps it from being ready. That an epic cannot be
// closed before its children does not count as waiting. Issues that block nothing, closed or
// pinned, have 0.
func (g *Graph) Unblocks() []int {
	g.needAll()
	return g.unblocks()
}

// countWaiting counts over a relation with two nodes an issue: when one is closed (odd), those
// that wait for it can go on (even); while one waits, everything that waits for its end waits
// too, and so do its children.
func (g *Graph) countWaiting() []int {
	counts := make([]int, g.issues.Len())
	relation := g.holding()
	parts := relation.components()
	reached := relation.countReached(parts)
	for i := range counts {
		if !g.holds(i) {
			continue
		}
		waits, closed := parts.of[2*i], parts.of[2*i+1]
		if counts[i] = int(reached[closed]); waits == closed {
			counts[i]-- // in a cycle it waits for itself
		}
	}
	return counts
}

// holding is the relation that countWaiting counts over. If issues wait for the children of
// epics, a third node of each such epic (odd, after those of all issues) stands for its
// children.
func (g *Graph) holding() edges {
	gathered := int32(2 * g.issues.Len())
	links := make([]link, 0, g.issues.Len()+len(g.waiters.targets)+len(g.children.targets))
	for i := range g.issues.Len() {
		if g.Closed(i) {
			continue
		}
		waits, closed := int32(2*i), int32(2*i+1)
		if g.holds(i) {
			links = append(links, link{from: waits, to: closed})
			for _, w := range g.waiters.of(i) {
				if !g.Closed(int(w)) {
					links = append(links, link{from: closed, to: 2 * w})
				}
			}
			for _, epic := range g.parents.of(i) {
				if len(g.gated.of(int(epic))) > 0 && g.isChild(int(epic), i) {
					links = append(links, link{from: closed, to: gathered + 2*epic + 1})
				}
			}
		}
		for _, child := range g.children.of(i) {
			if !g.Closed(int(child)) {
				links = append(links, link{from: waits, to: 2 * child})
			}
		}
	}
	if len(g.gated.targets) == 0 {
		return newEdges(2*g.issues.Len(), links)
	}
	for epic := range g.issues.Len() {
		for _, w := range g.gated.of(epic) {
			if !g.Closed(int(w)) {
				links = append(links, link{from: gathered + 2*int32(epic) + 1, to: 2 * w})
			}
		}
	}
	return newEdges(4*g.issues.Len(), links)
}

// batch is a set of a few hundred nodes.
type batch [8]uint64

const batchSize = 8 * 64

// countReached returns for each component how many even nodes with an incoming edge it contains
// or reaches. No known method counts exactly in linear time; this one takes one pass per 512
// such nodes over the components that reach them, usually few.
func (e edges) countReached(parts components) []int32 {
	next := e.condensed(parts)
	p := pass{before: next.reversed(), place: make([]int32, parts.count())}
	reached := make([]int32, parts.count())
	for targets := e.evenTargets(parts); len(targets) > 0; {
		some := targets[:min(batchSize, len(targets))]
		targets = targets[len(some):]
		p.begin(some, parts.of)
		for k, c := range p.list {
			for _, to := range next.of(int(c)) {
				if at := p.place[to]; at > 0 {
					p.sets[k].add(&p.sets[at-1])
				}
			}
			reached[c] += p.sets[k].size()
		}
	}
	return reached
}

// pass counts who reaches the nodes of a batch.
type pass struct {
	before edges
	list   []int32 // the components that reach some of them, in order
	place  []int32 // position of a component in the list, from 1; 0 if it is not in it
	sets   []batch // for the components in the list: which nodes they reach
}

// begin lists the components that reach nodes, each with only those inside it.
func (p *pass) begin(nodes, of []int32) {
	for _, c := range p.list {
		p.place[c] = 0
	}
	p.list = p.list[:0]
	meet := func(c int32) {
		if p.place[c] == 0 {
			p.place[c] = 1
			p.list = append(p.list, c)
		}
	}
	for _, node := range nodes {
		meet(of[node])
	}
	for k := 0; k < len(p.list); k++ {
		for _, c := range p.before.of(int(p.list[k])) {
			meet(c)
		}
	}
	p.sort()
	p.sets = slices.Grow(p.sets[:0], len(p.list))[:len(p.list)]
	clear(p.sets)
	for k, c := range p.list {
		p.place[c] = int32(k) + 1
	}
	for k, node := range nodes {
		p.sets[p.place[of[node]]-1][k/64] |= 1 << (k % 64)
	}
}

// sort sorts the list; a long one is faster to collect again.
func (p *pass) sort() {
	if len(p.list) < len(p.place)/8 {
		slices.Sort(p.list)
		return
	}
	p.list = p.list[:0]
	for c, place := range p.place {
		if place > 0 {
			p.list = append(p.list, int32(c))
		}
	}
}

func (b *batch) add(other *batch) {
	for k := range b {
		b[k] |= other[k]
	}
}

func (b *batch) size() (n int32) {
	for _, word := range b {
		n += int32(bits.OnesCount64(word))
	}
	return n
}

// evenTargets lists the even nodes with an incoming edge, by component.
func (e edges) evenTargets(parts components) (list []int32) {
	target := make([]bool, len(parts.of))
	for _, to := range e.targets {
		target[to] = true
	}
	for _, node := range parts.nodes.targets {
		if node%2 == 0 && target[node] {
			list = append(list, node)
		}
	}
	return list
}
