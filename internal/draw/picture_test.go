package draw

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestNothingCrossesABox draws generated stores with cycles, self-edges, nested epics and epics
// that contain each other.
func TestNothingCrossesABox(t *testing.T) {
	for seed := range uint64(60) {
		size := []int{1, 2, 7, 30, 90, 200}[seed%6]
		p := generated(rand.New(rand.NewPCG(seed, 1)), size, 1+int(seed)%4)
		if err := sound(p); err != nil {
			t.Fatalf("seed %d, %d issues: %v", seed, size, err)
		}
	}
}

// TestLongEdges draws a chain in which each issue also waits for one two steps before: edges
// have bends while they are few, and are single curves after that, so the picture's size is
// linear in that of the store.
func TestLongEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, size := range []int{200, 900, 1500} {
		p := &Picture{}
		for n := range size {
			p.Nodes = append(p.Nodes, Node{ID: fmt.Sprintf("g-%04d", n), Title: "title", Status: "open", Epic: -1})
			if side := size/2 + n; n < size/2 && n > 0 {
				p.Edges = append(p.Edges, Edge{From: n - 1, To: n}, Edge{From: r.IntN(n), To: side}, Edge{From: side, To: n})
			}
		}
		p.markRings()
		l := p.arrange()
		if err := l.leads(p); err != nil {
			t.Errorf("%d issues: %v", size, err)
		}
		bends := len(l.items) - size
		if bent := size == 200; bends > mostBends || bent != (bends > 0) {
			t.Errorf("%d issues: %d bends", size, bends)
		}
		if got := len(p.SVG()) / size; size > 200 && got > 2000 {
			t.Errorf("%d issues: %d bytes each", size, got)
		}
	}
}

// generated returns a random picture with so many edges per node.
func generated(r *rand.Rand, size, edges int) *Picture {
	p := &Picture{}
	for n := range size {
		node := Node{ID: fmt.Sprintf("g-%03d", n), Title: strings.Repeat("<long> & ", r.IntN(9)), Epic: -1,
			Status:  []string{"open", "closed", "in_progress", "blocked", "parked"}[r.IntN(5)],
			Cynefin: []string{"clear", "complicated", "complex", "chaotic"}[r.IntN(4)], Pending: r.IntN(9) == 0}
		if r.IntN(3) > 0 {
			node.Epic = r.IntN(1 + size/8)
		}
		p.Nodes = append(p.Nodes, node)
	}
	seen := map[Edge]bool{}
	for range size * edges / 2 {
		e := Edge{From: r.IntN(size), To: r.IntN(size)}
		if e.From > e.To && r.IntN(8) > 0 {
			e.From, e.To = e.To, e.From
		}
		if e.From == e.To {
			p.Nodes[e.From].Itself = true
		} else if !seen[e] {
			seen[e] = true
			p.Edges = append(p.Edges, e)
		}
	}
	p.markRings()
	return p
}

// sound reports errors in the layout of a picture.
func sound(p *Picture) error {
	l := p.arrange()
	page := box{0, 0, l.width, l.height}
	for n, a := range l.boxes {
		if !page.holds(a.x, a.y) || !page.holds(a.x+a.w, a.y+a.h) {
			return fmt.Errorf("node %d is outside the page: %v of %v", n, a, page)
		}
		for m := range n {
			if b := l.boxes[m]; a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
				return fmt.Errorf("nodes %d and %d overlap: %v, %v", n, m, a, b)
			}
		}
	}
	for _, in := range l.lanes {
		if in.epic < 0 {
			continue
		}
		f := in.frame
		if !page.holds(f.x, f.y) || !page.holds(f.x+f.w, f.y+f.h) {
			return fmt.Errorf("the frame of %d is outside the page", in.epic)
		}
		if b := l.boxes[in.epic]; !f.holds(b.x, b.y) || !f.holds(b.x+b.w, b.y+b.h) {
			return fmt.Errorf("the frame of %d does not hold it", in.epic)
		}
	}
	if err := l.edgesKeepOff(page); err != nil {
		return err
	}
	return l.leads(p)
}

func (b box) holds(x, y int) bool { return b.x <= x && x <= b.x+b.w && b.y <= y && y <= b.y+b.h }

// edgesKeepOff follows every curve and every bend.
func (l *layout) edgesKeepOff(page box) error {
	touches := func(x, y int) error {
		if !page.holds(x, y) {
			return fmt.Errorf("an edge leaves the page at %d,%d", x, y)
		}
		for n, b := range l.boxes {
			if b.x < x && x < b.x+b.w && b.y-2 < y && y < b.y+b.h+2 {
				return fmt.Errorf("an edge crosses node %d at %d,%d", n, x, y)
			}
		}
		return nil
	}
	for _, k := range l.links {
		x0, y0, x1, y1 := l.ends(k)
		for step := range 33 {
			s := float64(step) / 32
			a, b, c, d := (1-s)*(1-s)*(1-s), 3*s*(1-s)*(1-s), 3*s*s*(1-s), s*s*s
			middle := float64((x0 + x1) / 2)
			x := a*float64(x0) + b*middle + c*middle + d*float64(x1)
			y := a*float64(y0) + b*float64(y0) + c*float64(y1) + d*float64(y1)
			if err := touches(int(x+0.5), int(y+0.5)); err != nil {
				return err
			}
		}
	}
	for _, it := range l.items {
		if it.node >= 0 {
			continue
		}
		for x := 0; x <= boxWidth; x += 4 {
			if err := touches(l.columns[it.layer]+x, it.y); err != nil {
				return err
			}
		}
	}
	return nil
}

