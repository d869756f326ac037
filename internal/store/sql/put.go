package sql

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
)

// edition is what an edit changes in the tables.
type edition struct {
	version int64 // of the store that the edit read
	token   []byte
	swaps   []swap
	added   []addition
	events  []event

	actor, command string // who edits, and with which command
}

// swap replaces one line if it is still the one that was read.
type swap struct {
	id            string
	before, after parts
	columns       []any     // of the new line
	edges         edgesEdit // of its dependency rows
	comments      [][]byte  // to add
	anew          bool      // delete the existing ones first
	only          bool      // only comments change: others may add theirs at the same time
}

// edgesEdit is the change of an issue's rows in stig_edges.
type edgesEdit struct {
	anew  bool // delete the existing ones first
	from  int  // the number of the first added row
	added []beads.Dep
}

func editOfEdges(before, after []beads.Dep) edgesEdit {
	if n := len(before); n <= len(after) && slices.Equal(before, after[:n]) {
		return edgesEdit{from: n, added: after[n:]}
	}
	return edgesEdit{anew: true, added: after}
}

// addition is a new issue.
type addition struct {
	id     string
	pos    int64
	record *beads.Record
	ending []byte
}

// event is the record of an edit of one issue.
type event struct {
	id, keys      string
	before, after []byte // hashes of the line that was read, nil for a new issue, and of the new line without its comments
}

func newEdition(r reading, tx *beads.Tx) (*edition, error) {
	e := &edition{version: r.version, token: newToken()}
	for _, c := range tx.Changes() {
		after, err := beads.ParseRecord(c.After)
		if err != nil {
			return nil, err
		}
		values, err := c.Values()
		if err != nil {
			return nil, err
		}
		v := event{id: c.ID, after: split(after).hash()}
		var keys []string
		for _, value := range values {
			keys = append(keys, string(value.Key))
		}
		v.keys = clip(strings.Join(keys, " "), 1000)
		if c.Line == 0 {
			if r.held == nil {
				return nil, exceeded{} // its position depends on all other issues
			}
			e.added = append(e.added, addition{c.ID, r.held.place(c.ID), after, endingOf(tx, c.After)})
			v.keys = ""
		} else {
			before, err := beads.ParseRecord(c.Before)
			if err != nil {
				return nil, err
			}
			v.before = sum(c.Before)
			e.swaps = append(e.swaps, newSwap(c.ID, before, after, keys))
		}
		e.events = append(e.events, v)
	}
	return e, nil
}

func newSwap(id string, before, after *beads.Record, keys []string) swap {
	w := swap{id: id, before: split(before), after: split(after), columns: columnsOf(after)}
	w.edges = editOfEdges(rowsOf(before), rowsOf(after))
	n := len(w.before.comments)
	w.anew = len(w.after.comments) < n || !slices.EqualFunc(w.before.comments, w.after.comments[:min(n, len(w.after.comments))], bytes.Equal)
	w.comments = w.after.comments
	if !w.anew {
		w.comments = w.after.comments[n:]
	}
	others := slices.ContainsFunc(keys, func(k string) bool { return k != string(beads.Comments) && k != string(beads.UpdatedAt) })
	w.only = !others && !w.anew && w.before.cut >= 0 && len(w.comments) > 0
	return w
}

// place returns the position of a new issue: in the order of ids, or at the end if the store is
// not in that order.
func (h *held) place(id string) int64 {
	if len(h.rows) == 0 {
		return 1
	}
	last := h.rows[len(h.rows)-1]
	before, at := "", last.pos
	if last.id == "" {
		at++
	}
	for _, r := range slices.Backward(h.rows) {
		switch {
		case r.id == "":
		case before != "" && r.id >= before:
			return last.pos + 1
		default:
			if before = r.id; r.id > id {
				at = r.pos
			}
		}
	}
	return at
}

// endingOf returns the end of a new line.
func endingOf(tx *beads.Tx, line []byte) []byte {
	for _, p := range tx.Patches() {
		if p.Start == p.End && bytes.Contains(p.With, line) && bytes.HasSuffix(bytes.Replace(p.With, line, nil, 1), []byte("\r\n")) {
			return []byte("\r\n")
		}
	}
	return []byte("\n")
}

// put writes an edition in one transaction, all or nothing. It returns beads.ErrStale if a line
// is no longer the one that was read.
func (s *Store) put(ctx context.Context, e *edition) error {
	s.writing.Lock() // an edit that waits here need not wait on the server
	defer s.writing.Unlock()
	return s.write(ctx, e.token, func(tx execer) error { return s.send(ctx, tx, e) })
}

