package dag

import (
	"strings"

	"stig/internal/beads"
)

// kind is what a dependency type means to the graph.
type kind int

const (
	other kind = iota // never blocks: related, discovered-from, and unknown types
	blocks
	contains
)

func kindOf(dependencyType string) kind {
	switch dependencyType {
	case "blocks", beads.Conditional, beads.WaitsFor, "": // a row without a type still means a dependency
		return blocks
	case "parent-child":
		return contains
	}
	return other
}

// IsKnownType reports whether trackers of this format write a dependency type, blocking or not.
func IsKnownType(dependencyType string) bool {
	switch dependencyType {
	case "related", "relates-to", "discovered-from", "duplicates", "supersedes", "tracks", "until", "caused-by", "validates",
		"replies-to", "authored-by", "assigned-to", "approved-by", "attests", "delegated-from":
		return true
	}
	return kindOf(dependencyType) != other
}

// misnamed are dependency types that look like blocking or containing ones but are not, with
// the likely intended type.
var misnamed = map[string]string{
	"blocked-by": "blocks", "depends-on": "blocks", "block": "blocks", "requires": "blocks", "needs": "blocks",
	"parent": "parent-child", "child": "parent-child", "child-of": "parent-child", "parent-of": "parent-child",
	"subtask": "parent-child", "subtask-of": "parent-child",
}

// Meant returns the type that a near miss such as "blocked-by" or "parent_child" likely stands
// for, and whether it is one. turned is true if the row belongs on the other issue: a row
// belongs on the dependent, and on the child.
func Meant(dependencyType string) (meant string, turned, miss bool) {
	plain := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(dependencyType)), "_", "-"), " ", "-")
	if meant, miss = misnamed[plain]; !miss && kindOf(plain) != other && plain != dependencyType {
		meant, miss = plain, true
	}
	return meant, plain == "parent-of", miss
}

// Blocks reports whether rows of this type make an issue wait, Contains whether they put it
// into an epic.
func Blocks(dependencyType string) bool { return kindOf(dependencyType) == blocks }

// Contains is explained at Blocks.
func Contains(dependencyType string) bool { return kindOf(dependencyType) == contains }

type link struct{ from, to int32 }

func reversed(links []link) []link {
	back := make([]link, len(links))
	for i, l := range links {
		back[i] = link{from: l.to, to: l.from}
	}
	return back
}

// edges stores the targets of all nodes in two arrays instead of a slice a node, which keeps a
// store of 100,000 issues small.
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
	for _, l := range links { // moves the start of every node to its end, the start of the next one
		e.targets[e.start[l.from]] = l.to
		e.start[l.from]++
	}
	copy(e.start[1:], e.start[:nodes])
	e.start[0] = 0
	return e
}

func (e edges) of(node int) []int32 {
	if e.start == nil { // there are none at all
		return nil
	}
	return e.targets[e.start[node]:e.start[node+1]]
}

// reversed returns the edges in the opposite direction.
func (e edges) reversed() edges {
	links := make([]link, 0, len(e.targets))
	for node := range len(e.start) - 1 {
		for _, to := range e.of(node) {
			links = append(links, link{from: to, to: int32(node)})
		}
	}
	return newEdges(len(e.start)-1, links)
}
