package draw

import (
	"fmt"
	"strings"

	"stig/internal/beads"
	"stig/internal/visible"
	"stig/signals"
)

// textWidth is the maximum width of a line, in characters.
const textWidth = 100

// Text returns an indented tree: below each issue are those that wait for it. Each issue is
// shown in full once; after that a line refers back to it.
func (p *Picture) Text() string {
	waiters := make([][]Edge, len(p.Nodes))
	waits := make([]bool, len(p.Nodes))
	for _, e := range p.Edges {
		waiters[e.From] = append(waiters[e.From], e)
		waits[e.To] = waits[e.To] || !e.Ring
	}
	var b strings.Builder
	shown := make([]bool, len(p.Nodes))
	var show func(n, depth int)
	show = func(n, depth int) {
		shown[n] = true
		writeLine(&b, depth, p.line(n))
		for _, e := range waiters[n] {
			switch {
			case e.Ring:
				writeLine(&b, depth+1, p.Nodes[e.To].ID+" ↺ dependency cycle")
			case shown[e.To]:
				writeLine(&b, depth+1, p.Nodes[e.To].ID+" ↑ see above")
			default:
				show(e.To, depth+1)
			}
		}
	}
	for n := range p.Nodes {
		if !waits[n] {
			show(n, 0)
		}
	}
	if len(p.Nodes) == 0 {
		return "no issues to draw\n"
	}
	fmt.Fprintf(&b, "issues: %d, edges: %d; below each issue: the issues that wait for it\n", len(p.Nodes), len(p.Edges))
	return b.String()
}

// line formats an issue.
func (p *Picture) line(n int) string {
	node := p.Nodes[n]
	line := node.ID + " [" + node.Status + " " + node.Cynefin + "]"
	if node.Cynefin == "" {
		line = node.ID + " [" + node.Status + ", " + signals.NoTable + "]"
	}
	if node.Waiting && !saysWaiting(node.Status) {
		line += " (waiting)"
	}
	if node.Total > 0 {
		line += fmt.Sprintf(" (%d of %d closed)", node.Closed, node.Total)
	}
	if node.Pending {
		line += " ? waits for a person"
	}
	if node.Itself {
		line += " ↺ waits for itself"
	}
	if node.Epic >= 0 {
		line += " in " + p.Nodes[node.Epic].ID
	}
	return line + " · " + visible.OneLine(node.Title)
}

// saysWaiting reports whether the status alone says that an issue cannot be started.
func saysWaiting(status string) bool {
	return status == beads.StatusBlocked || status == beads.StatusDeferred
}

// writeLine limits the indentation so that the text still has room.
func writeLine(b *strings.Builder, depth int, words string) {
	const deepest = 20
	b.WriteString(visible.Clipped(strings.Repeat("  ", min(depth, deepest))+words, textWidth) + "\n")
}
