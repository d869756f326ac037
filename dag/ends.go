package dag

import (
	"fmt"
	"strings"

	"stig/internal/beads"
)

// Endings counts an epic's closed children by how they ended.
type Endings struct {
	Done, Duplicate, NotPlanned, Failed, Unknown int
}

// Undone is how many ended other than done.
func (e Endings) Undone() int { return e.Duplicate + e.NotPlanned + e.Failed + e.Unknown }

// Words says how many children ended other than done, and how; "" for none.
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

// Ends counts how an epic's closed children ended. It reads their lines.
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

// DoneByClose reports whether all children of an epic are closed and at least one is done, so
// that only the epic remains to be closed. If all were closed as duplicates, not planned or
// failed, nothing is done.
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

// outcome returns how a closed issue ended; nothing for a store that cannot read its lines.
func (g *Graph) outcome(i int) beads.Outcome {
	if lines, ok := g.issues.(interface{ Outcome(i int) beads.Outcome }); ok {
		return lines.Outcome(i)
	}
	return beads.Outcome{}
}
