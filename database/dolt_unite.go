package database

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stig/beads"
	"stig/fault"
)

// uniting writes what came of a merge.
type uniting struct {
	store   *Store
	tx      *sql.Tx
	token   []byte
	actor   string
	merging Merging
	left    []string // issues that stay in conflict
	noted   int      // events
}

// unite puts the issues together, unless no conflict is left: then others may have gone on
// from there.
func (w *uniting) unite(ctx context.Context, unite func(Merging) (United, error)) error {
	var conflicts int
	if err := w.tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM dolt_conflicts").Scan(&conflicts); err != nil || conflicts == 0 {
		return err
	}
	u, err := unite(w.merging)
	if err != nil {
		return err
	}
	for _, id := range u.Asked {
		if w.merging.open[id] {
			w.left = append(w.left, id)
		}
	}
	if err := w.count(ctx); err != nil {
		return err
	}
	if err := w.write(ctx, u); err != nil {
		return err
	}
	return w.close(ctx)
}

// count takes a version that is newer than both branches', and makes all copies of the
// store worthless: what came from the other branch has versions that they had already.
func (w *uniting) count(ctx context.Context) error {
	var theirs, tables int64
	err := w.tx.QueryRowContext(ctx, "SELECT COALESCE(MAX(their_version), 0), COALESCE(MAX(their_schema_version), ?) FROM dolt_conflicts_stig_meta", schema).Scan(&theirs, &tables)
	if err == nil && tables != schema {
		err = &fault.Error{Code: fault.Refused, Path: w.store.url, Reason: fmt.Sprintf("the tables of %s have version %d, and those of this branch %d", w.merging.Branch, tables, schema),
			Hint: "type stig doctor --migrate in the older branch, and merge again"}
	}
	if err == nil {
		_, err = w.tx.ExecContext(ctx, "UPDATE stig_meta SET version = LAST_INSERT_ID(GREATEST(version, ?) + 1), turn = ?, store = ? WHERE one = 1", theirs, w.token, newToken())
	}
	return err
}

// write puts the merged lines into the tables where they differ from what Dolt made, or
// from what was in this branch.
func (w *uniting) write(ctx context.Context, u United) error {
	now, err := askOf(ctx, w.tx, -1)
	if err != nil {
		return err
	}
	h, err := nothing().with(now)
	if err != nil {
		return err
	}
	ours, err := w.linesOf(w.merging.Ours)
	if err != nil {
		return err
	}
	want, err := w.linesOf(u.Text)
	if err != nil {
		return err
	}
	there := map[string]line{}
	for _, l := range now.lines {
		if there[l.id] = l; l.id != "" && want[l.id].issue == nil && !slices.Contains(u.Asked, l.id) {
			if err := w.drop(ctx, l.id); err != nil {
				return err
			}
		}
	}
	lines, comments, events := intoLines(), intoComments(), intoEvents()
	w.note(events, "", nil, nil)
	for _, id := range slices.Sorted(maps.Keys(want)) {
		r := want[id]
		whole, before := r.whole(), ours[id].whole()
		if string(there[id].text) == whole && before == whole {
			continue
		}
		pos := there[id].pos
		if there[id].id == "" {
			if pos, err = h.place(id); err != nil {
				return err
			}
		}
		if err := w.drop(ctx, id); err != nil {
			return err
		}
		addLine(lines, comments, id, pos, r.record, r.ending, w.token)
		w.note(events, id, ours[id].line, r.line)
		if err := flush(ctx, w.tx, false, lines, comments, events); err != nil {
			return err
		}
	}
	return flush(ctx, w.tx, true, lines, comments, events)
}

// linesOf are the issues of a text by their ids.
func (w *uniting) linesOf(text string) (map[string]filling, error) {
	f, err := beads.NewSnapshot(w.store.place, beads.Source{Lines: strings.NewReader(text), Size: int64(len(text))})
	if err != nil {
		return nil, err
	}
	rows, _, err := rowsOf(f, []byte(text))
	lines := map[string]filling{}
	for _, r := range rows {
		if r.issue != nil {
			lines[r.issue.ID] = r
		}
	}
	return lines, err
}

// whole is a line with its end; "" of none.
func (f filling) whole() string { return string(f.line) + string(f.ending) }

// drop removes an issue with its comments.
func (w *uniting) drop(ctx context.Context, id string) error {
	for _, query := range []string{"DELETE FROM stig_comments WHERE issue = ?", "DELETE FROM stig_lines WHERE id = ?"} {
		if _, err := w.tx.ExecContext(ctx, query, []byte(id)); err != nil {
			return err
		}
	}
	return nil
}

// note notes what the merge made of an issue; the first event is that of the merge.
func (w *uniting) note(events *inserts, id string, before, after []byte) {
	hash := func(line []byte) []byte {
		if line == nil {
			return nil
		}
		return sum(line)
	}
	events.add(0, w.token, w.noted, clip(w.actor, 255), "merge", []byte(id), "", hash(before), hash(after))
	w.noted++
}

// close ends the conflicts that are resolved.
func (w *uniting) close(ctx context.Context) error {
	if err := w.keepOthers(ctx); err != nil {
		return err
	}
	for _, table := range []string{"meta", "events", "others"} {
		if _, err := w.tx.ExecContext(ctx, "DELETE FROM dolt_conflicts_stig_"+table); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.merging.open)) {
		if slices.Contains(w.left, id) {
			continue
		}
		for _, query := range []string{
			"DELETE FROM dolt_conflicts_stig_lines WHERE COALESCE(our_id, their_id, base_id) = ?",
			"DELETE FROM dolt_conflicts_stig_comments WHERE COALESCE(our_issue, their_issue, base_issue) = ?",
		} {
			if _, err := w.tx.ExecContext(ctx, query, []byte(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepOthers puts lines that are no issues, and for which both branches took one place,
// behind all that is there.
func (w *uniting) keepOthers(ctx context.Context) error {
	const last = "(SELECT MAX(pos) FROM (SELECT pos FROM stig_lines UNION ALL SELECT pos FROM stig_others) t)"
	_, err := w.tx.ExecContext(ctx, "INSERT INTO stig_others (pos, line, ending) SELECT their_pos + "+last+", their_line, their_ending FROM dolt_conflicts_stig_others c "+
		"WHERE their_line IS NOT NULL AND NOT EXISTS (SELECT 1 FROM stig_others o WHERE o.line = c.their_line)")
	return err
}

// others lists tables that are none of stig's and are in conflict.
func (w *uniting) others(ctx context.Context) (tables []string, err error) {
	var name string
	err = each(ctx, w.tx, "SELECT `table` FROM dolt_conflicts WHERE `table` NOT LIKE 'stig\\_%' ORDER BY `table`", nil, func() { tables = append(tables, name) }, &name)
	return tables, err
}
