package beads

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Misfit is a value that makes a program with typed fields reject the line or the whole file.
// stig skips it when reading and keeps it as is.
type Misfit struct {
	Key     Key
	Message string    // `"pinned" must be true or false; found 1`
	Time    bool      // a string that is not a time
	Means   time.Time // if it can be read anyway; else zero
}

// Misfits lists values of known keys that have the wrong type or are out of bounds, including
// those in lists and rows, in the order of the line. Flaws are not repeated.
func (r *Record) Misfits() (found []Misfit) {
	w := misfits{own: r.Raw(ID)}
	wants := wantsOf()
	for _, m := range r.members {
		key := m.key.of(r.line)
		if m.escaped {
			key = []byte(memberKey(r.line, m))
		}
		want, known := wants[string(key)]
		if !known {
			continue
		}
		w.value(want, m.val.of(r.line))
		if n := len(w.found) - mostMisfits; n > 0 {
			w.found = w.found[:mostMisfits]
			w.found[mostMisfits-1].Message += fmt.Sprintf("; %d more", n)
		}
		for _, f := range w.found {
			f.Key = want.key
			found = append(found, f)
		}
		w.found = w.found[:0]
	}
	return found
}

// mostMisfits limits how many are listed for one key.
const mostMisfits = 3

// want describes valid values of a key.
type want struct {
	keyKind
	flaw     bool // any other type is a flaw: see Record.Flaws
	required bool // beads_rust rejects null
	bound    func(raw []byte) string
}

// wantsOf describes valid values of the known keys.
var wantsOf = sync.OnceValue(func() map[string]want {
	bounds := boundsOf()
	wants := map[string]want{}
	for _, o := range order {
		wants[string(o.key)] = want{o, typeOf([]byte(o.key)) != "", slices.Contains(required, o.key), bounds[o.key]}
	}
	return wants
})

// required are the keys for which beads_rust rejects null.
var required = []Key{
	Title, Status, Priority, IssueType, CreatedAt, UpdatedAt, "ephemeral", "pinned", "is_template", Labels, Dependencies, Comments,
}

// boundsOf says how a raw value exceeds the bounds of bd and beads_rust; "" if it does not.
// Lengths are in bytes, as those programs count.
func boundsOf() map[Key]func(raw []byte) string {
	most := func(n int) func([]byte) string {
		return func(raw []byte) string {
			if len(raw) <= n {
				return "" // decoded it is shorter
			}
			if has := len(textOf(raw)); has > n {
				return fmt.Sprintf("has %d bytes; at most %d", has, n)
			}
			return ""
		}
	}
	unblank := func(raw []byte) string {
		blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
		if bytes.ContainsFunc(raw, func(r rune) bool { return r == '\\' || blank(r) }) && strings.ContainsFunc(textOf(raw), blank) {
			return "holds a blank: " + brief(raw)
		}
		return ""
	}
	return map[Key]func([]byte) string{
		ID:          unblank,
		Title:       most(500),
		Description: most(100 << 10),
		ExternalRef: func(raw []byte) string { return cmp.Or(most(200)(raw), unblank(raw)) },
		EstimatedMinutes: func(raw []byte) string {
			if raw[0] == '-' {
				return "is negative: " + brief(raw)
			}
			return ""
		},
		"agent_state": func(raw []byte) string {
			if !slices.Contains(agentStates, textOf(raw)) {
				return "is not one that bd has: " + brief(raw)
			}
			return ""
		},
	}
}

// agentStates are the agent states of bd.
var agentStates = []string{"", "idle", "spawning", "running", "working", "stuck", "done", "stopped", "dead"}

// The keys of a row and of a comment that programs decode.
var (
	rowKeys = []keyKind{
		{issueID, textual}, {"depends_on_id", textual}, {"type", textual}, {CreatedAt, timely},
		{"created_by", textual}, {"metadata", textual}, {"thread_id", textual},
	}
	remarkKeys = []keyKind{{ID, numbered}, {issueID, textual}, {"author", textual}, {"text", textual}, {CreatedAt, timely}}
)

// misfits collects the misfits of one line.
type misfits struct {
	found []Misfit
	own   []byte // the issue's id, as in the line
	one   Record // the members of an object in a list; reused
}

