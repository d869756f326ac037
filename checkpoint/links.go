package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
)

// Linked describes what Link or Unlink changed.
type Linked struct {
	From     string   `json:"id"`
	On       string   `json:"on"`
	Types    []string `json:"types"` // types of the added or removed rows
	Warnings []string `json:"warnings"`

	stored
}

// Link adds a dependency row: from depends on on. An existing row changes nothing. Link returns
// a fault.Usage if the issue depends on itself or on a deleted one, if the type is likely
// misspelt, and if unclosed issues would form a dependency cycle.
func Link(ctx context.Context, s beads.Store, o beads.Options, from string, d beads.Dep, by string) (*Linked, error) {
	if err := checkType(from, d); err != nil {
		return nil, err
	}
	return editIssue(ctx, s, o, from, func(tx *beads.Tx, record *beads.Record) (*Linked, error) {
		target, err := targetOf(tx.Snapshot(), d.On)
		if err != nil {
			return nil, err
		}
		linked := &Linked{From: record.Text(beads.ID), On: target, Types: []string{}, Warnings: []string{}}
		row := beads.Dep{On: target, Type: d.Type}
		if slices.Contains(record.Deps(), row) {
			return linked, nil
		}
		if err := refuse(tx.Snapshot(), linked.From, row); err != nil {
			return nil, err
		}
		linked.Types = append(linked.Types, d.Type)
		linked.warn(record.Deps(), row)
		linked.Warnings = append(linked.Warnings, oddDeps(tx.Snapshot(), []beads.Dep{row})...)
		return linked, tx.AddRow(linked.From, beads.Row{On: target, Type: d.Type, By: by})
	})
}

// Unlink removes the rows by which from depends on on: those of d.Type, or of every type if
// that is "". on need not exist any more. If there is no such row, nothing changes.
func Unlink(ctx context.Context, s beads.Store, o beads.Options, from string, d beads.Dep) (*Linked, error) {
	return editIssue(ctx, s, o, from, func(tx *beads.Tx, record *beads.Record) (linked *Linked, err error) {
		rows := record.Deps()
		on := d.On
		if !slices.ContainsFunc(rows, func(r beads.Dep) bool { return r.On == on }) {
			if on, err = targetOf(tx.Snapshot(), d.On); err != nil {
				return nil, err
			}
		}
		linked = &Linked{From: record.Text(beads.ID), On: on, Types: []string{}, Warnings: []string{}}
		for _, row := range rows {
			if row.On != on || d.Type != "" && row.Type != d.Type || slices.Contains(linked.Types, row.Type) {
				continue
			}
			linked.Types = append(linked.Types, row.Type)
			if err := tx.DropRow(linked.From, row); err != nil {
				return nil, err
			}
		}
		return linked, nil
	})
}

// targetOf returns the full id of the issue to depend on.
func targetOf(f *beads.Snapshot, id string) (string, error) {
	if dag.IsExternal(id) {
		return id, nil
	}
	issue, err := f.Find(id)
	if err != nil {
		return "", err
	}
	return issue.ID, nil
}

// checkType refuses invalid and misspelt types.
func checkType(from string, d beads.Dep) error {
	const most = 50 // limit of bd
	meant, turned, miss := dag.Meant(d.Type)
	switch {
	case miss && turned:
		return noLink(from, d, fmt.Sprintf("%q does not put an issue into an epic: the %s row belongs to the child", d.Type, meant),
			fmt.Sprintf("type stig dep add %s --on %s --type %s", d.On, from, meant))
	case miss:
		return noLink(from, d, fmt.Sprintf("unknown dependency type %q", d.Type), fmt.Sprintf("did you mean --type %s?", meant))
	case strings.TrimSpace(d.Type) != d.Type || d.Type == "":
		return noLink(from, d, fmt.Sprintf("the type must be a word such as blocks; found %q", d.Type), "")
	case len(d.Type) > most:
		return noLink(from, d, fmt.Sprintf("the type must be at most %d characters long; found %d", most, len(d.Type)), "")
	}
	return nil
}

