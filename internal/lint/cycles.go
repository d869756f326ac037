package lint

import (
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
)

// Cycles reports the deadlocks of a store, each as the shortest circle of
// issues that form a dependency cycle, and the rings of blocking rows
// that only closed issues keep from being one. The place is the issue whose
// row is to go, and the hint says how.
func Cycles(f *beads.Snapshot, g *dag.Graph) []Diagnostic {
	name := func(i int) string { return f.At(i).ID }
	var found []Diagnostic
	for _, ring := range g.Deadlocks() {
		holder := f.At(ring.Remove.From)
		message := "they form a dependency cycle: " + strings.Join(dag.Circle(ring.Steps, name), "; ")
		if ring.More > 0 {
			message += fmt.Sprintf("; there are more among the %d issues that wait for each other with these", ring.More)
		}
		found = append(found, breach(f, RuleDeadlock, holder.ID, holder.Line, message,
			removal(f, holder, name(ring.Remove.On), ring.Remove.Type)))
	}
	for _, cycle := range g.ClosedCycles() {
		last := 0
		for k := range cycle {
			if name(cycle[k]) > name(cycle[last]) {
				last = k
			}
		}
		holder, on := f.At(cycle[last]), name(cycle[(last+1)%len(cycle)])
		found = append(found, breach(f, RuleCycle, holder.ID, holder.Line,
			"they block each other in a ring, in which not all are open: "+strings.Join(ringWords(cycle, name), " waits for "),
			removal(f, holder, on, "blocks")))
	}
	return inOrder(found)
}

// ringWords names the issues of a ring, the first at the end again; of a long
// one both ends.
func ringWords(cycle []int, name func(int) string) []string {
	names := make([]string, len(cycle))
	for k, i := range cycle {
		names[k] = name(i)
	}
	return append(dag.Ends(names), names[0])
}

// removal says how to take away the rows by which an issue is linked to
// another in the way of a type: several types may do the same.
func removal(f *beads.Snapshot, holder *beads.Issue, on, like string) string {
	if f.Place().ByBD() {
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
