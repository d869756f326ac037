package beads

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// Record is one line with the spans of its keys. It is immutable and decodes values on demand.
// If a key repeats, its last value counts.
type Record struct {
	line    []byte
	members []member
	end     int        // offset of the closing brace
	origin  *Record    // the record as read; nil if this is that
	sets    []Set      // fields set since
	lists   []listEdit // list edits since
}

// ParseRecord parses one line, given without its ending. The error gives the 1-based byte
// column at which the line is not a JSON object.
func ParseRecord(line []byte) (*Record, error) {
	r, bad := parseRecord(line)
	if bad != nil {
		return nil, fmt.Errorf("column %d: %s", bad.offset+1, bad.message)
	}
	return r, nil
}

// parseRecord parses a line without its ending.
func parseRecord(line []byte) (*Record, *syntaxError) {
	r := &Record{members: make([]member, 0, 24)}
	if bad := r.parse(line); bad != nil {
		return nil, bad
	}
	return r, nil
}

// parse fills the record from a line; it reuses its members.
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

// is reports whether the record belongs to the issue.
func (r *Record) is(id string) bool {
	raw, isText := unquote(r.Raw(ID))
	return isText && string(raw) == id || r.Text(ID) == id
}

// memberKey returns the key of a member as text.
func memberKey(b []byte, m member) string {
	if m.escaped {
		return string(appendText(nil, m.key.of(b)))
	}
	return string(m.key.of(b))
}

// last returns the index of the member that counts for k, or -1.
func (r *Record) last(k Key) int {
	for i := len(r.members) - 1; i >= 0; i-- {
		m := r.members[i]
		if !m.escaped && string(m.key.of(r.line)) == string(k) || m.escaped && memberKey(r.line, m) == string(k) {
			return i
		}
	}
	return -1
}

// Raw returns the raw bytes of the key's value, nil if absent. Callers must not modify them.
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

// Text returns the key's text: "" if absent, null or not a string. Unpaired surrogates and
// bytes that are not UTF-8 decode as U+FFFD.
func (r *Record) Text(k Key) string { return textOf(r.Raw(k)) }

// textOf decodes a value as text.
func textOf(value []byte) string {
	raw, _ := unquote(value)
	var usual [4096]byte // holds most texts, which then need a single copy
	if len(raw) <= len(usual) {
		return string(appendText(usual[:0], raw))
	}
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	return longText(raw)
}

// MayHold reports whether the key's text can contain a part, which is plain ASCII without
// escapes. A false result is certain, and often far cheaper than Text.
func (r *Record) MayHold(k Key, part string) bool {
	return mayHold(r.Raw(k), part)
}

func mayHold(value []byte, part string) bool {
	return bytes.Contains(value, []byte(part)) || bytes.Contains(value, []byte(`\u`))
}

// unquote returns the inside of a string value, and whether it is one.
func unquote(raw []byte) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// Time returns the key's time, and whether it has one: RFC 3339 with any offset and fraction,
// or another unambiguous form.
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

// Labels returns the labels in order, without elements that are not strings.
func (r *Record) Labels() (labels []string) {
	for _, element := range r.Elements("labels") {
		if raw, ok := unquote(element); ok {
			labels = append(labels, string(appendText(nil, raw)))
		}
	}
	return labels
}

// Bytes returns the line without its ending (LF or CR LF) and byte order mark. Callers must not
// modify it.
func (r *Record) Bytes() []byte { return r.line }

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// RecordIn returns the record of an issue in a store's text that is not on disk, such as a past
// version; nil if there is none. If the id repeats, the last line counts. Unreadable lines are
// skipped, since a past version cannot be fixed.
func RecordIn(text []byte, id string) *Record {
	var found *Record
	for first := true; len(text) > 0; first = false {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		_, line = trimLine(line, first)
		if firstID(line) != id { // stopping here makes a long history fast
			continue
		}
		if r, bad := parseRecord(line); bad == nil && r.Text(ID) == id {
			found = r
		}
	}
	return found
}

// firstID returns the first "id" of a line, "" if there is none.
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