// noLink returns the error for a dependency that must not be written.
func noLink(from string, d beads.Dep, reason, hint string) error {
	return &fault.Error{Code: fault.Usage, ID: from, Reason: fmt.Sprintf("cannot depend on %s (%s): %s", d.On, d.Type, reason), Hint: hint}
}

// DepTypes lists the dependency types that bd knows.
func DepTypes() []string {
	return []string{"blocks", "parent-child", "conditional-blocks", "waits-for", "related", "discovered-from", "replies-to", "relates-to",
		"duplicates", "supersedes", "authored-by", "assigned-to", "approved-by", "attests", "tracks", "until", "caused-by", "validates", "delegated-from"}
}

// oddDeps warns about types that bd does not know and that no row of the store has.
func oddDeps(f *beads.Snapshot, rows []beads.Dep) (list []string) {
	for _, row := range rows {
		if !slices.Contains(DepTypes(), row.Type) && !usesDep(f, row.Type) {
			list = append(list, fmt.Sprintf("dependency type %q: unknown to bd, and blocks nothing; the usual ones are blocks, parent-child, related and discovered-from", row.Type))
		}
	}
	return list
}

func usesDep(f *beads.Snapshot, kind string) bool {
	for _, issue := range f.All() {
		if slices.ContainsFunc(issue.Deps, func(d beads.Dep) bool { return d.Type == kind }) {
			return true
		}
	}
	return false
}

// refuse returns an error if the rows must not be added to an issue; from may be an issue that
// does not exist yet.
func refuse(f dag.Issues, from string, rows ...beads.Dep) error {
	at, known := f.Index(from)
	if !known {
		at = f.Len()
	}
	var added []dag.Row
	for _, row := range rows {
		if row.On == from {
			return noLink(from, row, "it is the same issue", "name another one")
		}
		if dag.IsExternal(row.On) {
			if _, _, err := beads.ParseExternal(row.On); err != nil {
				return noLink(from, row, err.Error(), "name the project and its issue or capability, such as external:api:auth-v2")
			}
		}
		if on, ok := f.Index(row.On); ok {
			if f.At(on).Status == beads.StatusTombstone {
				return noLink(from, row, "it was deleted", "name another one")
			}
			added = append(added, dag.Row{From: at, On: on, Type: row.Type})
		}
	}
	steps := dag.New(f).Deadlock(added...)
	if steps == nil {
		return nil
	}
	name := func(i int) string {
		if i == f.Len() {
			return from
		}
		return f.At(i).ID
	}
	return noLink(from, closing(f, rows, steps[0]), "this would form a dependency cycle: "+strings.Join(dag.Circle(steps, name), "; "),
		"remove one of them with stig dep rm, or use --type related, which does not block")
}

// closing returns the added row at which the cycle begins.
func closing(f dag.Issues, rows []beads.Dep, first dag.Step) beads.Dep {
	for _, row := range rows {
		on, ok := f.Index(row.On)
		if ok && (on == first.For && dag.Blocks(row.Type) == (first.Does == dag.Start && first.Done == dag.Close) || on == first.Issue && dag.Contains(row.Type)) {
			return row
		}
	}
	return rows[0]
}

// warn adds warnings about links that are allowed but rarely intended.
func (l *Linked) warn(rows []beads.Dep, added beads.Dep) {
	for _, row := range rows {
		if row.On == added.On {
			l.Warnings = append(l.Warnings, fmt.Sprintf("%s also depends on %s as %q; some versions of bd keep only one type of a pair", l.From, l.On, row.Type))
		}
		if dag.Contains(added.Type) && dag.Contains(row.Type) && row.On != added.On {
			l.Warnings = append(l.Warnings, fmt.Sprintf("%s is already a child of %s", l.From, row.On))
		}
	}
}
