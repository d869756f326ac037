package draw

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/visible"
	"stig/signals"
)

const (
	ink     = "#1f2328"
	paleInk = "#57606a"
	lineInk = "#7b8794"

	chainColour = "#7a3fb5" // of the bar on boxes of the critical path
	paper       = "#fcfcfb" // its own background, for light and dark pages
	arrowSize   = 7

	frameLook = `fill="#8b949e" stroke="#8b949e" stroke-dasharray="5 4"` // of epics
)

// SVG returns a self-contained picture: no scripts, fonts or external files. Colours are
// Cynefin domains, borders are statuses; a legend below explains them.
func (p *Picture) SVG() string {
	if len(p.Nodes) == 0 {
		return svgOpen(360, 60, "img", "no issues") +
			`<text x="16" y="35" font-size="13" fill="` + ink + `">No issues to draw.</text>` + "\n</svg>\n"
	}
	l := p.arrange()
	legend, below := p.legend(max(l.width, 480), l.height)
	return p.svg(l, max(l.width, 480), l.height+below, nil) + legend + "</svg>\n"
}

// Inline returns the picture for a page that shows Legend. Each box links to what link returns
// for its issue.
func (p *Picture) Inline(link func(id string) string) string {
	l := p.arrange()
	return p.svg(l, l.width, l.height, link) + "</svg>\n"
}

// svg returns the picture without its end; link is nil for no links.
func (p *Picture) svg(l *layout, width, height int, link func(id string) string) string {
	var b strings.Builder
	role := "img"
	if link != nil {
		role = "group" // lets screen readers find the links
	}
	b.WriteString(svgOpen(width, height, role, fmt.Sprintf("%d issues and their dependencies", len(p.Nodes))))
	for _, in := range l.lanes { // outer frames first
		if f := in.frame; in.epic >= 0 {
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="8" fill-opacity="0.06" %s/>`+"\n", f.x, f.y, f.w, f.h, frameLook)
		}
	}
	for _, k := range l.links {
		l.writeLink(&b, k)
	}
	for _, it := range l.items {
		if it.node < 0 {
			fmt.Fprintf(&b, `<path d="M%d %dh%d" fill="none" %s/>`+"\n", l.columns[it.layer], it.y, boxWidth, stroke(it.ring))
		}
	}
	for _, in := range l.lanes {
		if f := in.frame; in.epic >= 0 {
			fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="11" fill="%s" stroke="%s" stroke-width="3" paint-order="stroke">%s</text>`+"\n",
				f.x+10, f.y+16, paleInk, paper, escaped(fit(p.heading(in.epic), 11, f.w-20)))
		}
	}
	for n := range p.Nodes {
		if link == nil {
			p.writeBox(&b, n, l.boxes[n])
			continue
		}
		fmt.Fprintf(&b, `<a href="%s">`+"\n", escaped(link(p.Nodes[n].ID)))
		p.writeBox(&b, n, l.boxes[n])
		b.WriteString("</a>\n")
	}
	return b.String()
}

func svgOpen(width, height int, role, label string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="%s" aria-label="%s" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif">`+"\n"+
		`<rect width="%d" height="%d" rx="10" fill="%s"/>`+"\n", width, height, width, height, role, escaped(label), width, height, paper)
}

func stroke(ring bool) string {
	if ring {
		return `stroke="` + ringColour + `" stroke-width="1.6" stroke-dasharray="5 3"`
	}
	return `stroke="` + lineInk + `" stroke-width="1.3"`
}

// ends returns where a link leaves and arrives. Edges of cycles run beside the others.
func (l *layout) ends(k link) (x0, y0, x1, y1 int) {
	beside := func(i int) int {
		if k.ring && l.items[i].node >= 0 {
			return l.items[i].y + boxHeight/4
		}
		return l.items[i].y
	}
	return l.columns[l.items[k.from].layer] + boxWidth, beside(k.from), l.columns[l.items[k.to].layer], beside(k.to)
}

