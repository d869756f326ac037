package dag_test

import (
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
)

// brute answers the same questions again, directly from their definitions and without
// optimizations, for graphs of a dozen issues.
type brute struct {
	s     store
	count []bool      // the line that counts for its id
	row   [2][][]bool // blocking and containing rows
	gate  [][]bool    // rows that wait for an issue's children
}

func newBrute(s store) brute {
	b := brute{s: s, count: make([]bool, len(s))}
	for i := range s {
		last, _ := s.Index(s[i].ID)
		b.count[i] = last == i
	}
	for kind, types := range [2][]string{{"blocks", "conditional-blocks", ""}, {"parent-child"}} {
		for i := range s {
			b.row[kind] = append(b.row[kind], make([]bool, len(s)))
			for j := range s {
				b.row[kind][i][j] = b.has(i, j, types...)
			}
		}
	}
	for i := range s {
		b.gate = append(b.gate, make([]bool, len(s)))
		for j := range s {
			if !b.has(i, j, "waits-for") {
				continue
			}
			switch some := len(b.children(j)) > 0; {
			case !some:
				b.row[0][i][j] = true
			case !s[i].AnyChild[s[j].ID]:
				b.gate[i][j] = true
			}
		}
	}
	return b
}

// children are the counted children of an issue.
func (b brute) children(epic int) (list []int) {
	for c := range b.s {
		if c != epic && b.in(c, epic) && b.s[c].Status != "tombstone" {
			list = append(list, c)
		}
	}
	return list
}

// gathers reports whether an issue waits for unclosed children of another.
func (b brute) gathers(i, epic int) bool {
	return b.gate[i][epic] && slices.ContainsFunc(b.children(epic), b.holds)
}

// held reports whether anything but an unclosed issue blocks one.
func (b brute) held(i int) bool {
	return b.count[i] && slices.ContainsFunc(b.s[i].Deps, func(d beads.Dep) bool {
		on, there := b.s.Index(d.On)
		switch d.Type {
		case "blocks", "":
			return !there && strings.HasPrefix(d.On, "external:")
		case "conditional-blocks":
			return !there && strings.HasPrefix(d.On, "external:") || there && b.closed(on) && !b.s.Outcome(on).Failed
		case "waits-for":
			if !there || !b.s[i].AnyChild[d.On] {
				return !there && strings.HasPrefix(d.On, "external:")
			}
			children := b.children(on)
			return len(children) > 0 && !slices.ContainsFunc(children, func(c int) bool { return !b.holds(c) })
		}
		return false
	})
}

func (b brute) closed(i int) bool {
	return b.s[i].Status == "closed" || b.s[i].Status == "tombstone"
}

func (b brute) holds(i int) bool {
	return !b.closed(i) && b.s[i].Status != "pinned" && !b.s[i].Pinned
}

func (b brute) has(i, on int, types ...string) bool {
	return b.count[i] && b.count[on] && slices.ContainsFunc(b.s[i].Deps, func(d beads.Dep) bool {
		return d.On == b.s[on].ID && slices.Contains(types, d.Type)
	})
}

func (b brute) waits(i, on int) bool { return b.row[0][i][on] }

func (b brute) in(i, epic int) bool { return b.row[1][i][epic] }

// blocked reports whether a blocker holds, of the issue or of an epic above it reached through
// unclosed epics, or something else does.
func (b brute) blocked(i int) bool {
	for at := range b.above(i) {
		if b.held(at) {
			return true
		}
		for on := range b.s {
			if b.waits(at, on) && b.holds(on) || b.gathers(at, on) {
				return true
			}
		}
	}
	return false
}

// deferred reports whether the issue or an unclosed epic above it is deferred.
func (b brute) deferred(i int, now time.Time) bool {
	for at := range b.above(i) {
		if b.s[at].Status == "deferred" || b.s[at].DeferUntil.After(now) {
			return true
		}
	}
	return false
}

// above returns an unclosed issue and the unclosed epics above it.
func (b brute) above(i int) map[int]bool {
	if b.closed(i) {
		return nil
	}
	above := map[int]bool{i: true}
	for size := 0; size < len(above); {
		size = len(above)
		for child := range b.s {
			for epic := range b.s {
				if above[child] && b.in(child, epic) && !b.closed(epic) {
					above[epic] = true
				}
			}
		}
	}
	return above
}

