package sql

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/store/mysql"
)

// Migrate changes the tables to the version of this program, and returns the old and the new
// version. In tables that have this version it repairs what differs from the lines. A dry run
// changes nothing.
func Migrate(ctx context.Context, o Options, dryRun bool) (from, to int, err error) {
	db := dial(o.Config)
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT schema_version FROM stig_meta WHERE one = 1").Scan(&from)
	switch {
	case errors.Is(err, sql.ErrNoRows) || mysql.Unknown(err):
		return 0, 0, absent(o.Config.URL())
	case err != nil:
		return 0, 0, explain(o.Config, err)
	case from > schema || from < 1:
		return from, from, schemaError(ctx, db, o.Config.URL(), from)
	case dryRun:
		return from, schema, nil
	}
	return from, schema, explain(o.Config, migrate(ctx, db))
}

// migrate adds what version 1 lacks, and derives it from the lines. It may be repeated after an
// interruption. Programs that know only version 1 may write until the last transaction begins.
// That transaction takes the next turn, which blocks them, and sets the new version, which they
// refuse.
func migrate(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, edgesTable); err != nil {
		return err
	}
	if err := addColumns(ctx, db, "stig_lines", newColumns+", KEY stig_lines_title (title_hash)"); err != nil {
		return err
	}
	if err := liveStep(ctx, db); err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = transact(ctx, conn, func(tx execer) error { return derive(ctx, conn, tx) })
	return err
}

// addColumns adds columns to a table, and then keys, unless it has the first column.
func addColumns(ctx context.Context, db *sql.DB, table, columns string) error {
	first, _, _ := strings.Cut(columns, " ")
	there := false
	err := mysql.Each(ctx, db, "SHOW COLUMNS FROM "+table+" LIKE '"+first+"'", nil, func(*sql.Rows) error { there = true; return nil })
	if err == nil && !there {
		_, err = db.ExecContext(ctx, "ALTER TABLE "+table+" ADD "+strings.ReplaceAll(columns, ", ", ", ADD "))
	}
	return err
}

// derive writes what the tables repeat of the lines.
func derive(ctx context.Context, from querier, tx execer) error {
	if _, err := tx.ExecContext(ctx, "UPDATE stig_meta SET schema_version = ?, turn = ? WHERE one = 1", schema, newToken()); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM stig_edges"); err != nil {
		return err
	}
	set := "UPDATE stig_lines SET " + strings.Join(columns, " = ?, ") + " = ? WHERE id = ?"
	edges := intoEdges()
	for after := []byte(nil); ; {
		lines, err := linesAfter(ctx, from, after)
		if err != nil || len(lines) == 0 {
			return errors.Join(err, edges.flush(ctx, tx, true))
		}
		for _, l := range lines {
			after = []byte(l.id)
			r, err := beads.ParseRecord(l.text)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, set, append(columnsOf(r), after)...); err != nil {
				return err
			}
			addEdges(edges, l.id, 0, rowsOf(r))
			if err := edges.flush(ctx, tx, false); err != nil {
				return err
			}
		}
	}
}

// linesAfter returns some lines, without comments, in the order of their ids.
func linesAfter(ctx context.Context, from querier, after []byte) (lines []line, err error) {
	query, args := "SELECT id, line FROM stig_lines ORDER BY id LIMIT 1000", []any(nil)
	if after != nil {
		query, args = "SELECT id, line FROM stig_lines WHERE id > ? ORDER BY id LIMIT 1000", []any{after}
	}
	var id, text []byte
	err = each(ctx, from, query, args, func() {
		lines = append(lines, line{row: row{id: string(id)}, text: text})
		id, text = nil, nil
	}, &id, &text)
	return lines, err
}

// Derived compares the dependency rows in the tables with the lines, and returns the ids of the
// issues whose rows differ because another program wrote to the tables. Migrate repairs them.
func (s *Store) Derived(ctx context.Context) (wrong []string, err error) {
	h, err := s.refresh(ctx)
	if err != nil {
		return nil, s.explain(err)
	}
	rows := map[string][]beads.Dep{}
	var issue string
	var d beads.Dep
	err = each(ctx, s.DB(), "SELECT issue, target, type FROM stig_edges ORDER BY issue, n", nil, func() { rows[issue] = append(rows[issue], d) }, &issue, &d.On, &d.Type)
	if err != nil {
		return nil, s.explain(err)
	}
	for _, is := range h.snapshot.All() {
		if !slices.Equal(rows[is.ID], kept(is.Rows())) {
			wrong = append(wrong, is.ID)
		}
		delete(rows, is.ID)
	}
	wrong = slices.AppendSeq(wrong, maps.Keys(rows))
	slices.Sort(wrong)
	return wrong, nil
}
