package beads

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// The rules for unreadable values, beside those for flaws.
const (
	UnreadRow  = "dependency-unread" // no object with the id of another issue
	UnreadTime = "time-unread"       // no time of RFC 3339
)

// Unread is a malformed value in an issue's line that may affect when the issue can start. If
// it has only one possible meaning, that meaning is used.
type Unread struct {
	Key  Key
	Rule string    // UnreadRow, UnreadTime, WrongType or RepeatedKey
	Raw  string    // the raw value, shortened
	Why  string    // what it must be
	Dep  Dep       // for a row: its meaning if the store has the id; On is "" if it names none
	Time time.Time // for a time: its meaning; zero if uncertain
}

// mostRaw limits how much of an unread value is kept, in bytes.
const mostRaw = 80

// unreadRows reads the dependencies that are not plain rows.
func unreadRows(raw []byte) (list []Unread) {
	u := Unread{Key: Dependencies, Rule: UnreadRow, Raw: shorten(raw, mostRaw), Why: "must be an object with depends_on_id and type"}
	for _, dep := range likelyRows(raw) {
		u.Dep = dep
		list = append(list, u)
	}
	if list == nil {
		list = []Unread{u}
	}
	return list
}

// besideRows reads what an issue waits for under another program's key, unless its rows say so
// too.
func (i *Issue) besideRows(k Key, raw []byte) {
	if len(raw) == 0 || string(raw) == "null" || raw[0] == '[' && len(bytes.TrimSpace(raw[1:])) == 1 {
		return
	}
	for _, u := range unreadRows(raw) {
		if !slices.ContainsFunc(i.Deps, func(d Dep) bool { return d.On == u.Dep.On }) {
			u.Key, u.Why = k, "is outside the dependencies, where other programs do not look"
			i.Unread = append(i.Unread, u)
		}
	}
}

// The keys that other programs use for dependencies, and their types.
var (
	targetKeys = []Key{"depends_on_id", "depends_on_issue_id", "depends_on_external", "depends_on", "dependsOn", "blocked_by", "blocker", "target", "target_id", "on", "to", ID}
	typeKeys   = []Key{"dependency_type", "dep_type", "type", "kind"}
)

// likelyRows returns the rows that a value may mean; the caller looks up the ids in it.
func likelyRows(raw []byte) (deps []Dep) {
	object, bad := parseObject(raw)
	if bad {
		for _, id := range idsIn(raw) {
			deps = append(deps, Dep{On: id})
		}
		return deps
	}
	kind, on := "", []string(nil)
	for _, k := range typeKeys {
		if kind = object.Text(k); kind != "" {
			break
		}
	}
	for _, k := range targetKeys {
		if on = idsIn(object.Raw(k)); on != nil {
			break
		}
	}
	for _, id := range on {
		deps = append(deps, Dep{On: id, Type: kind})
	}
	if deps == nil && kind != "" {
		return []Dep{{Type: kind}}
	}
	if deps == nil {
		return typesByID(object)
	}
	return deps
}

// typesByID reads an object of ids with the type of each.
func typesByID(object *Record) (deps []Dep) {
	for _, id := range object.Keys() {
		value := object.Raw(id)
		kind, isText := unquote(value)
		if row, bad := parseObject(value); !bad {
			kind, isText = []byte(row.Text("type")), row.Text("type") != ""
		}
		if !isText {
			return nil
		}
		deps = append(deps, Dep{On: string(id), Type: string(kind)})
	}
	return deps
}

// idsIn returns the texts of a value: a string, or a list of strings.
func idsIn(raw []byte) (ids []string) {
	if len(raw) == 0 {
		return nil
	}
	if text := strings.TrimSpace(textOf(raw)); text != "" {
		return []string{text}
	}
	if raw[0] != '[' {
		return nil
	}
	s := scanner{b: raw}
	for v, ok := s.element(0); ok; v, ok = s.element(v.end) {
		text := strings.TrimSpace(textOf(v.of(raw)))
		if text == "" {
			return nil
		}
		ids = append(ids, text)
	}
	return ids
}

