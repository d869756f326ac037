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
	bendHeight = 8  // what an edge needs to pass a column, with its margin
	leastGap   = 52 // between two columns
	mostGap    = 132
	laneHead   = 24
	lanePad    = 8
	laneSpace  = 14 // between frames
	frameStep  = 8  // from a frame to the one inside
	margin     = 16
	fewColumns = 5 // issues of a picture without edges are spread over so many at most
)

// mostBends is how many bends a picture has: 4 MB of SVG. Where edges would pass more
// columns than that, each edge is a single curve, behind the boxes.
const mostBends = 20_000

// box is a rectangle: its left upper corner and its size.
type box struct{ x, y, w, h int }

// item is what takes room in a column: a node, or the bend of an edge that
// passes the column.
type item struct {
	node          int  // -1 for a bend
	ring          bool // a bend of an edge that is marked as a ring
	lane, layer   int
	rank          int   // -1: an epic without edges, above all that is linked; 1: others without, below
	y             int   // of its centre
	height        int   // with its margins
	before, after []int // the items that edges lead from and to, in the columns beside
}

// link is the part of an edge between two neighbouring columns, or an edge without bends.
type link struct {
	from, to int // items
	ring     bool
	arrow    bool // it ends in a node: at to, of a ring at from
}

// layout is where everything lies.
type layout struct {
	width, height int
	columns       []int // x of each
	items         []item
	links         []link
	boxes         []box // by node
	frames        []frame
	groups        [][][]int // items by layer and lane, from above
	tops, bottoms []int     // of the lanes
}

// frame goes round an epic and what it holds.
type frame struct {
	box
	epic, depth int
}

// arrange lays a picture out: columns by what waits for what, from left to
// right, and rows by epic. Edges run between the columns, and pass a column
// only where a bend keeps a place for them, so that they cross no box, as long as
// that takes no more than mostBends.
func (p *Picture) arrange() *layout {
	l := &layout{boxes: make([]box, len(p.Nodes))}
	lanes := p.lanes()
	laneOf := make([]int, len(p.Nodes))
	flat := flatten(lanes)
	for i, in := range flat {
		for _, n := range in.nodes {
			laneOf[n] = i
		}
	}
	layer, alone := p.layers(), p.alone()
	last := spread(flat, layer, alone)
	for n := range p.Nodes {
		it := item{node: n, lane: laneOf[n], layer: layer[n], height: boxHeight + 2*boxMargin}
		switch {
		case alone[n] && flat[it.lane].epic == n:
			it.rank = -1
		case alone[n]:
			it.rank = 1
		}
		l.items = append(l.items, it)
	}
	l.connect(p)
	l.group(last+1, len(flat), flat)
	deepest := l.stack(lanes, 0, 0, &l.height)
	l.improve()
	l.place(deepest)
	return l
}

// flatten lists lanes from above, inner ones after the one that holds them.
func flatten(lanes []lane) (flat []lane) {
	for _, l := range lanes {
		flat = append(flat, l)
		flat = append(flat, flatten(l.inner)...)
	}
	return flat
}

// spread puts the nodes of a picture without any edges into a grid, and gives
// the last column. Where there are edges, columns read as stages, and a node
// without one stays in the first: nothing keeps it from being started.
func spread(lanes []lane, layer []int, alone []bool) (last int) {
	if slices.Contains(alone, false) {
		return slices.Max(layer)
	}
	for _, in := range lanes {
		columns := min(fewColumns, len(in.nodes))
		rows := (len(in.nodes) + columns - 1) / columns
		for i, n := range in.nodes {
			layer[n] = i / rows
			last = max(last, layer[n])
		}
	}
	return last
}

