package beads

import (
	"context"
	"slices"
	"sync"
)

// Nearby is a store that can read some issues without the others.
type Nearby interface {
	// Near returns an excerpt: what a scope names, and all that this waits for, directly or
	// indirectly. It returns the whole store if that is not much more.
	Near(ctx context.Context, s Scope) (*Snapshot, error)

	// Copied returns the whole store as it was some time ago, without asking for it; nil if
	// there is no copy, or one larger than most bytes.
	Copied(most int64) *Snapshot
}

// Scope says which part of a store is wanted. The zero Scope is the whole store.
type Scope struct {
	IDs    []string // with everything that points at them
	Beside bool     // also their siblings, and issues whose title or id is like theirs
	Also   []string // ids that may exist, with nothing that points at them
}

// IsWhole reports whether a scope is the whole store.
func (s Scope) IsWhole() bool { return len(s.IDs) == 0 }

// Extent is how much an excerpt has of what points at an issue.
type Extent int

const (
	Upward      Extent = iota // nothing
	Children                  // its children
	Descendants               // its children, theirs, and so on
	Around                    // all of it: an issue of Scope.IDs
	Beside                    // all that Scope.Beside adds, too
	Everything                // every issue of the store
)

// Excerpt describes a snapshot of some issues of a store. If an answer needs more than it has,
// the answer may be wrong; Snapshot.Exceeded says so, and what to read instead.
type Excerpt struct {
	Scope   Scope
	Extents map[string]Extent // by id
	Absent  map[string]bool   // ids that the store lacks, unless they are in the excerpt

	mu       sync.Mutex
	wanted   []string // ids that were asked for and are not known
	exceeded bool     // something other than ids was asked for
}

// IsHolding reports whether rows of a type may keep an issue from being started or closed.
func IsHolding(dependencyType string) bool { return slices.Contains(Holding(), dependencyType) }

// Holding lists the types of IsHolding, the blocking and containing ones of package dag; "" is
// that of a row without a type.
func Holding() []string { return []string{"blocks", Conditional, WaitsFor, "parent-child", ""} }

// Need declares that an answer depends on what points at the issue at index i, as far as extent
// says. It has no effect on a snapshot of the whole store.
func (f *Snapshot) Need(i int, extent Extent) {
	e := f.source.Excerpt
	if e == nil || extent < Everything && e.Extents[f.issues[i].ID] >= extent {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.exceeded = true
}

// IsExcerpt reports whether this is a snapshot of some issues of a store.
func (f *Snapshot) IsExcerpt() bool { return f.source.Excerpt != nil }

// lacks notes that an id is not in the snapshot.
func (f *Snapshot) lacks(id string) {
	e := f.source.Excerpt
	if e == nil || id == "" || e.Absent[id] {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wanted = append(e.wanted, id)
}

// mostAlso bounds the ids that are added to a scope.
const mostAlso = 200

// Exceeded reports whether an answer needed more than the excerpt has, and returns the scope
// that has enough. It is false for a snapshot of the whole store.
func (f *Snapshot) Exceeded() (more Scope, exceeded bool) {
	e := f.source.Excerpt
	if e == nil {
		return Scope{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.exceeded, len(e.wanted) > 0 && e.Scope.Also != nil, len(e.wanted) > mostAlso:
		return Scope{}, true
	case len(e.wanted) == 0:
		return Scope{}, false
	}
	more = e.Scope
	more.Also = slices.Clone(e.wanted)
	return more, true
}