// leads checks that the links of each edge connect its ends through bends alone.
func (l *layout) leads(p *Picture) error {
	way := map[[2]int]bool{}
	var follow func(start, at int)
	follow = func(start, at int) {
		for _, next := range l.items[at].after {
			if l.items[next].node >= 0 {
				way[[2]int{start, next}] = true
				continue
			}
			follow(start, next)
		}
	}
	for n := range p.Nodes {
		follow(n, n)
	}
	for _, e := range p.thinned() {
		from, to := e.From, e.To
		if e.Ring {
			from, to = to, from
		}
		if !way[[2]int{from, to}] {
			return fmt.Errorf("edge %v is not drawn", e)
		}
	}
	for ends := range way {
		forward, back := Edge{ends[0], ends[1], false}, Edge{ends[1], ends[0], true}
		found := false
		for _, e := range p.Edges {
			found = found || e == forward || e == back
		}
		if !found {
			return fmt.Errorf("what is drawn from %d to %d is no edge", ends[0], ends[1])
		}
	}
	return nil
}

// TestSVGIsXML parses pictures of texts that could break XML.
func TestSVGIsXML(t *testing.T) {
	p := &Picture{Nodes: []Node{
		{ID: "x-<1>", Title: "a \"b\" & 'c' ]]> </svg><script>\x00\x1b[31m \uffff " + strings.Repeat("界", 90), Epic: 1, Itself: true},
		{ID: "x-2", Title: "", Status: "\"><", Cynefin: "&", Epic: -1, Total: 1, Pending: true},
	}, Edges: []Edge{{0, 1, false}, {1, 0, false}}}
	p.markRings()
	for _, p := range []*Picture{p, {}, generated(rand.New(rand.NewPCG(1, 1)), 200, 2)} {
		text := p.SVG()
		if text != p.SVG() {
			t.Error("two drawings differ")
		}
		decoder := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "script" {
				t.Error("a title became a script")
			}
		}
	}
}

// TestRings: the marked edges break every cycle, and without a cycle none is marked.
func TestRings(t *testing.T) {
	tests := []struct {
		edges []Edge
		rings int
	}{
		{[]Edge{{0, 1, false}, {1, 2, false}, {0, 2, false}}, 0},
		{[]Edge{{0, 1, false}, {1, 0, false}}, 1},
		{[]Edge{{0, 1, false}, {1, 2, false}, {2, 0, false}, {2, 3, false}}, 1},
		{[]Edge{{3, 0, false}, {0, 1, false}, {1, 0, false}, {1, 2, false}, {2, 1, false}}, 2},
	}
	for _, test := range tests {
		p := &Picture{Nodes: make([]Node, 4), Edges: test.edges}
		for n := range p.Nodes {
			p.Nodes[n] = Node{ID: fmt.Sprint(n), Epic: -1}
		}
		p.markRings()
		rings := 0
		layer := p.layers()
		for _, e := range p.Edges {
			if e.Ring {
				rings++
			} else if layer[e.From] >= layer[e.To] {
				t.Errorf("%v: %v leads to the left", test.edges, e)
			}
		}
		if rings != test.rings {
			t.Errorf("%v: %d rings, want %d", test.edges, rings, test.rings)
		}
	}
}

// TestTextShowsEachOnce: the text has one full line per issue.
func TestTextShowsEachOnce(t *testing.T) {
	for seed := range uint64(20) {
		p := generated(rand.New(rand.NewPCG(seed, 2)), 40, 3)
		text := p.Text()
		for _, node := range p.Nodes {
			if n := strings.Count(text, node.ID+" ["); n != 1 {
				t.Fatalf("seed %d: %s is shown %d times\n%s", seed, node.ID, n, text)
			}
		}
	}
}

// TestComponentsBeginInTheFirstColumn: an issue that waits for nothing is in the first column,
// since later columns read as later stages.
func TestComponentsBeginInTheFirstColumn(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 3))
		p := &Picture{}
		for n := range 20 {
			p.Nodes = append(p.Nodes, Node{ID: fmt.Sprint(n), Epic: -1})
		}
		group := make([]int, len(p.Nodes)) // the smallest node of its component
		for n := range group {
			group[n] = n
		}
		for range 1 + random.IntN(14) {
			from, to := random.IntN(20), random.IntN(20)
			if from == to || slices.ContainsFunc(p.Edges, func(e Edge) bool { return e.From == from && e.To == to }) {
				continue
			}
			p.Edges = append(p.Edges, Edge{From: from, To: to})
			least, other := min(group[from], group[to]), max(group[from], group[to])
			for n := range group {
				if group[n] == other {
					group[n] = least
				}
			}
		}
		if p.markRings(); len(p.Edges) == 0 {
			continue
		}
		first := map[int]int{}
		l := p.arrange()
		for n := range p.Nodes {
			if at, known := first[group[n]]; !known || l.items[n].layer < at {
				first[group[n]] = l.items[n].layer
			}
		}
		for of, column := range first {
			if column != 0 {
				t.Errorf("seed %d: the component of %d begins in column %d: %v", seed, of, column, p.Edges)
			}
		}
	}
}

// TestLongTextsAreCut: the size of the text is linear in the titles.
func TestLongTextsAreCut(t *testing.T) {
	for _, long := range []string{strings.Repeat("i", 1<<20), strings.Repeat("…", 1<<20)} {
		for cut, got := range map[string]string{"fit": fit(long, 12, 200), "fitEnd": fitEnd(long, 12, 200)} {
			if wide := pixels(got, 12); wide > 200 || wide < 180 {
				t.Errorf("%s gives %d of 200 pixels: %q", cut, wide, got)
			}
		}
	}
}
