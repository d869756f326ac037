package draw

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dominikbraun/graph/draw"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
	"stig/signals"
)

// fill returns the colour of a Cynefin domain, light enough for dark text.
func fill(cynefin string) string {
	switch cynefin {
	case signals.CynefinClear:
		return "#d6f0da"
	case signals.CynefinComplicated:
		return "#d9e7fb"
	case signals.CynefinComplex:
		return "#fde7ba"
	case signals.CynefinChaotic:
		return "#fbcfcf"
	}
	return "#eceff2"
}

// border is the style of a box's frame.
type border struct {
	colour string
	width  string
	dashes string // an SVG stroke-dasharray; "" for a solid line
	dot    string // the DOT style
}

// borderOf returns the border of a status. Statuses differ in width and dashes too, so that
// colour is not needed; waiting issues have dashes or dots.
func borderOf(status string, waiting bool) border {
	switch status {
	case beads.StatusInProgress, beads.StatusHooked:
		if waiting {
			return border{"#0a58ca", "3", "7 3", "bold,dashed"}
		}
		return border{"#0a58ca", "3", "", "bold"}
	case beads.StatusBlocked:
		return border{"#b3261e", "2.5", "7 3", "dashed"}
	case beads.StatusDeferred, beads.StatusPinned:
		return border{"#6b7280", "2", "2 3", "dotted"}
	case beads.StatusClosed, beads.StatusTombstone:
		return border{"#b4bcc6", "1", "", "solid"}
	}
	if waiting {
		return border{"#4b5563", "1.5", "5 4", "dashed"}
	}
	return border{"#4b5563", "1.5", "", "solid"}
}

func (n Node) border() border { return borderOf(n.Status, n.Waiting) }

const ringColour = "#b3261e"

// DOT returns the picture for Graphviz, with epics as clusters.
func (p *Picture) DOT() string {
	nodes := make([]dag.Node, len(p.Nodes))
	var edges []dag.Edge
	for n, node := range p.Nodes {
		frame := node.border()
		nodes[n] = dag.Node{Number: n, Look: map[string]string{
			"label": dotText(p.marked(n) + "\n" + visible.ClippedColumns(visible.OneLine(node.Title), 40)), "shape": "box",
			"fontname": "sans-serif", "fontsize": "11", "fontcolor": ink, "style": "filled," + frame.dot,
			"fillcolor": fill(node.Cynefin), "color": frame.colour, "penwidth": frame.width,
		}}
		if node.Itself {
			edges = append(edges, dag.Edge{From: n, To: n, Look: map[string]string{"color": ringColour, "style": "dashed"}})
		}
	}
	for _, e := range p.thinned() {
		look := map[string]string{"color": lineInk}
		if e.Ring {
			look = map[string]string{"color": ringColour, "style": "dashed", "constraint": "false"}
		}
		edges = append(edges, dag.Edge{From: e.From, To: e.To, Look: look})
	}
	var text strings.Builder
	if err := draw.DOT(dag.Part(nodes, edges), &text, draw.GraphAttribute("rankdir", "LR")); err != nil {
		panic("draw: " + err.Error()) // fails only for an invalid graph or writer
	}
	// The library writes nodes and edges in any order, and no clusters.
	lines := slices.DeleteFunc(strings.Split(text.String(), "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	last := len(lines) - 1
	slices.SortFunc(lines[2:last], func(a, b string) int { // nodes, then edges, by index
		a, _, _ = strings.Cut(a, "[")
		b, _, _ = strings.Cut(b, "[")
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	var b strings.Builder
	for _, line := range lines[:last] {
		b.WriteString(line + "\n")
	}
	epics := slices.DeleteFunc(p.lanes(), func(l lane) bool { return l.epic < 0 })
	clusters(&b, epics, "\t", func(epic int, indent string) string {
		return fmt.Sprintf("subgraph cluster_%d {\n%s\tlabel=\"%s\" style=\"rounded,dashed\" color=\"#8b949e\" fontname=\"sans-serif\" fontsize=10",
			epic, indent, dotText(p.heading(epic)))
	}, func(n int) string { return fmt.Sprintf("%q;", dag.Node{Number: n}.Name()) }, "}")
	return b.String() + lines[last] + "\n"
}

// clusters writes nested lanes: for each epic an opening line, its nodes, and an end.
func clusters(b *strings.Builder, lanes []lane, step string, open func(epic int, indent string) string, node func(n int) string, end string) {
	depth := 0
	for _, l := range append(lanes, lane{epic: -1}) {
		for ; depth > l.depth; depth-- {
			b.WriteString(strings.Repeat(step, depth) + end + "\n")
		}
		indent := strings.Repeat(step, depth+1)
		if l.epic >= 0 {
			b.WriteString(indent + open(l.epic, indent) + "\n")
			indent += step
			depth++
		}
		for _, n := range l.nodes {
			b.WriteString(indent + node(n) + "\n")
		}
	}
}

// dotText escapes a text for a quoted string of DOT, in which only line breaks are escapes.
func dotText(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "&", "&amp;").Replace(visible.Text(text))
}

// heading returns the id of an epic with its progress.
func (p *Picture) heading(epic int) string {
	node := p.Nodes[epic]
	return fmt.Sprintf("%s · %d of %d closed", node.ID, node.Closed, node.Total)
}

// marked returns the id of a node with its marks.
func (p *Picture) marked(n int) string {
	text := p.Nodes[n].ID
	if node := p.Nodes[n]; node.Waiting && !saysWaiting(node.Status) {
		text += " (waiting)"
	}
	if p.Nodes[n].Pending {
		text += " (?)"
	}
	return text
}

// Mermaid returns the picture as a flowchart, with epics as subgraphs.
func (p *Picture) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	clusters(&b, p.lanes(), "  ", func(epic int, _ string) string {
		return fmt.Sprintf(`subgraph e%d ["%s"]`, epic, mermaidText(p.heading(epic)))
	}, func(n int) string {
		return fmt.Sprintf(`n%d["%s<br/>%s"]`, n, mermaidText(p.marked(n)), mermaidText(visible.ClippedColumns(visible.OneLine(p.Nodes[n].Title), 60)))
	}, "end")
	var rings []string
	for i, e := range p.thinned() {
		arrow := "-->"
		if e.Ring {
			arrow = "-.->"
			rings = append(rings, fmt.Sprint(i))
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", e.From, arrow, e.To)
	}
	for n, node := range p.Nodes {
		if node.Itself {
			fmt.Fprintf(&b, "  n%d -.-> n%d\n", n, n)
		}
		edge := node.border()
		style := fmt.Sprintf("fill:%s,stroke:%s,stroke-width:%spx,color:#1f2328", fill(node.Cynefin), edge.colour, edge.width)
		if edge.dashes != "" {
			style += ",stroke-dasharray:" + edge.dashes
		}
		fmt.Fprintf(&b, "  style n%d %s\n", n, style)
	}
	if len(rings) > 0 {
		fmt.Fprintf(&b, "  linkStyle %s stroke:%s\n", strings.Join(rings, ","), ringColour)
	}
	return b.String()
}

// mermaidText writes characters that could end a label, or have a meaning in one, as numeric
// entities.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range visible.Text(text) {
		if strings.ContainsRune("\"#&<>`\\[]{}()|*_~;:%$", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
