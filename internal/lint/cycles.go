package lint

import (
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
)

// Cycles reports the deadlocks of a store, each by its shortest dependency cycle, and cycles of
// blocking rows that are not deadlocks only because some of their issues are closed. The place
// is the issue whose row to remove, and the hint says how.
func Cycles(f *beads.Snapshot, g *dag.Graph) []Diagnostic {
	name := func(i int) string { return f.At(i).ID }
	var found []Diagnostic
	for _, ring := range g.Deadlocks() {
		holder := f.At(ring.Remove.From)
		message := "dependency cycle: " + strings.Join(dag.Circle(ring.Steps, name), "; ")
		if ring.More > 0 {
			message += fmt.Sprintf("; there are more among the %d issues that wait for each other", ring.More)
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
			"blocking rows form a cycle in which not all issues are open: "+strings.Join(ringWords(cycle, name), " waits for "),
			removal(f, holder, on, "blocks")))
	}
	return inOrder(found)
}

// ringWords returns the names of the issues of a ring, with the first repeated at the end; of a
// long ring, both ends.
func ringWords(cycle []int, name func(int) string) []string {
	names := make([]string, len(cycle))
	for k, i := range cycle {
		names[k] = name(i)
	}
	return append(dag.Ends(names), names[0])
}

// removal returns the command that removes the rows by which an issue is linked to another in
// the same way as the given type; several types may do so.
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
