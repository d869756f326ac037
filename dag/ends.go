package dag

import (
	"fmt"
	"strings"

	"stig/internal/beads"
)

// Endings counts the closed children of an epic by how they ended.
type Endings struct {
	Done, Duplicate, NotPlanned, Failed, Unknown int
}

// Undone is how many ended otherwise than done.
func (e Endings) Undone() int { return e.Duplicate + e.NotPlanned + e.Failed + e.Unknown }

// Words says how many children ended otherwise than done, and how; "" for none.
func (e Endings) Words() string {
	var parts []string
	for _, of := range []struct {
		n   int
		end beads.End
	}{{e.Duplicate, beads.EndDuplicate}, {e.NotPlanned, beads.EndNotPlanned}, {e.Failed, beads.EndFailed}, {e.Unknown, beads.EndUnknown}} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%d closed as %s", of.n, of.end))
		}
	}
	if parts != nil && e.Done == 0 {
		parts = append(parts, "none as done")
	}
	return strings.Join(parts, ", ")
}

// Ends tells how the closed children of an epic ended. It looks at their lines.
func (g *Graph) Ends(epic int) (e Endings) {
	for _, c := range g.Children(epic) {
		if !g.Closed(c) {
			continue
		}
		switch g.outcome(c).End {
		case beads.EndDone:
			e.Done++
		case beads.EndDuplicate:
			e.Duplicate++
		case beads.EndNotPlanned:
			e.NotPlanned++
		case beads.EndFailed:
			e.Failed++
		default:
			e.Unknown++
		}
	}
	return e
}

// DoneByClose reports whether all that an epic contains is closed and something of it was
// done, so that nothing is left but to close the epic. Of children that were all closed as
// duplicates, not planned or failed, nothing is done.
func (g *Graph) DoneByClose(epic int) bool {
	children := g.Children(epic)
	for _, c := range children {
		if !g.Closed(c) {
			return false
		}
	}
	for _, c := range children {
		if g.outcome(c).End == beads.EndDone {
			return true
		}
	}
	return false
}

// outcome is how a closed issue ended. A store that cannot look at its lines says nothing of it.
func (g *Graph) outcome(i int) beads.Outcome {
	if lines, ok := g.issues.(interface{ Outcome(i int) beads.Outcome }); ok {
		return lines.Outcome(i)
	}
	return beads.Outcome{}
}