// writeLink draws a curve that stays between its two columns, which are neighbours unless there
// are no bends. It has an arrow if it ends at a node; an edge of a cycle leads back to the
// left.
func (l *layout) writeLink(b *strings.Builder, k link) {
	x0, y0, x1, y1 := l.ends(k)
	arrow := func(x, y, size int, colour string) int {
		fmt.Fprintf(b, `<path d="M%d %dl%d %dv%dz" fill="%s"/>`+"\n", x, y, size, arrowSize/2+1, -2*(arrowSize/2+1), colour)
		return x + size - size/arrowSize
	}
	if k.ring && l.items[k.from].node >= 0 {
		x0 = arrow(x0, y0, arrowSize, ringColour)
	} else if !k.ring && l.items[k.to].node >= 0 {
		x1 = arrow(x1, y1, -arrowSize, lineInk)
	}
	middle := (x0 + x1) / 2
	fmt.Fprintf(b, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" %s/>`+"\n", x0, y0, middle, y0, middle, y1, x1, y1, stroke(k.ring))
}

// writeBox draws an issue: id, priority, and the title in two lines.
func (p *Picture) writeBox(b *strings.Builder, n int, at box) {
	node := p.Nodes[n]
	tip := fmt.Sprintf("%s %s (%s%s, %s)", node.ID, visible.OneLine(node.Title), node.Status,
		map[bool]string{true: ", waiting"}[node.Waiting], cmp.Or(node.Cynefin, signals.NoTable))
	fmt.Fprintf(b, "<g><title>%s</title>\n", escaped(tip))
	text, radius := ink, 6
	opacity := "1"
	if beads.IsClosed(node.Status) {
		text, opacity = paleInk, "0.45"
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s"/>`+"\n", at.x, at.y, at.w, at.h, radius, paper)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s" fill-opacity="%s" %s/>`+"\n",
		at.x, at.y, at.w, at.h, radius, fill(node.Cynefin), opacity, node.border().svg())
	if node.marked {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="5" height="%d" fill="%s"/>`+"\n", at.x+1, at.y+5, at.h-10, chainColour)
	}
	corner := fmt.Sprintf("P%d", node.Priority)
	switch {
	case beads.IsClosed(node.Status):
		corner = "✓"
	case node.Waiting:
		corner = "waits " + corner
	}
	id, side := node.ID, at.x+at.w-22-pixels(corner, 10)
	if node.Pending {
		side -= 20
	}
	if node.Itself {
		id += " ↺"
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" font-size="11" font-weight="600" fill="%s">%s</text>`+"\n", at.x+10, at.y+17, text, escaped(fitEnd(id, 12, side-at.x-10)))
	fmt.Fprintf(b, `<text x="%d" y="%d" font-size="10" text-anchor="end" fill="%s">%s</text>`+"\n", at.x+at.w-9, at.y+17, paleInk, corner)
	for i, line := range wrap(visible.OneLine(node.Title), 11, at.w-20) {
		fmt.Fprintf(b, `<text x="%d" y="%d" font-size="11" fill="%s">%s</text>`+"\n", at.x+10, at.y+33+14*i, text, escaped(line))
	}
	if node.Pending {
		b.WriteString(mark(side+10, at.y+13) + "\n")
	}
	b.WriteString("</g>\n")
}

// mark is the sign of an unanswered question.
func mark(x, y int) string {
	return fmt.Sprintf(`<circle cx="%d" cy="%d" r="8" fill="#b3261e"/><text x="%d" y="%d" font-size="12" font-weight="700" text-anchor="middle" fill="#ffffff">?</text>`, x, y, x, y+4)
}

func (e border) svg() string {
	out := fmt.Sprintf(`stroke="%s" stroke-width="%s"`, e.colour, e.width)
	if e.dashes != "" {
		out += ` stroke-dasharray="` + e.dashes + `"`
	}
	return out
}

// Key is an entry of the legend: what it explains, drawn within 26 by 16, and the meaning.
type Key struct{ Mark, Words string }

// Legend explains colours, borders and marks.
func (p *Picture) Legend() (list []Key) {
	swatch := func(colour string, e border) string {
		return fmt.Sprintf(`<rect x="1" y="1" width="24" height="14" rx="3" fill="%s" %s/>`, colour, e.svg())
	}
	line := func(ring bool) string { return `<path d="M1 8h24" ` + stroke(ring) + `/>` }
	for _, domain := range signals.Cynefin.Domain() {
		list = append(list, Key{swatch(fill(domain), borderOf(beads.StatusClosed, false)), domain})
	}
	list = append(list, Key{swatch(fill(""), borderOf(beads.StatusClosed, false)), signals.NoTable})
	for _, status := range []string{beads.StatusOpen, beads.StatusInProgress, beads.StatusBlocked, beads.StatusDeferred} {
		list = append(list, Key{swatch("#ffffff", borderOf(status, false)), strings.ReplaceAll(status, "_", " ")})
	}
	list = append(list, Key{swatch("#ffffff", borderOf(beads.StatusOpen, true)), "open, waits"},
		Key{swatch("#ffffff", borderOf(beads.StatusClosed, false)), "closed ✓"}, Key{mark(13, 8), "waits for a person"},
		Key{line(false), "right waits for left"}, Key{line(true), "dependency cycle ↺"},
		Key{`<rect x="1" y="1" width="24" height="14" rx="3" fill-opacity="0" ` + frameLook + `/>`, "epic"})
	if slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.marked }) {
		list = append(list, Key{fmt.Sprintf(`<rect x="10" y="1" width="5" height="14" fill="%s"/>`, chainColour), "critical path"})
	}
	return list
}

