package dag

import "stig/internal/beads"

// Branch is an issue in a tree of dependencies.
type Branch struct {
	ID     string
	Parent string // "" for the root
	Type   string // of the row to the parent
	Depth  int    // 0 for the root
	Cut    bool   // its rows are omitted: listed before, or too deep
	Cycle  bool   // it depends on itself
}

// Tree walks the dependencies of an issue, of every type, depth first: what it depends on, in
// the order of its rows, or with up its dependents, by id. The rows of an issue are listed
// once, so it takes time linear in the rows and ends at cycles. Rows deeper than depth are
// omitted. An id that no issue has is listed too.
func Tree(issues Issues, root int, up bool, depth int) []Branch {
	t := tree{issues: issues, depth: depth, seen: map[string]bool{}, above: map[string]bool{}}
	if up {
		needOf(issues)(root, beads.Everything)
		t.back = map[string][]Branch{}
		for i := range issues.Len() {
			for _, d := range issues.At(i).Deps {
				t.back[d.On] = append(t.back[d.On], Branch{ID: issues.At(i).ID, Type: d.Type})
			}
		}
	}
	t.walk(Branch{ID: issues.At(root).ID})
	return t.list
}

type tree struct {
	issues      Issues
	depth       int
	back        map[string][]Branch // the dependents of each id; nil if the walk goes down
	seen, above map[string]bool
	list        []Branch
}

func (t *tree) walk(b Branch) {
	rows := t.rows(b.ID)
	b.Cycle = t.above[b.ID]
	b.Cut = len(rows) > 0 && (b.Cycle || t.seen[b.ID] || b.Depth >= t.depth)
	t.list = append(t.list, b)
	if b.Cut || len(rows) == 0 {
		return
	}
	t.seen[b.ID], t.above[b.ID] = true, true
	for _, row := range rows {
		t.walk(Branch{ID: row.ID, Parent: b.ID, Type: row.Type, Depth: b.Depth + 1})
	}
	delete(t.above, b.ID)
}

func (t *tree) rows(id string) (rows []Branch) {
	if t.back != nil {
		return t.back[id]
	}
	if i, ok := t.issues.Index(id); ok {
		for _, d := range t.issues.At(i).Deps {
			rows = append(rows, Branch{ID: d.On, Type: d.Type})
		}
	}
	return rows
}