func (b brute) ready(i int, now time.Time) bool {
	issue := b.s[i]
	records := []string{"merge-request", "gate", "molecule", "message", "agent", "role", "rig", "event"}
	return b.count[i] && issue.Status == "open" && !b.blocked(i) && !issue.Pinned && !issue.Ephemeral && !issue.Template &&
		!b.deferred(i, now) && !slices.Contains(records, issue.Type) && b.alone(i)
}

// alone reports whether an id is on one line only.
func (b brute) alone(i int) bool {
	return !slices.ContainsFunc(b.s, func(o *beads.Issue) bool { return o != b.s[i] && o.ID == b.s[i].ID })
}

// awaits reports whether an issue waits for another directly, itself or as a child.
func (b brute) awaits(j, i int) bool {
	if b.waits(j, i) {
		return true
	}
	for epic := range b.s {
		if b.gate[j][epic] && slices.Contains(b.children(epic), i) {
			return true
		}
	}
	return false
}

// unblocks is the number of issues that wait for each: the least relation in which an issue
// waits for its holding blockers, for what they wait for, and for what its unclosed epics wait
// for.
func (b brute) unblocks() []int {
	n := len(b.s)
	w := make([][]bool, n)
	for j := range w {
		w[j] = make([]bool, n)
		for i := range w {
			w[j][i] = !b.closed(j) && b.awaits(j, i) && b.holds(i)
		}
	}
	for changed := true; changed; {
		changed = false
		for j := range n {
			for k := range n {
				through := !b.closed(j) && (b.awaits(j, k) && b.holds(k) || b.in(j, k) && !b.closed(k))
				for i := range n {
					if through && w[k][i] && !w[j][i] {
						w[j][i], changed = true, true
					}
				}
			}
		}
	}
	counts := make([]int, n)
	for j := range n {
		for i := range n {
			if w[j][i] && i != j {
				counts[i]++
			}
		}
	}
	return counts
}

const far = 1 << 20

// distances of the relation between "can start" (2i) and "can close" (2i+1), at least one step
// long: the diagonal has the shortest cycles.
func (b brute) distances() (step [][]bool, dist [][]int) {
	n := 2 * len(b.s)
	step, dist = make([][]bool, n), make([][]int, n)
	for x := range n {
		step[x], dist[x] = make([]bool, n), make([]int, n)
	}
	for i := range b.s {
		if b.closed(i) {
			for c := range b.s {
				step[2*i+1][2*c+1] = b.isGate(i) && b.in(c, i) && !b.closed(c)
			}
			continue
		}
		step[2*i+1][2*i] = true
		for j := range b.s {
			if b.waits(i, j) && b.holds(j) || b.gathers(i, j) {
				step[2*i][2*j+1] = true
			}
			if b.in(i, j) && !b.closed(j) {
				step[2*i][2*j] = true
				step[2*j+1][2*i+1] = true
			}
		}
	}
	for x := range n {
		for y := range n {
			if dist[x][y] = far; step[x][y] {
				dist[x][y] = 1
			}
		}
	}
	for k := range n {
		for x := range n {
			for y := range n {
				dist[x][y] = min(dist[x][y], dist[x][k]+dist[k][y])
			}
		}
	}
	return step, dist
}

// isGate reports whether any issue waits for the children of this one.
func (b brute) isGate(epic int) bool {
	return slices.ContainsFunc(b.gate, func(of []bool) bool { return of[epic] })
}

// deadlocks returns, for each strongly connected set of nodes, the length of the shortest cycle
// through a "can start", keyed by the smallest such node.
func (b brute) deadlocks() map[int]int {
	_, dist := b.distances()
	found := map[int]int{}
	for x := 0; x < len(dist); x += 2 {
		if dist[x][x] >= far {
			continue
		}
		least, shortest := x, dist[x][x]
		for y := 0; y < len(dist); y += 2 {
			if dist[x][y] < far && dist[y][x] < far {
				least, shortest = min(least, y), min(shortest, dist[y][y])
			}
		}
		found[least] = shortest
	}
	return found
}

