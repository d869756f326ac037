package sql

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"stig/internal/beads"
	"stig/internal/store/mysql"
)

// newer asks for the changes since a version, in one statement, which every server answers from
// one consistent state. The answer has: the store itself; whether it ever had that version,
// which a store restored from a backup may not, and which edits followed; the newer lines with
// all their comments; on the first read, the lines that are not issues. For an unchanged store
// it has only the first two rows.
//
// The hint is for Dolt, which otherwise reads all comments or all lines each time. Other
// servers ignore it.
const newer = ofMeta + `
UNION ALL SELECT 1, version, 0, 0, token, '', NULL FROM stig_events WHERE n = 0 AND version >= ?
UNION ALL SELECT 2, pos, COALESCE(cut, -1), 0, id, ending, line FROM stig_lines WHERE version > ?
UNION ALL SELECT /*+ JOIN_ORDER(l, c) LOOKUP_JOIN(l, c) */ 3, c.version, c.n, 0, c.issue, c.token, c.body FROM stig_lines l JOIN stig_comments c ON c.issue = l.id WHERE l.version > ?
UNION ALL SELECT 4, pos, 0, 0, '', ending, line FROM stig_others WHERE ? < 0`

// ofMeta asks for the store itself.
const ofMeta = `SELECT 0 AS kind, version AS x, schema_version AS y, (@@version_comment = 'Dolt') * 4 + bom * 2 + unended AS z, store AS a, prefix AS b, NULL AS text FROM stig_meta WHERE one = 1`

// The kinds of rows.
const (
	ofStore = iota
	ofEvent
	ofLine
	ofComment
	ofOther
)

// mostText is the maximum size of a store, in bytes.
const mostText = 4 << 30

// news is an answer to newer.
type news struct {
	store    []byte // id of the store; nil if there is none
	version  int64
	schema   int
	shape    int // see held
	prefix   string
	marks    map[int64][]string // the tokens of the edits that made a version: one, except in merged histories
	lines    []line
	comments map[string][]comment
}

// line is a row of stig_lines or stig_others.
type line struct {
	row
	text   []byte
	cut    int
	extent beads.Extent // in an answer to excerpt
	ending []byte
}

// comment is a row of stig_comments.
type comment struct {
	version int64
	token   []byte
	n       int
	body    []byte
}

// row is the position of a line in the text.
type row struct {
	pos  int64
	id   string // "" if it is not an issue
	size int    // in bytes, including the line's end
	off  int64  // in the file of the local copy
	text []byte // nil for a line in that file
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// each scans each row of a query into the places, and then calls take.
func each(ctx context.Context, q querier, query string, args []any, take func(), into ...any) error {
	return mysql.Each(ctx, q, query, args, func(rows *sql.Rows) error {
		err := rows.Scan(into...)
		if err == nil {
			take()
		}
		return err
	})
}

func compareRows(a, b row) int { return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(a.id, b.id)) }

// ask runs a query whose answer has the columns of newer.
func (s *Store) ask(ctx context.Context, q *statement) (*news, error) {
	db := s.DB()
	if c := s.options.Config; q.large && !c.IsHere() { // on this machine compression takes longer than sending
		c.Compress = true
		db = dial(c)
		defer db.Close()
	}
	n, err := askOf(ctx, db, q.text.String(), q.args)
	for again := 0; again < 2 && mysql.Gone(err) && !mysql.Unreached(err); again++ {
		n, err = askOf(ctx, db, q.text.String(), q.args) // on another connection: a query may be repeated
	}
	switch {
	case err != nil && (mysql.Gone(err) || ctx.Err() != nil):
		return nil, err
	case err != nil:
		return nil, s.misread(ctx, db, err)
	case n.store == nil:
		return nil, absent(s.url)
	}
	if err := schemaError(ctx, db, s.url, n.schema); err != nil {
		return nil, err
	}
	return n, nil
}

// misread returns a schema error if the query failed because the tables have another version.
// (Dolt has no error number for an unknown column.)
func (s *Store) misread(ctx context.Context, db *sql.DB, was error) error {
	var found int
	err := db.QueryRowContext(ctx, "SELECT schema_version FROM stig_meta WHERE one = 1").Scan(&found)
	if errors.Is(err, sql.ErrNoRows) || mysql.Unknown(err) {
		return absent(s.url)
	}
	if err == nil {
		err = schemaError(ctx, db, s.url, found)
	}
	return cmp.Or(err, was)
}

func askOf(ctx context.Context, db querier, query string, args []any) (*news, error) {
	n := &news{marks: map[int64][]string{}, comments: map[string][]comment{}}
	size := 0
	err := mysql.Each(ctx, db, query, args, func(rows *sql.Rows) error {
		var kind, x, y, z int64
		var a, b, text []byte
		if err := rows.Scan(&kind, &x, &y, &z, &a, &b, &text); err != nil {
			return err
		}
		if size += len(a) + len(text); size > mostText {
			return fmt.Errorf("the store is larger than %d bytes", mostText)
		}
		switch kind {
		case ofStore:
			n.version, n.schema, n.shape, n.store, n.prefix = x, int(y), int(z), a, string(b)
		case ofEvent:
			n.marks[x] = append(n.marks[x], string(a))
		case ofLine, ofOther:
			n.lines = append(n.lines, line{row{pos: x, id: string(a)}, text, int(y), beads.Extent(z), b})
		case ofComment:
			n.comments[string(a)] = append(n.comments[string(a)], comment{x, b, int(y), text})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return n, n.assemble()
}

// mark asks which edits made the version of the store.
func (n *news) mark(ctx context.Context, db querier) error {
	var token string
	return each(ctx, db, "SELECT token FROM stig_events WHERE version = ? AND n = 0", []any{n.version}, func() {
		n.marks[n.version] = append(n.marks[n.version], token)
	}, &token)
}

// assemble makes whole lines of the rows that were read.
func (n *news) assemble() error {
	for i := range n.lines {
		l := &n.lines[i]
		p := parts{line: l.text, cut: l.cut}
		if l.id == "" {
			p.cut = -1
		}
		if p.cut > len(p.line) {
			return errors.New("an issue's row is shorter than the position of its comments")
		}
		comments := n.comments[l.id]
		slices.SortFunc(comments, func(a, b comment) int {
			return cmp.Or(cmp.Compare(a.version, b.version), bytes.Compare(a.token, b.token), cmp.Compare(a.n, b.n))
		})
		for _, c := range comments {
			p.comments = append(p.comments, c.body)
		}
		l.text = append(p.join(), l.ending...)
		l.size = len(l.text)
	}
	slices.SortFunc(n.lines, func(a, b line) int { return compareRows(a.row, b.row) })
	return nil
}
