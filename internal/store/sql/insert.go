package sql

import (
	"context"
	"strings"

	"stig/internal/beads"
)

// inserts collects the rows of one INSERT into a table.
type inserts struct {
	into, row  string
	args       []any
	rows, size int // size is in bytes
}

// newInserts returns an INSERT into a table. Each row has a parameter for each column, followed
// by the values that the server computes.
func newInserts(into string, columns int, computed string) *inserts {
	return &inserts{into: "INSERT INTO " + into + " VALUES ", row: "(" + strings.Repeat("?, ", columns-1) + "?" + computed + ")"}
}

func intoLines() *inserts {
	return newInserts("stig_lines (id, pos, line, hash, cut, ending, "+strings.Join(columns, ", ")+", version)", 6+len(columns), ", "+taken)
}

func intoComments() *inserts {
	return newInserts("stig_comments (issue, token, n, comment, body, version)", 5, ", "+taken)
}

func intoEdges() *inserts { return newInserts("stig_edges (issue, n, target, type)", 4, "") }

func intoOthers() *inserts { return newInserts("stig_others (pos, line, ending)", 3, "") }

func intoEvents() *inserts {
	return newInserts("stig_events (token, n, actor, command, issue, changed, hash_before, hash_after, version, at)", 8, ", "+taken+", UTC_TIMESTAMP(6)")
}

func (i *inserts) add(size int, args ...any) {
	i.args, i.rows, i.size = append(i.args, args...), i.rows+1, i.size+size
}

// flush sends the collected rows: all of them, or only if there are many.
func (i *inserts) flush(ctx context.Context, tx execer, all bool) error {
	if i.rows == 0 || !all && i.rows < batchRows && i.size < batchBytes {
		return nil
	}
	_, err := tx.ExecContext(ctx, i.into+strings.Repeat(i.row+", ", i.rows-1)+i.row, i.args...)
	i.args, i.rows, i.size = nil, 0, 0
	return err
}

// flush sends the rows of several inserts.
func flush(ctx context.Context, tx execer, all bool, each ...*inserts) error {
	for _, i := range each {
		if err := i.flush(ctx, tx, all); err != nil {
			return err
		}
	}
	return nil
}

// addLine adds the row of an issue, and those of its comments.
func addLine(lines, comments *inserts, id string, pos int64, r *beads.Record, ending, token []byte) {
	p := split(r)
	lines.add(len(p.line), append([]any{[]byte(id), pos, p.line, p.hash(), p.cutValue(), ending}, columnsOf(r)...)...)
	addComments(comments, id, p.comments, token)
}

func addComments(comments *inserts, id string, elements [][]byte, token []byte) {
	for n, element := range elements {
		comments.add(len(element), []byte(id), token, n, commentID(element), element)
	}
}

// addEdges adds dependency rows of an issue, numbered from from.
func addEdges(edges *inserts, id string, from int, rows []beads.Dep) {
	for n, d := range rows {
		edges.add(len(d.On), []byte(id), from+n, []byte(d.On), []byte(d.Type))
	}
}

// kept returns dependency rows as stig_edges stores them, without targets longer than the
// longest id.
func kept(rows []beads.Dep) (list []beads.Dep) {
	for _, d := range rows {
		if len(d.On) <= mostID {
			d.Type = d.Type[:min(len(d.Type), 64)]
			list = append(list, d)
		}
	}
	return list
}
