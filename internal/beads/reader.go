package beads

import (
	"bytes"
	"slices"
)

// readAhead is how much a Reader reads at a time, in bytes: where several share
// the issues, each reads so much more at most than it needs of every share.
const readAhead = 32 << 10

// Reader gives the records of many issues, cheapest in the order of the file:
// it reads ahead, and into the same memory again and again. It belongs to one
// goroutine.
type Reader struct {
	of     *Snapshot
	ahead  []byte // what stands in the file from off on
	off    int64
	record Record
}

// Reader gives a new reader, for a part of the issues or all.
func (f *Snapshot) Reader() *Reader { return &Reader{of: f} }

// Record is Issue.Record of an issue of the same file. The record, and the
// bytes that it gives, last until the next call; its texts last.
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

// Line gives the line of an issue, without its end. It is good until the next call.
func (r *Reader) Line(i *Issue) ([]byte, error) { return r.line(i) }

// Notes gives the text of an issue's notes if it may hold a part that is plain
// ASCII and needs no escape, as Record.MayHold has it, else "". The rest of the
// line is not looked at as long as it begins with the id and has a string where
// the notes stood.
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

// notesIn gives the value of the notes in what is said to be the issue's line,
// and whether it is found where it stood.
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
