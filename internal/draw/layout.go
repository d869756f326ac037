package draw

import (
	"cmp"
	"slices"
)

// Sizes in pixels.
const (
	boxWidth   = 206
	boxHeight  = 58
	boxMargin  = 8  // above and below a box
	bendHeight = 8  // space for an edge that passes a column, with its margin
	leastGap   = 52 // between two columns
	mostGap    = 132
	laneHead   = 24
	lanePad    = 8
	laneSpace  = 14 // between frames
	frameStep  = 8  // from a frame to the one inside it
	margin     = 16
	fewColumns = 5 // a picture without edges has at most so many columns
)

const (
	sweeps      = 3 // must be odd: the last sweep follows the edges, since one against them leaves more crossings
	alignSweeps = 2
)

// mostBends limits the bends of a picture to 4 MB of SVG. If edges would need more, each edge
// is a single curve behind the boxes.
const mostBends = 20_000

// box is a rectangle: its top left corner and its size.
type box struct{ x, y, w, h int }

// item is what takes room in a column: a node, or the bend of an edge that passes the column.
type item struct {
	node          int  // -1 for a bend
	ring          bool // a bend of an edge in a cycle
	lane, layer   int
	y, wish       int   // of its centre: the position, and the preferred one
	height        int   // with its margins
	before, after []int // indices of linked items in the columns to the left and right
}

// link is the part of an edge between two neighbouring columns, or an edge without bends.
type link struct {
	from, to int // items
	ring     bool
}

// layout is the positions of everything.
type layout struct {
	width, height int
	columns       []int // x by column
	items         []item
	links         []link
	boxes         []box // by node
	lanes         []lane
	groups        [][][]int // items by layer and lane, top to bottom
}

// arrange lays out a picture: columns from left to right by dependencies, rows by epic. Edges
// run between the columns and pass a column only at a bend, so they cross no box, unless that
// takes more than mostBends bends.
func (p *Picture) arrange() *layout {
	l := &layout{boxes: make([]box, len(p.Nodes)), items: make([]item, len(p.Nodes)), lanes: p.lanes()}
	layer := p.layers()
	for i, in := range l.lanes {
		rows := (len(in.nodes) + fewColumns - 1) / fewColumns
		for k, n := range in.nodes {
			l.items[n] = item{node: n, lane: i, layer: layer[n], height: boxHeight + 2*boxMargin}
			if len(p.Edges) == 0 { // with edges, columns are stages and do not wrap
				l.items[n].layer = k / rows
			}
		}
	}
	l.connect(p)
	l.group()
	l.stack()
	for round := range sweeps + alignSweeps {
		l.sweep(round%2 == 1, round < sweeps)
	}
	l.place()
	return l
}

// layers assigns columns such that all edges outside cycles lead to the right. A node's column
// is its level; one with more dependents than dependencies moves as close to its dependents as
// it can.
func (p *Picture) layers() []int {
	layer, order := slices.Clone(p.levels), make([]int, len(p.Nodes))
	in, out := make([]int, len(order)), make([][]int, len(order))
	for _, e := range p.Edges {
		if !e.Ring {
			in[e.To]++
			out[e.From] = append(out[e.From], e.To)
		}
	}
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.levels[b], p.levels[a]) })
	for _, n := range order {
		if len(out[n]) > 0 && len(out[n]) >= in[n] {
			layer[n] = layer[slices.MinFunc(out[n], func(a, b int) int { return cmp.Compare(layer[a], layer[b]) })] - 1
		}
	}
	return layer
}

// connect links items column by column. Edges from one node share their bends, so many
// dependents form a tree of lines.
func (l *layout) connect(p *Picture) {
	targets := [2][][]int{make([][]int, len(p.Nodes)), make([][]int, len(p.Nodes))} // of edges, and of those in cycles
	for _, e := range p.thinned() {
		if e.Ring {
			targets[1][e.To] = append(targets[1][e.To], e.From)
		} else {
			targets[0][e.From] = append(targets[0][e.From], e.To)
		}
	}
	bends := 0
	for _, of := range targets {
		for from, list := range of {
			slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(l.items[a].layer, l.items[b].layer) })
			if n := len(list); n > 0 {
				bends += l.items[list[n-1]].layer - l.items[from].layer - 1
			}
		}
	}
	for ring, of := range targets {
		for from, list := range of {
			l.chain(from, list, ring == 1, bends <= mostBends)
		}
	}
}

// chain links a node with targets to its right, given in column order, with or without bends.
func (l *layout) chain(from int, targets []int, ring, bent bool) {
	at := from
	join := func(to int) {
		l.links = append(l.links, link{at, to, ring})
		l.items[at].after = append(l.items[at].after, to)
		l.items[to].before = append(l.items[to].before, at)
	}
	for _, to := range targets {
		for bent && l.items[at].layer < l.items[to].layer-1 {
			bend := len(l.items)
			l.items = append(l.items, item{node: -1, ring: ring, lane: l.items[from].lane, layer: l.items[at].layer + 1, height: bendHeight})
			join(bend)
			at = bend
		}
		join(to)
	}
}