// send sends the statements of an edition.
func (s *Store) send(ctx context.Context, tx execer, e *edition) error {
	if err := s.turn(ctx, tx, e); err != nil {
		return err
	}
	for at := range slices.Chunk(e.swaps, 50) {
		if err := e.swap(ctx, tx, at); err != nil {
			return err
		}
	}
	lines, comments, events := intoLines(), intoComments(), intoEvents()
	edges, replaced := intoEdges(), []any(nil)
	for _, w := range e.swaps {
		addComments(comments, w.id, w.comments, e.token)
		if w.edges.anew {
			replaced = append(replaced, []byte(w.id))
		}
		addEdges(edges, w.id, w.edges.from, w.edges.added)
	}
	if len(replaced) > 0 {
		if _, err := tx.ExecContext(ctx, "DELETE FROM stig_edges WHERE issue IN (?"+strings.Repeat(", ?", len(replaced)-1)+")", replaced...); err != nil {
			return err
		}
	}
	for _, a := range e.added {
		addLine(lines, comments, a.id, a.pos, a.record, a.ending, e.token)
		addEdges(edges, a.id, 0, rowsOf(a.record))
	}
	for n, v := range e.events {
		events.add(0, e.token, n, clip(e.actor, 255), clip(e.command, 255), []byte(v.id), v.keys, v.before, v.after)
	}
	return flush(ctx, tx, true, lines, comments, edges, events)
}

// taken is, in later statements, the version that turn took. turn does not read it because Dolt
// does not return it for an UPDATE.
const taken = "LAST_INSERT_ID()"

// turn takes the next version. Other edits wait for theirs until the transaction ends, so
// versions become visible in their order. On Dolt no edit waits: if two transactions take one
// version, the COMMIT of the second fails, because both write different values to turn. If both
// wrote the same value, Dolt would see no conflict.
func (s *Store) turn(ctx context.Context, tx execer, e *edition) error {
	n, err := affected(tx.ExecContext(ctx, "UPDATE stig_meta SET version = LAST_INSERT_ID(version + 1), turn = ? WHERE one = 1 AND schema_version = ?", e.token, schema))
	if err == nil && n != 1 {
		err = &fault.Error{Code: fault.Store, Path: s.url, Reason: "its tables changed meanwhile", Hint: "run the command again"}
	}
	return err
}

// swap replaces lines, all or none: it returns ErrStale if one has changed.
func (e *edition) swap(ctx context.Context, tx execer, swaps []swap) error {
	q := newSwapQuery(swaps, e.version)
	n, err := affected(tx.ExecContext(ctx, q.text.String(), q.args...))
	if err != nil {
		return err
	}
	if int(n) != len(swaps) {
		return beads.ErrStale
	}
	for _, w := range swaps {
		if !w.anew {
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM stig_comments WHERE issue = ?", []byte(w.id)); err != nil {
			return err
		}
	}
	return nil
}

// statement is a statement and its arguments.
type statement struct {
	text  strings.Builder
	args  []any
	large bool // the answer may be the whole store
}

func (q *statement) add(text string, args ...any) {
	q.text.WriteString(text)
	q.args = append(q.args, args...)
}

// newSwapQuery returns an UPDATE of several lines. It assigns the hash last: servers assign
// from left to right, and each column depends on the old hash.
func newSwapQuery(swaps []swap, read int64) *statement {
	q := &statement{}
	q.add("UPDATE stig_lines SET version = " + taken)
	set := func(name string, value func(swap) any) {
		q.add(", " + name + " = CASE id")
		for _, w := range swaps {
			if w.only {
				q.add(" WHEN ? THEN IF(hash = ?, ?, "+name+")", []byte(w.id), w.before.hash(), value(w))
			} else {
				q.add(" WHEN ? THEN ?", []byte(w.id), value(w))
			}
		}
		q.add(" END")
	}
	set("line", func(w swap) any { return w.after.line })
	set("cut", func(w swap) any { return w.after.cutValue() })
	for n, name := range columns {
		set(name, func(w swap) any { return w.columns[n] })
	}
	set("hash", func(w swap) any { return w.after.hash() })
	q.where(swaps, read)
	return q
}

// where names the lines and the condition of each: the line is the one that was read. If the
// edit only adds a comment, the issue accepts comments and lacks this one.
func (q *statement) where(swaps []swap, read int64) {
	q.add(" WHERE id IN (?"+strings.Repeat(", ?", len(swaps)-1)+") AND CASE id", ids(swaps)...)
	for _, w := range swaps {
		if !w.only {
			q.add(" WHEN ? THEN hash = ? AND version <= ?", []byte(w.id), w.before.hash(), read)
			continue
		}
		q.add(" WHEN ? THEN cut IS NOT NULL AND status <> 'tombstone'", []byte(w.id))
		for _, c := range w.comments {
			q.add(" AND NOT EXISTS (SELECT 1 FROM stig_comments c WHERE c.issue = ? AND c.comment = ?)", []byte(w.id), commentID(c))
		}
	}
	q.add(" END")
}

func ids(swaps []swap) (args []any) {
	for _, w := range swaps {
		args = append(args, []byte(w.id))
	}
	return args
}
