package beads

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// The functions below assemble a line from lines already written, as a merge does: they set no
// time and copy values as bytes.

// Size is the length of the issue's line in bytes, without its ending.
func (i *Issue) Size() int { return i.size }

// AppendLine appends the issue's line as on disk, without its ending and without parsing it.
// The error is a fault.Changed if the file has become shorter, else a fault.Store.
func (i *Issue) AppendLine(dst []byte) ([]byte, error) {
	start := len(dst)
	dst = slices.Grow(dst, i.size)[:start+i.size]
	if n, err := i.of.source.Lines.ReadAt(dst[start:], i.off); n < i.size {
		return nil, i.unread(err)
	}
	return dst, nil
}

// Keys lists the keys of the line in order, each once.
func (r *Record) Keys() []Key { return keysOf(r) }

// Elements returns the raw elements of a list under a key; nil for any other value. Callers
// must not modify them.
func (r *Record) Elements(k Key) (elements [][]byte) {
	for _, v := range r.elements(k) {
		elements = append(elements, v.of(r.line))
	}
	return elements
}

// Meaning returns the canonical encoding/json form of a value, so that equivalent values are
// equal; "" for null, "", [] and {}, which count as absent. Undecodable values are returned as
// they are.
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

// MeansSomething reports whether the Meaning of a value is not "".
func MeansSomething(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

// Put returns the record with a key set to a text ("" removes it) and nothing else changed, not
// even updated_at. The text must be valid UTF-8.
func (r *Record) Put(k Key, text string) *Record {
	return r.with(Set{k, text}, styleOf(r.line))
}

// PutRaw returns the record with a key's value replaced by bytes that must be one JSON value
// (none removes the key), and nothing else changed, not even updated_at. A new known key goes
// to its place in the order, an unknown one to the end.
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

// insertRaw puts a new member after the nearest present key that precedes it in the known
// order, an unknown one at the end, with the line's spacing.
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

// PutElements is PutRaw for a list of elements, with the line's spacing; none removes the key.
func (r *Record) PutElements(k Key, elements [][]byte) (*Record, error) {
	if len(elements) == 0 {
		return r.PutRaw(k, nil)
	}
	_, comma := r.spacing()
	return r.PutRaw(k, slices.Concat([]byte{'['}, bytes.Join(elements, comma), []byte{']'}))
}

// SplitList separates a list's elements from the line: rest is the line with only what follows
// the last element between the brackets, at is the offset of the elements, and each element
// includes its separator. ok is false for a value that is not a list and for a repeated key;
// leave such a line alone.
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
