package dag

import (
	"slices"

	"stig/internal/beads"
)

// linker reads the rows of a store.
type linker struct {
	*Graph
	blocking, containment, gating []link
	gathering                     []link // rows that wait for the children of their target
	conditions                    []link
	putOff                        []int32 // what is or was deferred
}

// read links an issue by its rows, and records what blocks it without a link.
func (l *linker) read(i int, issue *beads.Issue) {
	for _, dep := range issue.Deps {
		l.row(i, dep)
	}
	if len(issue.Unread) > 0 {
		l.odd = append(l.odd, i)
	}
	for _, u := range issue.Unread {
		switch {
		case u.Rule == beads.UnreadRow && !l.row(i, u.Dep) && kindOf(u.Dep.Type) != other:
			l.hold(i, Hold{Kind: HeldByRow, On: none, Raw: u.Raw})
		case u.Rule == beads.UnreadRow && kindOf(u.Dep.Type) == other && !IsKnownType(u.Dep.Type):
			l.hold(i, Hold{Kind: HeldByRow, On: none, Raw: u.Raw})
		case u.Rule == beads.UnreadTime && u.Key == beads.DeferUntil && u.Time.IsZero():
			l.hold(i, Hold{Kind: HeldByTime, On: none, Raw: string(u.Key) + " " + u.Raw})
		}
	}
}

// hold records what blocks an issue and its children. A closed issue is not blocked.
func (l *linker) hold(i int, h Hold) {
	if h.Through = i; !l.Closed(i) {
		l.own[i] = append(l.own[i], h)
	}
}

// row links an issue by a row, and reports whether the target exists.
func (l *linker) row(i int, dep beads.Dep) bool {
	kind := kindOf(dep.Type)
	if kind == other {
		return true
	}
	if IsExternal(dep.On) {
		l.outside(i, dep.On, kind)
		return kind == blocks
	}
	on, ok := l.issues.Index(dep.On)
	to := link{from: int32(i), to: int32(on)}
	switch {
	case !ok:
		return false
	case kind == contains:
		l.containment = append(l.containment, to)
	case dep.Type == beads.WaitsFor:
		l.gathering = append(l.gathering, to)
	case dep.Type == beads.Conditional:
		l.conditions = append(l.conditions, to)
		l.blocking = append(l.blocking, to)
	default:
		l.blocking = append(l.blocking, to)
	}
	return true
}

// IsExternal reports whether an id names an issue in another store.
func IsExternal(id string) bool { return beads.IsExternal(id) }

// outside blocks an unclosed issue by a row on another store, until that is proved done. The
// store itself is not asked for the id.
func (l *linker) outside(i int, id string, k kind) {
	if k != blocks || l.Closed(i) {
		return
	}
	e := beads.External{Why: beads.NotShown}
	if s, ok := l.issues.(interface {
		External(i int, id string) beads.External
	}); ok {
		e = s.External(i, id)
	}
	if !e.Done {
		l.hold(i, Hold{Kind: HeldByExternal, On: none, Raw: id, Why: e.Why})
	}
}

// gather links rows that wait for the children of their target, once it is known which issues
// have any: without children they wait for the target itself.
func (l *linker) gather() {
	done := map[int32]bool{} // by target: whether a child is closed
	for _, row := range l.gathering {
		from, on := int(row.from), int(row.to)
		children := l.children.of(on)
		if !slices.ContainsFunc(children, func(c int32) bool { return l.isChild(on, int(c)) }) {
			l.blocking = append(l.blocking, row)
			continue
		}
		if !l.issues.At(from).AnyChild[l.issues.At(on).ID] {
			l.gating = append(l.gating, row)
			continue
		}
		if _, known := done[row.to]; !known {
			done[row.to] = slices.ContainsFunc(children, func(c int32) bool { return l.isChild(on, int(c)) && !l.holds(int(c)) })
		}
		if !done[row.to] {
			l.hold(from, Hold{Kind: HeldByFirstChild, On: on})
		}
	}
}

// judge blocks issues that are needed only if another one fails, where it did not.
func (l *linker) judge() {
	failed := map[int32]bool{}
	for _, row := range l.conditions {
		if !l.Closed(int(row.to)) || l.Closed(int(row.from)) {
			continue
		}
		if _, known := failed[row.to]; !known {
			failed[row.to] = l.outcome(int(row.to)).Failed
		}
		if !failed[row.to] {
			l.hold(int(row.from), Hold{Kind: HeldByCondition, On: int(row.to)})
		}
	}
}