// time reads the time under a key, and records a malformed one.
func (x *indexer) time(is *Issue, k Key, line []byte, v span) time.Time {
	text := x.text(line, v)
	if len(text) == 0 {
		return time.Time{}
	}
	at, ok := parseTime(text)
	if !ok {
		at = likelyTime(string(text))
		is.Unread = append(is.Unread, Unread{Key: k, Rule: UnreadTime, Raw: shorten(v.of(line), mostRaw), Time: at,
			Why: "must be a time such as 2006-01-02T15:04:05Z"})
	}
	return at.UTC()
}

// isPlainTime is a cheap test, eight bytes at a time, that a value is an RFC 3339 time in the
// usual form; if it returns false, the value must be parsed.
func isPlainTime(raw []byte) bool {
	const most = len(`"0000-00-00T00:00:00Z"`)
	if len(raw) != most || raw[0] != '"' || raw[20] != 'Z' {
		return false
	}
	if !hasForm(raw[1:], "0000-00-", 0xff0000ff00000000) || !hasForm(raw[9:], "00T00:00", 0x0000ff0000ff0000) || !hasForm(raw[12:], "00:00:00", 0x0000ff0000ff0000) {
		return false
	}
	two := func(i int) byte { return 10*(raw[i]-'0') + raw[i+1] - '0' }
	return two(6)-1 < 12 && two(9)-1 < 28 && two(12) < 24 && two(15) < 60 && two(18) < 60
}

// hasForm compares eight bytes with a form: the same characters where the form has marks,
// digits elsewhere.
func hasForm(b []byte, form string, marks uint64) bool {
	differ := binary.LittleEndian.Uint64(b) ^ binary.LittleEndian.Uint64([]byte(form))
	return differ&marks == 0 && (differ|(differ+6*ones))&(0xf0*ones) == 0
}

// timeForms are unambiguous forms of a time outside RFC 3339, precise to the day at least.
// Without a zone they are UTC.
var timeForms = []string{
	"2006-1-2", "2006/1/2", "20060102",
	"2006-1-2 15:04", "2006-1-2 15:04:05", "2006/1/2 15:04", "2006/1/2 15:04:05",
	"2006-1-2 15:04Z07:00", "2006-1-2 15:04:05Z07:00", "2006-1-2 15:04Z0700", "2006-1-2 15:04:05Z0700", "2006-1-2 15:04:05Z07",
	"2006-1-2 15:04:05 Z07:00", "2006-1-2 15:04:05 -0700", "2006-1-2 15:04:05 UTC", "2006-1-2 15:04:05 -0700 UTC",
	"20060102 150405", "20060102 150405Z07:00", "20060102 1504", "20060102 1504Z07:00",
}

// likelyTime returns the meaning of a text as a time; zero if uncertain.
func likelyTime(text string) time.Time {
	const most = 64
	text = strings.ToUpper(strings.TrimSpace(text))
	if len(text) > most {
		return time.Time{}
	}
	if day, clock, ok := strings.Cut(text, "T"); ok && !strings.Contains(day, " ") {
		text = day + " " + clock
	}
	for _, form := range timeForms {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// anyChildren reports whether a row's metadata, a string or an object, says that one closed
// child of its target is enough.
func anyChildren(metadata []byte) bool {
	if text, ok := unquote(metadata); ok {
		metadata = appendText(nil, text)
	}
	if !bytes.Contains(metadata, []byte("any-children")) {
		return false
	}
	object, err := ParseRecord(bytes.TrimSpace(metadata))
	return err == nil && object.Text("gate") == "any-children"
}

// unreadFlaws are the flaws of a line, and flags that are neither true nor false.
func unreadFlaws(line []byte) (list []Unread) {
	r, bad := parseRecord(line)
	if bad != nil {
		return nil
	}
	for _, f := range r.Flaws() {
		list = append(list, Unread{Key: f.Key, Rule: f.Rule, Raw: shorten(r.Raw(f.Key), mostRaw), Why: strings.TrimPrefix(f.Message, `"`+string(f.Key)+`" `)})
	}
	for _, k := range []Key{"pinned", "ephemeral", "is_template"} {
		if raw := r.Raw(k); r.Has(k) && shape(raw) != aBoolean {
			list = append(list, Unread{Key: k, Rule: WrongType, Raw: shorten(raw, mostRaw), Why: "must be " + aBoolean + "; found " + shape(raw)})
		}
	}
	return list
}
