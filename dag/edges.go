package dag

// kind is what a dependency type means to the graph.
type kind int

const (
	other kind = iota // never blocks: related, discovered-from, and any unknown type
	blocks
	contains
)

func kindOf(dependencyType string) kind {
	switch dependencyType {
	case "blocks", "conditional-blocks", "waits-for":
		return blocks
	case "parent-child":
		return contains
	}
	return other
}

type link struct{ from, to int32 }

func reversed(links []link) []link {
	back := make([]link, len(links))
	for i, l := range links {
		back[i] = link{from: l.to, to: l.from}
	}
	return back
}

// edges holds the targets of every node one after the other: two arrays
// instead of a slice a node keep a store of 100,000 issues small.
type edges struct {
	start   []int32 // the targets of node i are targets[start[i]:start[i+1]]
	targets []int32
}

func newEdges(nodes int, links []link) edges {
	e := edges{start: make([]int32, nodes+1), targets: make([]int32, len(links))}
	for _, l := range links {
		e.start[l.from+1]++
	}
	for i := range nodes {
		e.start[i+1] += e.start[i]
	}
	next := append([]int32(nil), e.start[:nodes]...)
	for _, l := range links {
		e.targets[next[l.from]] = l.to
		next[l.from]++
	}
	return e
}

func (e edges) of(node int) []int32 { return e.targets[e.start[node]:e.start[node+1]] }
