package beads

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// Record is one line with the spans of its keys. It is immutable, and values
// are decoded when asked for. Of a key that repeats the last value counts.
type Record struct {
	line    []byte
	members []member
	end     int        // offset of the closing brace
	origin  *Record    // as it was read; nil for that itself
	sets    []Set      // what was set since
	lists   []listEdit // and done to lists
}

// ParseRecord tokenises one line, given without its line end. The error says
// where the line is no JSON object, by 1-based byte column.
func ParseRecord(line []byte) (*Record, error) {
	r, bad := parseRecord(line)
	if bad != nil {
		return nil, fmt.Errorf("column %d: %s", bad.offset+1, bad.message)
	}
	return r, nil
}

// parseRecord tokenises a line without its end.
func parseRecord(line []byte) (*Record, *syntaxError) {
	r := &Record{members: make([]member, 0, 24)}
	if bad := r.parse(line); bad != nil {
		return nil, bad
	}
	return r, nil
}

// parse makes the record that of a line; it appends to its members.
func (r *Record) parse(line []byte) *syntaxError {
	r.line = line
	var m member
	w := walker{scanner: scanner{b: line}}
	for w.next(&m) {
		r.members = append(r.members, m)
	}
	if w.err != nil {
		return w.err
	}
	r.end = w.blanks(w.pos)
	if len(r.members) == 0 {
		r.end = w.blanks(w.blanks(0) + 1)
	}
	return nil
}

// is reports whether the record is that of an issue.
func (r *Record) is(id string) bool {
	raw, isText := unquote(r.Raw(ID))
	return isText && string(raw) == id || r.Text(ID) == id
}

// memberKey is the key of a member as text.
func memberKey(b []byte, m member) string {
	if m.escaped {
		return string(appendText(nil, m.key.of(b)))
	}
	return string(m.key.of(b))
}

// last is the index of the member that counts for k, or -1.
func (r *Record) last(k Key) int {
	for i := len(r.members) - 1; i >= 0; i-- {
		m := r.members[i]
		if !m.escaped && string(m.key.of(r.line)) == string(k) || m.escaped && memberKey(r.line, m) == string(k) {
			return i
		}
	}
	return -1
}

// Raw gives the bytes of the key's value as they stand, or nothing when it is
// absent. The bytes must not be changed.
func (r *Record) Raw(k Key) []byte {
	if i := r.last(k); i >= 0 {
		return r.members[i].val.of(r.line)
	}
	return nil
}

// Has reports whether the key has a value other than null.
func (r *Record) Has(k Key) bool {
	raw := r.Raw(k)
	return len(raw) > 0 && string(raw) != "null"
}

// Text gives the key's text: "" when it is absent, null or not a string.
// Unpaired surrogates and bytes that are not UTF-8 read as U+FFFD.
func (r *Record) Text(k Key) string { return textOf(r.Raw(k)) }

// textOf is what a value means as a text.
func textOf(value []byte) string {
	raw, _ := unquote(value)
	var usual [4096]byte // long enough for most texts, which then are copied once
	if len(raw) <= len(usual) {
		return string(appendText(usual[:0], raw))
	}
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	return longText(raw)
}

// MayHold reports whether the key's text can hold a part that is plain ASCII and
// needs no escape; often at far less cost than Text, it tells that it does not.
func (r *Record) MayHold(k Key, part string) bool {
	return mayHold(r.Raw(k), part)
}

func mayHold(value []byte, part string) bool {
	return bytes.Contains(value, []byte(part)) || bytes.Contains(value, []byte(`\u`))
}

// unquote gives the inside of a string value, and whether it is one.
func unquote(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// Time gives the key's time (RFC 3339, any offset and fraction, or what can mean only one
// time), and whether it has one.
func (r *Record) Time(k Key) (time.Time, bool) {
	text, plain := unquote(r.Raw(k))
	if !plain || bytes.ContainsRune(text, '\\') {
		text = []byte(r.Text(k))
	}
	if at, ok := parseTime(text); ok {
		return at, true
	}
	at := likelyTime(string(text))
	return at, !at.IsZero()
}

func parseTime(b []byte) (time.Time, bool) {
	var t time.Time
	if len(b) == 0 || t.UnmarshalText(b) != nil {
		return time.Time{}, false
	}
	return t, true
}

// Labels gives the labels in their order; elements that are not strings are
// left out.
func (r *Record) Labels() (labels []string) {
	for _, element := range r.Elements("labels") {
		if raw, ok := unquote(element); ok {
			labels = append(labels, string(appendText(nil, raw)))
		}
	}
	return labels
}

// Bytes is the line without its end (LF or CR LF) and without a byte order
// mark. It must not be changed.
func (r *Record) Bytes() []byte { return r.line }

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// RecordIn gives the line of an issue in the text of a store that is not on
// disk, such as one of its past versions; nil where there is none. Of an id
// that stands twice the last line counts. Lines that cannot be read are passed
// over: a past version cannot be fixed.
func RecordIn(text []byte, id string) *Record {
	var found *Record
	for first := true; len(text) > 0; first = false {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		_, line = trimLine(line, first)
		if firstID(line) != id { // read no farther than that, which is what makes a long history quick
			continue
		}
		if r, bad := parseRecord(line); bad == nil && r.Text(ID) == id {
			found = r
		}
	}
	return found
}

// firstID is the first "id" of a line, "" where there is none.
func firstID(line []byte) string {
	var m member
	for w := (walker{scanner: scanner{b: line}}); w.next(&m); {
		if memberKey(line, m) == string(ID) {
			raw, _ := unquote(m.val.of(line))
			return string(appendText(nil, raw))
		}
	}
	return ""
}
