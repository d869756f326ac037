// Package sample generates stores of any size that are shaped like real ones: about 2.1 kB a
// line, 1.4 dependencies an issue, notes on three of five, and a few lines of each kind of
// carelessness that the checks look for.
//
// Only tests and benchmarks import it. It knows the format of a store and of notes, and uses
// none of the packages that parse them. The same arguments produce the same bytes.
//
//	err := sample.Write(file, 10_000, 1)
package sample

import (
	"bufio"
	"io"
	"math/rand/v2"
	"strconv"
)

// Write writes a store with this many issues, from 1 to 200 million. Stores with another seed
// have the same shape.
func Write(w io.Writer, issues int, seed uint64) error {
	out := bufio.NewWriterSize(w, 1<<20)
	g := generator{random: rand.New(rand.NewPCG(seed, uint64(issues)))}
	for n := range issues {
		g.line = g.line[:0]
		g.issue(n)
		if _, err := out.Write(append(g.line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// ID returns the id of the issue with a number, from 0.
func ID(n int) string { return string(appendID(nil, n)) }

// epicSize is the number of issues in an epic, including the epic.
const epicSize = 12

// appendID appends an id: every twelfth number is an epic, and the numbers after it are its
// children.
func appendID(b []byte, n int) []byte {
	// An odd factor visits every number below 2^24 once, in no visible order.
	const factor, space = 10_368_889, 1 << 24
	b = append(b, "fleet-"...)
	b = strconv.AppendUint(b, uint64(n/epicSize)*factor%space+36*36*36, 36)
	if child := n % epicSize; child > 0 {
		b = append(b, '.')
		b = strconv.AppendInt(b, int64(child), 10)
	}
	return b
}

type generator struct {
	random *rand.Rand
	line   []byte
}

// chance reports true in that many of a hundred cases.
func (g *generator) chance(percent int) bool { return g.random.IntN(100) < percent }

func (g *generator) pick(list ...string) string { return list[g.random.IntN(len(list))] }

func (g *generator) add(texts ...string) {
	for _, text := range texts {
		g.line = append(g.line, text...)
	}
}

// open starts the value of a key that is a string.
func (g *generator) open(key string) { g.add(`,"`, key, `":"`) }

func (g *generator) close() { g.add(`"`) }

func (g *generator) text(key, value string) {
	g.open(key)
	g.add(value)
	g.close()
}

func (g *generator) issue(n int) {
	status := g.status()
	closed := status == "closed"
	g.add(`{"id":"`)
	g.line = appendID(g.line, n)
	g.close()
	g.open("title")
	g.words(5, 9)
	g.close()
	g.open("description")
	g.prose(9, 22)
	g.close()
	if g.chance(10) {
		g.open("acceptance_criteria")
		g.criteria()
		g.close()
	}
	if g.chance(60) {
		g.open("notes")
		g.notes(closed)
		g.close()
	}
	g.text("status", status)
	g.add(`,"priority":`)
	g.line = strconv.AppendInt(g.line, int64(g.random.IntN(5)), 10)
	g.text("issue_type", g.kind(n))
	if g.chance(30) {
		g.text("assignee", g.pick(people...))
	}
	g.time("created_at", 1)
	g.text("created_by", g.pick(people...))
	g.time("updated_at", 9)
	if closed {
		g.time("closed_at", 9)
		g.open("close_reason")
		g.words(2, 20)
		g.close()
	}
	g.dependencies(n)
	if g.chance(20) {
		g.add(`,"labels":["`, g.pick(words...), `","`, g.pick(words...), `"]`)
	}
	if g.chance(10) {
		g.comment(n)
	}
	g.add("}")
}

func (g *generator) status() string {
	switch at := g.random.IntN(100); {
	case at < 68:
		return "closed"
	case at < 90:
		return "open"
	case at < 94:
		return "in_progress"
	case at < 96:
		return "deferred"
	}
	return "tombstone"
}

func (g *generator) kind(n int) string {
	if n%epicSize == 0 {
		return "epic"
	}
	return g.pick("task", "task", "task", "feature", "bug", "chore")
}

// time writes a time on a day of a month of 2026, in the format of one of the programs in use.
func (g *generator) time(key string, month int) {
	g.open(key)
	two := func(n int) {
		g.line = append(g.line, byte('0'+n/10), byte('0'+n%10))
	}
	g.add("2026-")
	two(month)
	g.add("-")
	two(1 + g.random.IntN(28))
	g.add("T")
	two(g.random.IntN(24))
	g.add(":")
	two(g.random.IntN(60))
	g.add(":")
	two(g.random.IntN(60))
	g.add(g.pick("Z", ".123456789Z", "-05:00"))
	g.close()
}

// dependencies links an issue to its epic, to earlier issues for which it waits, and now and
// then to something meaningless.
func (g *generator) dependencies(n int) {
	first := true
	row := func(on func(), kind string) {
		if first {
			g.add(`,"dependencies":[`)
		} else {
			g.add(",")
		}
		first = false
		g.add(`{"issue_id":"`)
		g.line = appendID(g.line, n)
		g.add(`","depends_on_id":"`)
		on()
		g.close()
		g.text("type", kind)
		g.time("created_at", 1)
		g.text("created_by", g.pick(people...))
		g.add("}")
	}
	issue := func(m int) func() { return func() { g.line = appendID(g.line, m) } }
	if n%epicSize > 0 && g.chance(95) {
		row(issue(n/epicSize*epicSize), "parent-child")
	}
	if n > 1 && g.chance(38) {
		row(issue(g.earlier(n)), "blocks")
	}
	if n > 1 && g.chance(14) {
		row(issue(g.earlier(n)), "discovered-from")
	}
	if n > 1 && g.chance(1) {
		row(issue(g.earlier(n)), g.pick("blocked-by", "parent_child"))
	}
	if g.random.IntN(1000) == 0 {
		row(func() { g.add("fleet-gone") }, "blocks")
	}
	if n%epicSize == 1 && g.random.IntN(400) == 0 { // often a deadlock with the next child
		row(issue(n+1), "blocks")
	}
	if !first {
		g.add("]")
	}
}

// earlier returns the number of an issue before n that is not its epic: most often another
// child of that epic, or an issue not far away. n is at least 2.
func (g *generator) earlier(n int) int {
	epic := n / epicSize * epicSize
	switch {
	case epic == 0, n-epic > 1 && g.chance(60):
		return n - 1 - g.random.IntN(max(1, n-epic-1))
	case g.chance(80):
		return max(0, epic-1-g.random.IntN(60))
	}
	return g.random.IntN(epic)
}

func (g *generator) comment(n int) {
	g.add(`,"comments":[{"id":`)
	g.line = strconv.AppendInt(g.line, int64(n+1), 10)
	g.text("author", g.pick(people...))
	g.open("text")
	g.words(10, 40)
	g.close()
	g.time("created_at", 9)
	g.add("}]")
}
