package beads

import (
	"fmt"
	"strconv"
	"sync"
)

// Misfit is a value that a program decoding the line into typed fields refuses, and with it
// the line or the whole file. stig reads past it and carries it as it stands.
type Misfit struct {
	Key     Key
	Message string // `"pinned" must be true or false; found 1`
	Time    bool   // it is a string, and no time
}

// Misfits lists the values of known keys that are of another type than their key has, and
// those in its lists and rows, in the order of the line. What is a flaw already is none.
func (r *Record) Misfits() (found []Misfit) {
	w := misfits{kinds: kindsOf()}
	for _, m := range r.members {
		key := m.key.of(r.line)
		if m.escaped {
			key = []byte(memberKey(r.line, m))
		}
		k, known := w.kinds[string(key)]
		if !known {
			continue
		}
		raw := m.val.of(r.line)
		if _, ok := r.mayHoldValue(m, raw); ok {
			w.value(string(key), k, raw)
		}
		for _, f := range w.found {
			f.Key = Key(key)
			found = append(found, f)
		}
		w.found = w.found[:0]
	}
	return found
}

// kindsOf are the kinds of the known keys.
var kindsOf = sync.OnceValue(func() map[string]kind {
	kinds := map[string]kind{}
	for _, o := range order {
		kinds[string(o.key)] = o.kind
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
		{"issue_id", textual}, {"depends_on_id", textual}, {"type", textual}, {CreatedAt, timely},
		{"created_by", textual}, {"metadata", textual}, {"thread_id", textual},
	}
	remarkKeys = []keyKind{{ID, numbered}, {"issue_id", textual}, {"author", textual}, {"text", textual}, {CreatedAt, timely}}
)

// misfits collects what is said of the values of one line.
type misfits struct {
	kinds map[string]kind
	found []Misfit
	one   Record // of a list: its members are used again
}

// value judges the value of a key.
func (w *misfits) value(key string, k kind, raw []byte) {
	place := strconv.Quote(key)
	if raw[0] != 'n' || required[key] {
		w.judge(place, k, raw)
	}
	switch {
	case raw[0] != '[':
	case k == texts:
		w.each(raw, func(n int, element []byte) { w.judge(fmt.Sprintf("%s: element %d", place, n), textual, element) })
	case k == rows:
		w.each(raw, func(n int, element []byte) { w.object("dependency", n, element, rowKeys) })
	case k == remarks:
		w.each(raw, func(n int, element []byte) { w.object("comment", n, element, remarkKeys) })
	}
}

// judge says of a value that it is none of the kind.
func (w *misfits) judge(place string, k kind, raw []byte) {
	if !k.takes(raw) {
		found := shape(raw)
		if found == aNumber || k == numbered {
			found = brief(raw)
		}
		w.found = append(w.found, Misfit{Message: fmt.Sprintf("%s must be %s; found %s", place, k.words(), found)})
		return
	}
	if text, is := unquote(raw); is && k == timely {
		if _, ok := parseTime(text); !ok {
			w.found = append(w.found, Misfit{Message: fmt.Sprintf("%s is no time: %s", place, brief(raw)), Time: true})
		}
	}
}

// each visits the elements of a list.
func (w *misfits) each(list []byte, visit func(n int, element []byte)) {
	s, n := scanner{b: list}, 0
	for v, ok := s.element(0); ok; v, ok = s.element(v.end) {
		n++
		visit(n, v.of(list))
	}
}

// object judges a row or a comment. One that is no object is unread, or has no author, which
// is said elsewhere.
func (w *misfits) object(what string, n int, element []byte, keys []keyKind) {
	if element[0] != '{' {
		return
	}
	if w.one = (Record{members: w.one.members[:0]}); w.one.parse(element) != nil {
		return
	}
	for _, k := range keys {
		if raw := w.one.Raw(k.key); w.one.Has(k.key) && (!k.kind.takes(raw) || k.kind == timely) {
			w.judge(fmt.Sprintf("%s %d: %q", what, n, k.key), k.kind, raw)
		}
	}
}

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