// group sorts the items into columns and lanes, initially in their listed order.
func (l *layout) group() {
	add := func(i int) {
		it := l.items[i]
		for len(l.groups) <= it.layer {
			l.groups = append(l.groups, make([][]int, len(l.lanes)))
		}
		l.groups[it.layer][it.lane] = append(l.groups[it.layer][it.lane], i)
	}
	for _, in := range l.lanes {
		for _, n := range in.nodes {
			add(n)
		}
	}
	for i := len(l.boxes); i < len(l.items); i++ {
		add(i)
	}
}

// stack assigns heights to the lanes and the frames around them.
func (l *layout) stack() {
	var open []*lane // frames not yet closed
	for i := range l.lanes {
		in := &l.lanes[i]
		l.close(&open, in.depth)
		if in.epic >= 0 {
			in.frame.y = l.height
			open = append(open, in)
			l.height += laneHead
		}
		in.top, in.bottom = l.height, l.height
		for _, column := range l.groups {
			at := in.top
			for _, item := range column[i] {
				l.items[item].y = at + l.items[item].height/2
				at += l.items[item].height
			}
			in.bottom = max(in.bottom, at)
		}
		l.height = in.bottom
	}
	l.close(&open, 0)
}

// close ends frames below their content until only so many are open.
func (l *layout) close(open *[]*lane, depth int) {
	for ; len(*open) > depth; *open = (*open)[:len(*open)-1] {
		frame := &(*open)[len(*open)-1].frame
		frame.h = l.height + lanePad - frame.y
		l.height += lanePad + laneSpace
	}
}

// sweep moves items up and down within their lanes, towards what they are linked to: column by
// column, reordered by the previous columns, or backwards by the next ones; or without
// reordering by both.
func (l *layout) sweep(back, reorder bool) {
	columns := slices.All(l.groups)
	if back {
		columns = slices.Backward(l.groups)
	}
	for _, column := range columns {
		for lane, group := range column {
			for _, i := range group {
				l.wish(&l.items[i], back || !reorder, !back || !reorder)
			}
			if reorder {
				slices.SortStableFunc(group, func(a, b int) int { return cmp.Compare(l.items[a].wish, l.items[b].wish) })
			}
			l.settle(group, l.lanes[lane].top, l.lanes[lane].bottom)
		}
	}
}

// wish sets the preferred position of an item to the mean of its links. Without links, an epic
// goes to the top and others to the bottom.
func (l *layout) wish(it *item, after, before bool) {
	var near []int
	if before {
		near = it.before
	}
	if after {
		near = slices.Concat(near, it.after)
	}
	switch {
	case len(near) > 0:
		sum := 0
		for _, i := range near {
			sum += l.items[i].y
		}
		it.wish = sum / len(near)
	case len(it.before)+len(it.after) > 0:
		it.wish = it.y
	case l.lanes[it.lane].epic == it.node:
		it.wish = 0
	default:
		it.wish = l.lanes[it.lane].bottom
	}
}

// settle places the items of a group in order, as close to their preferred positions as the
// room allows: the mean of the positions after resolving overlaps downwards and upwards.
func (l *layout) settle(group []int, top, bottom int) {
	low := make([]int, len(group))
	rest := 0
	for _, i := range group {
		rest += l.items[i].height
	}
	room := rest
	at := top
	for k, i := range group {
		it := l.items[i]
		low[k] = min(max(it.wish-it.height/2, at), bottom-rest)
		at = low[k] + it.height
		rest -= it.height
	}
	at = bottom
	for k, i := range slices.Backward(group) {
		it := &l.items[i]
		room -= it.height
		at = max(min(it.wish-it.height/2, at-it.height), top+room)
		it.y = (low[k]+at)/2 + it.height/2
	}
}

// place converts columns to pixels.
func (l *layout) place() {
	between := make([]int, len(l.groups))
	for _, k := range l.links {
		between[l.items[k.from].layer]++
	}
	left := margin
	for _, in := range l.lanes {
		left = max(left, margin+frameStep*(in.depth+1))
	}
	x := left
	for i := range l.groups {
		l.columns = append(l.columns, x)
		l.width = x + boxWidth + left
		x += boxWidth + min(mostGap, leastGap+2*between[i])
	}
	for i := range l.items {
		it := &l.items[i]
		if it.y += margin; it.node >= 0 {
			l.boxes[it.node] = box{l.columns[it.layer], it.y - boxHeight/2, boxWidth, boxHeight}
		}
	}
	for i := range l.lanes {
		frame := &l.lanes[i].frame
		frame.x = margin + frameStep*l.lanes[i].depth
		frame.w = l.width - 2*frame.x
		frame.y += margin
	}
	l.height += 2 * margin
}
