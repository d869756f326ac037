package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
)

// unread reports links that are not written as rows, all in one diagnostic.
func unread(s *subject) {
	var list []beads.Unread
	for _, u := range s.issue.Unread {
		if u.Rule == beads.UnreadRow {
			list = append(list, u)
		}
	}
	if len(list) == 0 {
		return
	}
	rest := ""
	if len(list) > 1 {
		rest = fmt.Sprintf(", %d more", len(list)-1)
	}
	first := list[0].Dep
	if key := list[0].Key; key != beads.Dependencies {
		s.add(RuleUnread, 0, 0, fmt.Sprintf("%s names %s%s, but the dependencies have no such row", key, cmp.Or(first.On, opening(list[0].Raw)), rest),
			fmt.Sprintf("type stig dep add %s --on %s", s.issue.ID, cmp.Or(first.On, "ID")))
		return
	}
	s.add(RuleUnread, 0, 0,
		fmt.Sprintf("malformed dependency entry %s%s", opening(list[0].Raw), rest),
		fmt.Sprintf(`write {"issue_id":%q,"depends_on_id":%q,"type":%q} in its place`, s.issue.ID, cmp.Or(first.On, "ID"), cmp.Or(first.Type, "blocks")))
}

// nearMiss reports unknown dependency types that look as if they blocked or contained.
func nearMiss(s *subject) {
	for _, dep := range s.rows() {
		meant, turned, miss := dag.Meant(dep.Type)
		if !miss {
			continue
		}
		from, on := s.issue.ID, dep.On
		if turned {
			from, on = on, from
		}
		likely := meant
		if turned {
			likely += " reversed"
		}
		s.add(RuleType, 0, 0,
			fmt.Sprintf("dependency on %s: no type %q; likely %s", dep.On, dep.Type, likely),
			fmt.Sprintf("type %s\nthen stig dep add %s --on %s --type %s", s.drop(dep), from, on, meant))
	}
}

// unknownType reports dependency types that no program knows and that are not near misses.
func unknownType(s *subject) {
	for _, dep := range s.rows() {
		if _, _, miss := dag.Meant(dep.Type); miss || dag.IsKnownType(dep.Type) && dep.Type != "" {
			continue
		}
		message := fmt.Sprintf("dependency on %s: unknown type %q, never blocks", dep.On, dep.Type)
		if dep.Type == "" {
			message = fmt.Sprintf("dependency on %s: no type, read as blocks", dep.On)
		}
		s.add(RuleUnknownType, 0, 0, message,
			fmt.Sprintf("type %s\nthen stig dep add %s --on %s --type related, or blocks", s.drop(dep), visible.Quoted(s.issue.ID), visible.Quoted(dep.On)))
	}
}

// external returns how a dependency on another store stands.
func (s *subject) external(id string) beads.External {
	s.outside = true
	at, ok := s.file.Index(s.issue.ID)
	if !ok {
		return beads.External{Why: beads.NotShown}
	}
	return s.file.External(at, id)
}

// elsewhere reports a row on another store that is not proved done.
func (s *subject) elsewhere(dep beads.Dep) {
	if s.closed() || !dag.Blocks(dep.Type) {
		return
	}
	switch e := s.external(dep.On); {
	case e.Stale:
		s.add(RuleStale, 0, 0, fmt.Sprintf("waits again for %s: %s", dep.On, e.Why), "to go on without it, type "+s.drop(dep))
	case !e.Done:
		s.add(RuleExternal, 0, 0, fmt.Sprintf("waits for %s: %s", dep.On, e.Why), "when it is done, type "+s.drop(dep))
	}
}

// dangling reports rows on issues that are neither in the store nor said to be in another.
// Ephemeral issues may have such rows.
func dangling(s *subject) {
	if s.issue.Ephemeral {
		return
	}
	for _, dep := range s.rows() {
		if dag.IsExternal(dep.On) {
			s.elsewhere(dep)
			continue
		}
		if _, there := s.find(dep.On); there {
			continue
		}
		s.add(RuleDangling, 0, 0,
			fmt.Sprintf("dependency on %q (%s): no such issue", dep.On, dep.Type),
			"type "+s.drop(dep))
	}
}

// epicAsBlocker reports blocking rows between an epic and its own child.
func epicAsBlocker(s *subject) {
	for _, dep := range s.rows() {
		other, there := s.find(dep.On)
		if !dag.Blocks(dep.Type) || !there {
			continue
		}
		child, epic := s.issue, other
		switch {
		case within(s.issue, other.ID):
		case within(other, s.issue.ID):
			child, epic = epic, child
		default:
			continue
		}
		hint := "type " + s.drop(dep)
		if !contained(child, epic.ID) {
			hint += fmt.Sprintf("\nthen stig dep add %s --on %s --type parent-child", child.ID, epic.ID)
		}
		s.add(RuleEpicBlock, 0, 0,
			fmt.Sprintf("waits for %s (%s), but %s is part of %s", dep.On, dep.Type, child.ID, epic.ID), hint)
	}
}

