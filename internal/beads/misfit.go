package beads

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Misfit is a value that a program decoding the line into typed fields refuses, and with it
// the line or the whole file. stig reads past it and carries it as it stands.
type Misfit struct {
	Key     Key
	Message string    // `"pinned" must be true or false; found 1`
	Time    bool      // it is a string, and no time
	Means   time.Time // of one that is read all the same; else zero
}

// Misfits lists the values of known keys that are of another type than their key has, and
// those in its lists and rows, in the order of the line. What is a flaw already is none.
func (r *Record) Misfits() (found []Misfit) {
	w := misfits{kinds: kindsOf(), own: r.Raw(ID)}
	for _, m := range r.members {
		key := m.key.of(r.line)
		if m.escaped {
			key = []byte(memberKey(r.line, m))
		}
		of, known := w.kinds[string(key)]
		if !known {
			continue
		}
		raw := m.val.of(r.line)
		if _, ok := r.mayHoldValue(m, raw); ok {
			w.value(string(of.key), of.kind, raw)
		}
		for _, f := range w.found {
			f.Key = of.key
			found = append(found, f)
		}
		w.found = w.found[:0]
	}
	return found
}

// kindsOf are the kinds of the known keys.
var kindsOf = sync.OnceValue(func() map[string]keyKind {
	kinds := map[string]keyKind{}
	for _, o := range order {
		kinds[string(o.key)] = o
	}
	return kinds
})

// required are the keys whose null beads_rust refuses.
var required = map[string]bool{
	"title": true, "status": true, "priority": true, "issue_type": true, "created_at": true, "updated_at": true,
	"ephemeral": true, "pinned": true, "is_template": true, "labels": true, "dependencies": true, "comments": true,
}

// The keys of a row and of a comment, all that programs decode.
var (
	rowKeys = []keyKind{
		{issueID, textual}, {"depends_on_id", textual}, {"type", textual}, {CreatedAt, timely},
		{"created_by", textual}, {"metadata", textual}, {"thread_id", textual},
	}
	remarkKeys = []keyKind{{ID, numbered}, {issueID, textual}, {"author", textual}, {"text", textual}, {CreatedAt, timely}}
)

// misfits collects what is said of the values of one line.
type misfits struct {
	kinds map[string]keyKind
	found []Misfit
	own   []byte // the id of the issue, as the line has it
	one   Record // an object of a list: its members are used again
}

// value judges the value of a key.
func (w *misfits) value(key string, k kind, raw []byte) {
	if raw[0] != 'n' || required[key] {
		w.judge(spot{key: key}, k, raw)
	}
	if raw[0] != '[' {
		return
	}
	s, n := scanner{b: raw}, 0
	for v, ok := s.element(0); ok; v, ok = s.element(v.end) {
		n++
		switch element := v.of(raw); k {
		case texts:
			w.judge(spot{list: "element", n: n, key: key}, textual, element)
		case rows:
			w.object(spot{list: "dependency", n: n}, element, rowKeys)
		case remarks:
			w.object(spot{list: "comment", n: n}, element, remarkKeys)
			if element[0] != '{' && element[0] != '"' {
				w.judge(spot{list: "comment", n: n}, mapping, element)
			}
		}
	}
}

// spot is where a value stands: under a key, in an element of a list, or under a key there.
type spot struct {
	list string
	n    int
	key  string
}

func (s spot) String() string {
	switch s.list {
	case "":
		return strconv.Quote(s.key)
	case "element":
		return fmt.Sprintf("%q: element %d", s.key, s.n)
	}
	if s.key == "" {
		return fmt.Sprintf("%s %d", s.list, s.n)
	}
	return fmt.Sprintf("%s %d: %q", s.list, s.n, s.key)
}

// judge says of a value that it is none of the kind.
func (w *misfits) judge(place spot, k kind, raw []byte) {
	if !k.takes(raw) {
		found := shape(raw)
		if found == aNumber || k == numbered {
			found = brief(raw)
		}
		w.found = append(w.found, Misfit{Message: fmt.Sprintf("%s must be %s; found %s", place, k.words(), found)})
		return
	}
	if k != timely || isPlainTime(raw) {
		return
	}
	text := textOf(raw)
	if _, ok := parseTime([]byte(text)); !ok {
		w.found = append(w.found, Misfit{Message: fmt.Sprintf("%s is no time: %s", place, brief(raw)), Time: true, Means: likelyTime(text)})
	}
}

// object judges a row or a comment. A row that is no object is unread, and a comment that is
// a text has no author, which is said elsewhere.
func (w *misfits) object(place spot, element []byte, keys []keyKind) {
	if element[0] != '{' {
		return
	}
	if w.one.members == nil {
		w.one.members = make([]member, 0, len(rowKeys))
	}
	if w.one = (Record{members: w.one.members[:0]}); w.one.parse(element) != nil {
		return
	}
	for _, k := range keys {
		raw := w.one.Raw(k.key)
		if raw == nil || raw[0] == 'n' {
			continue
		}
		place.key = string(k.key)
		w.judge(place, k.kind, raw)
		if k.key == issueID && raw[0] == '"' && !w.isOwn(raw) {
			w.found = append(w.found, Misfit{Message: fmt.Sprintf("%v is another issue: %s", place, brief(raw))})
		}
	}
}

// isOwn reports whether a text is the id of the issue, however it is written.
func (w *misfits) isOwn(raw []byte) bool {
	return bytes.Equal(raw, w.own) || textOf(raw) == textOf(w.own)
}

// issueID names in a row or a comment the issue that it is of.
const issueID Key = "issue_id"

// takes reports whether a value is one of the kind.
func (k kind) takes(raw []byte) bool {
	switch k {
	case whole, wide:
		bits := 32
		if k == wide {
			bits = 64
		}
		_, err := strconv.ParseInt(string(raw), 10, bits)
		return err == nil
	case decimal:
		return shape(raw) == aNumber
	case numbered:
		return wide.takes(raw) || isUUID(raw)
	case boolean:
		return raw[0] == 't' || raw[0] == 'f'
	case texts, rows, remarks, listed:
		return raw[0] == '['
	case mapping:
		return raw[0] == '{'
	case anything:
		return true
	}
	return raw[0] == '"'
}

// words names what a kind takes.
func (k kind) words() string {
	switch k {
	case whole, wide:
		return "a whole number"
	case decimal:
		return aNumber
	case numbered:
		return "a whole number or a UUID"
	case boolean:
		return "true or false"
	case texts, rows, remarks, listed:
		return aList
	case mapping:
		return "an object"
	}
	return aText
}

// isUUID reports whether a value is a string like 018f3b9e-7c1d-7a52-9d3e-0123456789ab.
func isUUID(raw []byte) bool {
	text, is := unquote(raw)
	if !is || len(text) != 36 {
		return false
	}
	for i, c := range text {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !isHex(c) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