// closedCycles is the same for blocking rows alone, among issues that are not deleted, through
// one that holds nothing.
func (b brute) closedCycles() map[int]int {
	n := len(b.s)
	dist := make([][]int, n)
	for i := range n {
		dist[i] = make([]int, n)
		for j := range n {
			if dist[i][j] = far; b.waits(i, j) && b.s[i].Status != "tombstone" && b.s[j].Status != "tombstone" {
				dist[i][j] = 1
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				dist[i][j] = min(dist[i][j], dist[i][k]+dist[k][j])
			}
		}
	}
	found := map[int]int{}
	for i := range n {
		least, shortest := i, far
		for j := range n {
			if i == j && dist[i][i] < far || i != j && dist[i][j] < far && dist[j][i] < far {
				least = min(least, j)
				if !b.holds(j) {
					shortest = min(shortest, dist[j][j])
				}
			}
		}
		if shortest < far {
			found[least] = shortest
		}
	}
	return found
}

// acyclic reports whether the blocking rows among work have no cycle.
func (b brute) acyclic() bool {
	left := map[int]bool{}
	for i := range b.s {
		left[i] = b.holds(i)
	}
	for range b.s {
		for i := range b.s {
			waits := false
			for j := range b.s {
				waits = waits || left[j] && b.waits(i, j)
			}
			if !waits {
				left[i] = false
			}
		}
	}
	for _, l := range left {
		if l {
			return false
		}
	}
	return true
}

// longest tries every chain of issues that each wait for the previous one; the best is the
// longest, on a tie the one with the smallest ids.
func (b brute) longest() (best []string) {
	var try func(chain []int)
	try = func(chain []int) {
		names := make([]string, len(chain))
		for k, i := range chain {
			names[k] = b.s[i].ID
		}
		if len(names) > len(best) || len(names) == len(best) && slices.Compare(names, best) < 0 {
			best = names
		}
		for i := range b.s {
			if b.count[i] && b.holds(i) && (len(chain) == 0 || b.waits(i, chain[len(chain)-1])) {
				try(append(slices.Clone(chain), i))
			}
		}
	}
	try(nil)
	return best
}

// stages simulates the work: in each round everything that can start does, and what has started
// and has all children closed is closed.
func (b brute) stages(within func(int) bool) (stages []string) {
	n := len(b.s)
	started, done := make([]bool, n), make([]bool, n)
	for i := range b.s {
		done[i] = b.closed(i)
	}
	gathered := make([]bool, n) // the children of a closed epic, one round after the last of them
	for closing := true; closing; {
		for starting := true; starting; {
			starting = false
			for i := range n {
				ok := !b.closed(i) && !started[i]
				for j := range n {
					ok = ok && !(b.waits(i, j) && b.holds(j) && !done[j]) && !(b.gathers(i, j) && !(done[j] && (!b.closed(j) || gathered[j]))) && !(b.in(i, j) && !b.closed(j) && !started[j])
				}
				if ok {
					started[i], starting = true, true
				}
			}
		}
		var now []int
		for i := range n {
			ok := started[i] && !done[i]
			for j := range n {
				ok = ok && !(b.in(j, i) && !done[j])
			}
			if ok {
				now = append(now, i)
			}
		}
		closing = len(now) > 0
		for epic := range n {
			ok := b.closed(epic) && !gathered[epic] && b.isGate(epic)
			for c := range n {
				ok = ok && !(b.in(c, epic) && !done[c])
			}
			if ok {
				gathered[epic], closing = true, true
			}
		}
		var names []string
		for _, i := range now {
			done[i] = true
			if b.count[i] && b.holds(i) && within(i) {
				names = append(names, b.s[i].ID)
			}
		}
		slices.Sort(names)
		if len(names) > 0 {
			stages = append(stages, strings.Join(names, " "))
		}
	}
	return stages
}

// deepest is the length of the longest chain, found by extending all chains until nothing
// changes.
func (b brute) deepest() (longest int) {
	length := make([]int, len(b.s))
	for changed := true; changed; {
		changed = false
		for i := range b.s {
			l := 0
			for j := range b.s {
				if b.waits(i, j) && b.holds(j) {
					l = max(l, length[j])
				}
			}
			if b.count[i] && b.holds(i) && length[i] != l+1 {
				length[i], changed = l+1, true
				longest = max(longest, l+1)
			}
		}
	}
	return longest
}