// value checks the value of a key.
func (w *misfits) value(want want, raw []byte) {
	place := spot{key: string(want.key)}
	switch {
	case raw[0] == 'n':
		if want.required {
			w.judge(place, want.kind, raw)
		}
		return
	case !want.flaw || want.kind.takes(raw):
		if w.judge(place, want.kind, raw) && want.bound != nil {
			if why := want.bound(raw); why != "" {
				w.found = append(w.found, Misfit{Message: place.String() + " " + why})
			}
		}
	}
	if raw[0] != '[' {
		return
	}
	s, n := scanner{b: raw}, 0
	for v, ok := s.element(0); ok; v, ok = s.element(v.end) {
		n++
		switch element := v.of(raw); want.kind {
		case texts:
			w.judge(spot{list: "element", n: n, key: place.key}, textual, element)
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

// spot is where a value is: under a key, in a list element, or under a key of one.
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

// judge reports whether a value has the kind, and records a misfit if not.
func (w *misfits) judge(place spot, k kind, raw []byte) bool {
	if !k.takes(raw) {
		found := shape(raw)
		if found == aNumber || k == numbered {
			found = brief(raw)
		}
		w.found = append(w.found, Misfit{Message: fmt.Sprintf("%s must be %s; found %s", place, k.words(), found)})
		return false
	}
	if k != timely || isTime(raw) {
		return true
	}
	text := textOf(raw)
	_, ok := parseTime([]byte(text))
	if !ok {
		w.found = append(w.found, Misfit{Message: fmt.Sprintf("%s is not a time: %s", place, brief(raw)), Time: true, Means: likelyTime(text)})
	}
	return ok
}

// object checks a row or a comment. A row that is not an object is unread, and a comment that
// is a plain text has no author; other code reports those.
func (w *misfits) object(place spot, element []byte, keys []keyKind) {
	if element[0] != '{' || w.isPlainRow(element) {
		return
	}
	if w.one.members == nil {
		w.one.members = make([]member, 0, len(rowKeys))
	}
	if w.one = (Record{members: w.one.members[:0]}); w.one.parse(element) != nil {
		return
	}
	for _, m := range w.one.members {
		key, raw := m.key.of(element), m.val.of(element)
		at := slices.IndexFunc(keys, func(k keyKind) bool { return string(k.key) == string(key) })
		if at < 0 || raw[0] == 'n' {
			continue
		}
		place.key = string(keys[at].key)
		if w.judge(place, keys[at].kind, raw) && keys[at].key == issueID && !w.isOwn(raw) {
			w.found = append(w.found, Misfit{Message: fmt.Sprintf("%v is another issue: %s", place, brief(raw))})
		}
	}
}

// isPlainRow is a cheap test that a row written the usual way is valid: all values are strings,
// issue_id is the issue's, and created_at is a time. If it returns false, the row must be
// parsed.
func (w *misfits) isPlainRow(element []byte) bool {
	const key, made = `"issue_id":`, `"created_at":`
	of := bytes.Index(element, []byte(key))
	at := bytes.Index(element, []byte(made))
	if of < 0 || at < 0 || !bytes.HasPrefix(element[of+len(key):], w.own) {
		return false
	}
	for rest := element; ; {
		colon := bytes.Index(rest, []byte(`":`)) // a quote within a string is escaped
		if colon < 0 {
			break
		}
		if rest = rest[colon+2:]; rest[0] != '"' {
			return false
		}
	}
	raw := element[at+len(made):]
	end := bytes.IndexByte(raw[1:], '"')
	return end >= 0 && isTime(raw[:end+2])
}

// isTime reports whether a value is a time in a string without escapes.
func isTime(raw []byte) bool {
	if isPlainTime(raw) {
		return true
	}
	_, ok := parseTime(raw[1 : len(raw)-1])
	return ok
}

// isOwn reports whether a text is the issue's id, in any spelling.
func (w *misfits) isOwn(raw []byte) bool {
	return bytes.Equal(raw, w.own) || textOf(raw) == textOf(w.own)
}

// issueID is the key that names the issue in a row or a comment.
const issueID Key = "issue_id"

// takes reports whether a value has the kind.
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

// words names the values that a kind accepts.
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