// connect links items column by column. The edges from one node share their
// bends, so that what many wait for is the root of one tree of lines.
func (l *layout) connect(p *Picture) {
	type tree struct {
		from    int
		targets []int
		ring    bool
	}
	var trees []tree
	out := make([][]int, len(p.Nodes))
	for _, e := range p.thinned() {
		if e.Ring {
			trees = append(trees, tree{e.To, []int{e.From}, true})
			continue
		}
		out[e.From] = append(out[e.From], e.To)
	}
	for n, targets := range out {
		trees = append(trees, tree{n, targets, false})
	}
	bends := 0
	for _, t := range trees {
		slices.SortStableFunc(t.targets, func(a, b int) int { return cmp.Compare(l.items[a].layer, l.items[b].layer) })
		if n := len(t.targets); n > 0 {
			bends += max(0, l.items[t.targets[n-1]].layer-l.items[t.from].layer-1)
		}
	}
	for _, t := range trees {
		l.chain(t.from, t.targets, t.ring, bends <= mostBends)
	}
}

// chain links a node with others to its right, in the order of their columns, with
// bends or without.
func (l *layout) chain(from int, targets []int, ring, bent bool) {
	at := from
	for _, to := range targets {
		for bent && l.items[at].layer < l.items[to].layer-1 {
			l.items = append(l.items, item{node: -1, ring: ring, lane: l.items[from].lane, layer: l.items[at].layer + 1, height: bendHeight})
			l.join(link{from: at, to: len(l.items) - 1, ring: ring, arrow: ring && at == from})
			at = len(l.items) - 1
		}
		l.join(link{from: at, to: to, ring: ring, arrow: !ring || at == from})
	}
}

func (l *layout) join(k link) {
	l.links = append(l.links, k)
	l.items[k.from].after = append(l.items[k.from].after, k.to)
	l.items[k.to].before = append(l.items[k.to].before, k.from)
}

// group sorts the items into columns and lanes: first as they are listed.
func (l *layout) group(layers, lanes int, flat []lane) {
	l.groups = make([][][]int, layers)
	for i := range l.groups {
		l.groups[i] = make([][]int, lanes)
	}
	l.tops, l.bottoms = make([]int, lanes), make([]int, lanes)
	add := func(i int) {
		it := l.items[i]
		l.groups[it.layer][it.lane] = append(l.groups[it.layer][it.lane], i)
	}
	nodes := 0
	for _, in := range flat {
		nodes += len(in.nodes)
		for _, n := range in.nodes {
			add(n)
		}
	}
	for i := nodes; i < len(l.items); i++ {
		add(i)
	}
}

// stack gives the lanes, in so many frames, their heights from y on and says how deep
// frames lie in each other. next is the lane to go on with.
func (l *layout) stack(lanes []lane, next, depth int, y *int) (deepest int) {
	for _, in := range lanes {
		start := *y
		if in.epic >= 0 {
			*y += laneHead
		}
		l.tops[next] = *y
		for _, column := range l.groups {
			room := 0
			for _, i := range column[next] {
				l.items[i].y = l.tops[next] + room + l.items[i].height/2
				room += l.items[i].height
			}
			*y = max(*y, l.tops[next]+room)
		}
		l.bottoms[next] = *y
		next++
		deepest = max(deepest, depth, l.stack(in.inner, next, depth+1, y))
		next += len(flatten(in.inner))
		if in.epic >= 0 {
			*y += lanePad
			l.frames = append(l.frames, frame{box{y: start, h: *y - start}, in.epic, depth})
		}
		*y += laneSpace
	}
	return deepest
}

// place turns columns into pixels.
func (l *layout) place(deepest int) {
	between := make([]int, len(l.groups))
	for _, k := range l.links {
		between[l.items[k.from].layer]++
	}
	left := margin + frameStep*(deepest+1)
	x := left
	for i := range l.groups {
		l.columns = append(l.columns, x)
		x += boxWidth + min(mostGap, leastGap+2*between[i])
	}
	l.width = l.columns[len(l.columns)-1] + boxWidth + left
	for i := range l.items {
		it := &l.items[i]
		if it.y += margin; it.node >= 0 {
			l.boxes[it.node] = box{l.columns[it.layer], it.y - boxHeight/2, boxWidth, boxHeight}
		}
	}
	for i := range l.frames {
		f := &l.frames[i]
		f.x = margin + frameStep*f.depth
		f.w = l.width - 2*f.x
		f.y += margin
	}
	l.height += 2*margin - laneSpace
}
