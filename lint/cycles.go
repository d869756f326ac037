package lint

import (
	"fmt"
	"slices"
	"strings"

	"stig/beads"
	"stig/dag"
)

// Rules about issues that wait for each other.
const (
	RuleDeadlock = "deadlock"
	RuleCycle    = "cycle"
)

// Cycles reports the deadlocks of a store, each as the shortest circle of
// issues that wait for each other for ever, and the rings of blocking rows
// that only closed issues keep from being one. The place is the issue whose
// row is to go, and the hint says how.
func Cycles(f *beads.File, g *dag.Graph) []Diagnostic {
	name := func(i int) string { return f.At(i).ID }
	var found []Diagnostic
	for _, ring := range g.Deadlocks() {
		holder := f.At(ring.Remove.From)
		found = append(found, Diagnostic{
			Rule: RuleDeadlock, Severity: Error, ID: holder.ID, File: f.Store().Path, Line: holder.Line,
			Message: "they wait for each other for ever: " + strings.Join(dag.Circle(ring.Steps, name), "; "),
			Hint:    removal(f, holder, name(ring.Remove.On), ring.Remove.Type),
		})
	}
	for _, cycle := range g.ClosedCycles() {
		last := 0
		for k := range cycle {
			if name(cycle[k]) > name(cycle[last]) {
				last = k
			}
		}
		holder, on := f.At(cycle[last]), name(cycle[(last+1)%len(cycle)])
		found = append(found, Diagnostic{
			Rule: RuleCycle, Severity: Warning, ID: holder.ID, File: f.Store().Path, Line: holder.Line,
			Message: fmt.Sprintf("they block each other in a ring, in which not all are open: %s", strings.Join(ringWords(cycle, name), " waits for ")),
			Hint:    removal(f, holder, on, "blocks"),
		})
	}
	return inOrder(found)
}

// ringWords names the issues of a ring, the first at the end again; of a long
// one both ends.
func ringWords(cycle []int, name func(int) string) (words []string) {
	const most, end = 12, 4
	for k, i := range cycle {
		if len(cycle) > most && k == end {
			words = append(words, fmt.Sprintf("… %d more …", len(cycle)-2*end))
		}
		if len(cycle) <= most || k < end || k >= len(cycle)-end {
			words = append(words, name(i))
		}
	}
	return append(words, name(cycle[0]))
}

// removal says how to take away the rows by which an issue is linked to
// another in the way of a type: several types may do the same.
func removal(f *beads.File, holder *beads.Issue, on, like string) string {
	if f.Store().Mode != beads.Plain {
		return fmt.Sprintf("type bd dep remove %s %s", holder.ID, on)
	}
	var types []string
	for _, dep := range holder.Deps {
		if dep.On == on && dag.Blocks(dep.Type) == dag.Blocks(like) && dag.Contains(dep.Type) == dag.Contains(like) {
			types = append(types, dep.Type)
		}
	}
	slices.Sort(types)
	var commands []string
	for _, t := range slices.Compact(types) {
		commands = append(commands, fmt.Sprintf("stig dep rm %s --on %s --type %s", holder.ID, on, t))
	}
	return "type " + strings.Join(commands, " and ")
}
