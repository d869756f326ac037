package beads

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// What follows is for those who put a line together from lines that are
// written already, as a merge does: no time is set, and values go from line to
// line as bytes.

// Size is the length of the issue's line in bytes, without its end.
func (i *Issue) Size() int { return i.size }

// AppendLine appends the issue's line as it stands on disk, without its end
// and without looking into it. The error is a fault.Changed when the file
// has become shorter, else a fault.Store.
func (i *Issue) AppendLine(dst []byte) ([]byte, error) {
	start := len(dst)
	dst = slices.Grow(dst, i.size)[:start+i.size]
	if n, err := i.of.source.Lines.ReadAt(dst[start:], i.off); n < i.size {
		return nil, i.unread(err)
	}
	return dst, nil
}

// Keys lists the keys of the line in their order, each once.
func (r *Record) Keys() []Key { return keysOf(r) }

// Elements gives the bytes of the elements of a key that holds a list; none
// for any other value. They must not be changed.
func (r *Record) Elements(k Key) (elements [][]byte) {
	for _, v := range r.elements(k) {
		elements = append(elements, v.of(r.line))
	}
	return elements
}

// Meaning is a value in the one spelling of encoding/json, so that values which
// mean the same are equal; "" for null, "", [] and {}, which are as good as
// none. What cannot be decoded is its own meaning.
func Meaning(raw []byte) string {
	if !MeansSomething(raw) {
		return ""
	}
	if raw[0] == '"' {
		return string(append(style{}.appendString(append(make([]byte, 0, len(raw)+1), '"'), textOf(raw)), '"'))
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return string(raw)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return string(raw)
	}
	return string(text)
}

// MeansSomething reports whether a value has a Meaning.
func MeansSomething(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

// Put gives the record with a key set to a text ("" removes it) and nothing
// else changed, not even updated_at. The text must be valid UTF-8.
func (r *Record) Put(k Key, text string) *Record {
	return r.with(Set{k, text}, styleOf(r.line))
}

// PutRaw gives the record with the value of a key exchanged for bytes that
// must be one JSON value (none removes the key), and nothing else changed, not
// even updated_at. A key that is not there goes to its place in the known
// order, and one that is unknown to the end.
func (r *Record) PutRaw(k Key, raw []byte) (*Record, error) {
	if len(raw) == 0 {
		return r.without(k), nil
	}
	s := scanner{b: raw}
	end := s.value(0, 1)
	if s.err == nil && end < len(raw) {
		s.fail(end, "nothing after the value")
	}
	if s.err != nil {
		return nil, fmt.Errorf("%s: %s: %w", r.Text(ID), k, errors.New(s.err.message))
	}
	if i := r.last(k); i >= 0 {
		return r.splice(r.members[i].val, raw), nil
	}
	return r.insertRaw(k, raw), nil
}

// insertRaw puts a new member after the nearest present key that precedes it
// in the known order, an unknown one at the end, spaced as the line is.
func (r *Record) insertRaw(k Key, raw []byte) *Record {
	colon, comma := r.spacing()
	m := append([]byte{'"'}, styleOf(r.line).appendString(nil, string(k))...)
	m = slices.Concat(m, []byte{'"'}, colon, raw)
	i := len(r.members) - 1
	if slot(k) >= 0 {
		i = r.before(k)
	}
	switch {
	case i >= 0:
		end := r.members[i].val.end
		return r.splice(span{end, end}, slices.Concat(comma, m))
	case len(r.members) > 0:
		start := r.members[0].key.start - 1
		return r.splice(span{start, start}, slices.Concat(m, comma))
	}
	return r.splice(span{r.end, r.end}, m)
}

// PutElements is PutRaw for a list of elements, spaced as the line is; none
// removes the key.
func (r *Record) PutElements(k Key, elements [][]byte) (*Record, error) {
	if len(elements) == 0 {
		return r.PutRaw(k, nil)
	}
	_, comma := r.spacing()
	return r.PutRaw(k, slices.Concat([]byte{'['}, bytes.Join(elements, comma), []byte{']'}))
}

// SplitList takes the elements of a list out of the line: rest is the line with
// nothing between the brackets but what follows the last element, at is where the
// elements stood in it, and each element comes with what separates it from the one
// before. ok is false for a value that is no list and for a key that repeats: such a
// line is to be kept as it is.
func (r *Record) SplitList(k Key) (rest []byte, at int, elements [][]byte, ok bool) {
	i := r.last(k)
	if i < 0 || r.line[r.members[i].val.start] != '[' {
		return nil, 0, nil, false
	}
	for _, m := range r.members[:i] {
		if memberKey(r.line, m) == string(k) {
			return nil, 0, nil, false
		}
	}
	at = r.members[i].val.start + 1
	end := at
	for _, v := range r.elements(k) {
		elements = append(elements, r.line[end:v.end])
		end = v.end
	}
	return slices.Concat(r.line[:at], r.line[end:]), at, elements, true
}