// legend returns the legend below the picture, and its height.
func (p *Picture) legend(width, y int) (string, int) {
	const room, step = 140, 24
	columns, list := (width-2*margin)/room, p.Legend()
	var b strings.Builder
	for i, e := range list {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">%s<text x="32" y="12" font-size="11" fill="%s">%s</text></g>`+"\n",
			margin+i%columns*room, y+i/columns*step, e.Mark, paleInk, e.Words)
	}
	return b.String(), (len(list)+columns-1)/columns*step + margin/2
}

// escaped returns a text escaped for XML.
func escaped(text string) string { return html.EscapeString(visible.Text(text)) }

// fit cuts a text to a width in pixels.
func fit(text string, size, room int) string {
	if pixels(text, size) <= room {
		return text
	}
	left := (room*100+99)/size - advance('…')
	for i, r := range text {
		if left -= advance(r); left < 0 {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

// fitEnd cuts a text from the left, since ids of a store share their prefix.
func fitEnd(text string, size, room int) string {
	return backwards(fit(backwards(text), size, room))
}

func backwards(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

// wrap breaks a text into at most two lines.
func wrap(text string, size, room int) []string {
	if pixels(text, size) <= room {
		return []string{text}
	}
	first := ""
	for word := range strings.FieldsSeq(text) {
		if pixels(first+" "+word, size) > room {
			break
		}
		first = strings.TrimSpace(first + " " + word)
	}
	if first == "" { // a single long word
		return []string{fit(text, size, room)}
	}
	return []string{first, fit(strings.TrimSpace(strings.TrimPrefix(text, first)), size, room)}
}

// pixels estimates the width of a text, generously since fonts differ.
func pixels(text string, size int) int {
	width := 0
	for _, r := range text {
		width += advance(r)
	}
	return width * size / 100
}

// advance returns the width of a character, in hundredths of the font size.
func advance(r rune) int {
	switch {
	case strings.ContainsRune("iljI.,:;'|!", r):
		return 32
	case strings.ContainsRune("ftr()[]{}-/ ", r):
		return 40
	case strings.ContainsRune("mwMW@%…—", r):
		return 95
	case r >= 'A' && r <= 'Z':
		return 70
	case r >= 0x1f300 || visible.Columns(string(r)) == 2: // emoji and symbols are wide
		return 105
	}
	return 60
}
