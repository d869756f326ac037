package sql

import (
	"bytes"
	"context"
	"database/sql"
	"slices"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/mysql"
)

// Fill writes a text into an empty store, in one transaction; Text returns it byte for byte.
// Until the commit, readers get an error that the store is being filled, also if Fill was
// interrupted; then it may be called again. The ids of new issues begin with the prefix, unless
// it is empty. told, which may be nil, is called with the number of lines sent so far. Fill
// refuses (fault.Refused) a text with problems or duplicate ids, and a store that is not empty.
func (s *Store) Fill(ctx context.Context, text []byte, prefix string, told func(done, of int)) error {
	f, err := beads.NewSnapshot(s.place, beads.Source{Lines: bytes.NewReader(text), Size: int64(len(text))})
	if err != nil {
		return err
	}
	if p := f.Problems(); len(p) > 0 {
		return &fault.Error{Code: fault.Refused, Path: s.place.Path, Line: p[0].Line, Reason: p[0].Rule + ": " + p[0].Message, Hint: "fix the line; stig check lists every such place"}
	}
	rows, shape, err := entriesOf(f, text)
	if err != nil {
		return err
	}
	var chunks []chunk
	for _, r := range rows {
		c := chunk{text: r.line}
		if r.issue != nil {
			c.id = r.issue.ID
		}
		chunks = append(chunks, c)
	}
	if err := s.fitting(ctx, chunks); err != nil {
		return s.explain(err)
	}
	if told == nil {
		told = func(int, int) {}
	}
	begun, token := newToken(), newToken()
	err = s.write(ctx, begun, func(tx execer) error { return s.beginFilling(ctx, tx, begun) })
	if err == nil {
		err = s.write(ctx, token, func(tx execer) error { return s.fill(ctx, tx, begun, token, rows, shape, prefix, told) })
	}
	return s.explain(err)
}

// beginFilling marks an empty store as being filled.
func (s *Store) beginFilling(ctx context.Context, tx execer, begun []byte) error {
	n, err := affected(tx.ExecContext(ctx, "UPDATE stig_meta SET schema_version = ?, turn = ? WHERE one = 1 AND version = 0", unfilled, begun))
	switch {
	case mysql.Unknown(err):
		return absent(s.url)
	case err != nil:
		return err
	case n == 0:
		return &fault.Error{Code: fault.Refused, Path: s.url, Reason: "the store is not empty", Hint: "name an empty database"}
	}
	if _, err := tx.ExecContext(ctx, forgetBegun); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO stig_events (version, token, n, at, actor, command, issue, changed) VALUES (0, ?, 0, UTC_TIMESTAMP(6), ?, ?, '', '')",
		begun, clip(s.options.Actor, 255), clip(s.options.Command, 255))
	return err
}

// forgetBegun removes the event that says since when a store is being filled.
const forgetBegun = "DELETE FROM stig_events WHERE version = 0"

// affected returns the number of rows that a statement found.
func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// entry is a line to insert into an empty store.
type entry struct {
	pos    int64
	issue  *beads.Issue // nil for a line that is not an issue
	record *beads.Record
	line   []byte
	ending []byte
}

// entriesOf splits a text into rows. If issues are in the order of their ids they share a pos,
// so later issues sort among them.
func entriesOf(f *beads.Snapshot, text []byte) (rows []entry, shape int, err error) {
	at := map[int]*beads.Issue{}
	for _, is := range f.All() {
		at[is.Line] = is
	}
	if rest, ok := bytes.CutPrefix(text, []byte(byteOrderMark)); ok {
		text, shape = rest, hasBOM
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text, shape = append(slices.Clip(text), '\n'), shape|isUnended
	}
	pos, before, number := int64(0), (*beads.Issue)(nil), 0
	for line := range bytes.Lines(text) {
		number++
		r := entry{line: bytes.TrimSuffix(line, []byte("\n")), issue: at[number]}
		r.line = bytes.TrimSuffix(r.line, []byte("\r"))
		r.ending = line[len(r.line):]
		if r.issue != nil {
			if r.record, err = beads.ParseRecord(r.line); err != nil {
				return nil, 0, err
			}
		}
		if r.issue == nil || before == nil || before.ID >= r.issue.ID {
			pos++
		}
		r.pos, before = pos, r.issue
		rows = append(rows, r)
	}
	return rows, shape, nil
}

// fill inserts the lines into a store that is being filled, unless another call of Fill has
// started since.
func (s *Store) fill(ctx context.Context, tx execer, begun, token []byte, rows []entry, shape int, prefix string, told func(done, of int)) error {
	n, err := affected(tx.ExecContext(ctx, `UPDATE stig_meta SET version = LAST_INSERT_ID(version + 1), schema_version = ?, turn = ?, prefix = IF(? = '', prefix, ?), bom = ?, unended = ?
		WHERE one = 1 AND version = 0 AND turn = ?`, schema, token, prefix, prefix, shape&hasBOM/hasBOM, shape&isUnended, begun))
	if err == nil && n == 0 {
		err = &fault.Error{Code: fault.Refused, Path: s.url, Reason: "another program started to fill the store", Hint: "wait until it is done; if it failed, run the command again"}
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, forgetBegun)
	}
	if err != nil {
		return err
	}
	lines, comments, edges, others := intoLines(), intoComments(), intoEdges(), intoOthers()
	for i, r := range rows {
		if r.issue == nil {
			others.add(len(r.line), r.pos, r.line, r.ending)
		} else {
			addLine(lines, comments, r.issue.ID, r.pos, r.record, r.ending, token)
			addEdges(edges, r.issue.ID, 0, kept(r.issue.Rows()))
		}
		if err := flush(ctx, tx, false, lines, comments, edges, others); err != nil {
			return err
		}
		told(i+1, len(rows))
	}
	events := intoEvents()
	events.add(0, token, 0, clip(s.options.Actor, 255), clip(s.options.Command, 255), []byte{}, "", nil, nil)
	return flush(ctx, tx, true, lines, comments, edges, others, events)
}