// unlinkedChild reports ids that name a parent when no row does, unless both issues are closed.
func unlinkedChild(s *subject) {
	parent := beads.NumberedParent(s.issue.ID)
	if parent == "" || s.issue.Status == beads.StatusTombstone {
		return
	}
	epic, there := s.find(parent)
	if !there || slices.ContainsFunc(s.issue.Deps, s.explains(parent)) {
		return
	}
	if epic.Status == beads.StatusTombstone || epic.Status == beads.StatusClosed && s.closed() {
		return
	}
	turned := func(dep beads.Dep) bool { return dep.On == s.issue.ID && dep.Type == "parent-of" }
	if slices.ContainsFunc(epic.Deps, turned) {
		return
	}
	s.add(RuleOrphan, 0, 0,
		fmt.Sprintf("no parent-child row to %s, so it is not part of it", parent),
		fmt.Sprintf("type stig dep add %s --on %s --type parent-child", s.issue.ID, parent))
}

// explains returns a function that reports whether a row explains a missing parent: the issue
// is in an epic, or its row to the parent is wrong in a way that another rule reports.
func (s *subject) explains(parent string) func(beads.Dep) bool {
	return func(dep beads.Dep) bool {
		if dag.Contains(dep.Type) {
			_, there := s.find(dep.On)
			return there
		}
		_, _, miss := dag.Meant(dep.Type)
		return dep.On == parent && (miss || dag.Blocks(dep.Type))
	}
}

// severalParents reports issues that are in more than one epic.
func severalParents(s *subject) {
	var parents []string
	for _, dep := range s.rows() {
		if _, there := s.find(dep.On); there && dag.Contains(dep.Type) && !slices.Contains(parents, dep.On) {
			parents = append(parents, dep.On)
		}
	}
	if len(parents) < 2 {
		return
	}
	slices.Sort(parents)
	s.add(RuleParents, 0, 0,
		fmt.Sprintf("in %d epics: %s", len(parents), strings.Join(parents, ", ")),
		fmt.Sprintf("type %s, for all but one", s.drop(beads.Dep{On: "EPIC", Type: "parent-child"})))
}

// rows returns the rows of an issue that matter, each once: those of a closed issue only if the
// other issue is unclosed.
func (s *subject) rows() []beads.Dep {
	if s.links != nil || s.issue.Status == beads.StatusTombstone || len(s.issue.Deps) == 0 {
		return s.links
	}
	var seen map[beads.Dep]bool
	if len(s.issue.Deps) > manyRows {
		seen = make(map[beads.Dep]bool, len(s.issue.Deps))
	}
	kept := make([]beads.Dep, 0, len(s.issue.Deps))
	for _, dep := range s.issue.Deps {
		if seen[dep] || seen == nil && slices.Contains(kept, dep) || s.closed() && !s.isUnclosed(dep.On) {
			continue
		}
		kept = append(kept, dep)
		if seen != nil {
			seen[dep] = true
		}
	}
	s.links = kept
	return kept
}

// isUnclosed reports whether an unclosed issue has that id.
func (s *subject) isUnclosed(id string) bool {
	other, there := s.find(id)
	return there && !beads.IsClosed(other.Status)
}

// drop returns the command that removes a row. If bd keeps a database, only bd can: it restores
// what is removed from the file alone.
func (s *subject) drop(dep beads.Dep) string {
	if s.file.Place().ByBD() {
		return fmt.Sprintf("bd dep remove %s %s", visible.Quoted(s.issue.ID), visible.Quoted(dep.On))
	}
	command := fmt.Sprintf("stig dep rm %s --on %s", visible.Quoted(s.issue.ID), visible.Quoted(dep.On))
	if dep.Type != "" {
		command += " --type " + visible.Quoted(dep.Type)
	}
	return command
}

// within reports whether an issue is part of an epic, by a row or by its id.
func within(issue *beads.Issue, epic string) bool {
	return beads.NumberedParent(issue.ID) == epic || contained(issue, epic)
}

// contained reports whether a row puts an issue into an epic.
func contained(issue *beads.Issue, epic string) bool {
	return slices.ContainsFunc(issue.Deps, func(dep beads.Dep) bool { return dep.On == epic && dag.Contains(dep.Type) })
}
