package beads

import (
	"bytes"
	"slices"
)

// readAhead is how much a Reader reads at a time, in bytes. Readers that share the issues each
// read at most this much too much.
const readAhead = 32 << 10

// Reader returns the records of many issues, fastest in file order: it reads ahead into a
// reused buffer. It belongs to one goroutine.
type Reader struct {
	of     *Snapshot
	ahead  []byte // the file's content from off on
	off    int64
	record Record
}

// Reader returns a new reader for some or all issues.
func (f *Snapshot) Reader() *Reader { return &Reader{of: f} }

// Record is Issue.Record for an issue of the same file. The record and its bytes are valid
// until the next call; its texts stay valid.
func (r *Reader) Record(i *Issue) (*Record, error) {
	line, err := r.line(i)
	if err != nil {
		return nil, err
	}
	r.record = Record{members: r.record.members[:0]}
	if bad := r.record.parse(line); bad != nil || !r.record.is(i.ID) {
		return nil, i.gone()
	}
	return &r.record, nil
}

// Line returns the line of an issue, without its ending. It is valid until the next call.
func (r *Reader) Line(i *Issue) ([]byte, error) { return r.line(i) }

// Notes returns the text of an issue's notes if it may contain a part, which is plain ASCII
// without escapes (see Record.MayHold), else "". It does not examine the rest of the line as
// long as the line begins with the id and has a string at the known position of the notes.
func (r *Reader) Notes(i *Issue, part string) (string, error) {
	line, err := r.line(i)
	if err != nil || !i.HasNotes {
		return "", err
	}
	raw, ok := i.notesIn(line)
	if !ok {
		record, err := r.Record(i)
		if err != nil {
			return "", err
		}
		raw = record.Raw(Notes)
	}
	if !mayHold(raw, part) {
		return "", nil
	}
	return textOf(raw), nil
}

// notesIn returns the value of the notes from what should be the issue's line, and whether it
// is at the known position.
func (i *Issue) notesIn(line []byte) ([]byte, bool) {
	const head = `{"id":"`
	rest, ok := bytes.CutPrefix(line, []byte(head))
	if !ok || len(rest) <= len(i.ID) || string(rest[:len(i.ID)]) != i.ID || rest[len(i.ID)] != '"' {
		return nil, false
	}
	start, end := int(i.notesStart), int(i.notesEnd)
	if start == 0 || line[start] != '"' {
		return nil, false
	}
	s := scanner{b: line[:end]}
	return line[start:end], s.str(start) == end
}

func (r *Reader) line(i *Issue) ([]byte, error) {
	if i.off < r.off || i.off+int64(i.size) > r.off+int64(len(r.ahead)) {
		size := max(i.size, readAhead)
		r.ahead = slices.Grow(r.ahead[:0], size)[:size]
		n, err := r.of.source.Lines.ReadAt(r.ahead, i.off)
		r.ahead, r.off = r.ahead[:n], i.off
		if n < i.size {
			return nil, i.unread(err)
		}
	}
	start := int(i.off - r.off)
	return r.ahead[start : start+i.size], nil
}
