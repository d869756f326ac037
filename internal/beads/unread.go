package beads

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// The rules of what cannot be read, beside those of flaws.
const (
	UnreadRow  = "dependency-unread" // no object with the id of another issue
	UnreadTime = "time-unread"       // no time of RFC 3339
)

// Unread is a value of an issue's line that is not written as it must be, and that may say
// something about when the issue can be started. Where it can mean only one thing, that is
// how it is read.
type Unread struct {
	Key  Key
	Rule string    // UnreadRow, UnreadTime, WrongType or RepeatedKey
	Raw  string    // the value as it stands in the line, shortened
	Why  string    // what it must be
	Dep  Dep       // of a row: what it means if the store has the id; On is "" where it names none
	Time time.Time // of a time: what it means; zero where that is not certain
}

// mostRaw is how much of an unread value is kept, in bytes.
const mostRaw = 80

// unreadRows reads what stands among the dependencies and is no plain row.
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

// besideRows reads what an issue waits for by a key of another program, unless its rows say
// so too.
func (i *Issue) besideRows(k Key, raw []byte) {
	if len(raw) == 0 || string(raw) == "null" || raw[0] == '[' && len(bytes.TrimSpace(raw[1:])) == 1 {
		return
	}
	for _, u := range unreadRows(raw) {
		if !slices.ContainsFunc(i.Deps, func(d Dep) bool { return d.On == u.Dep.On }) {
			u.Key, u.Why = k, "stands beside the dependencies, where other programs do not look"
			i.Unread = append(i.Unread, u)
		}
	}
}

// The keys by which programs name what an issue depends on, and how.
var (
	targetKeys = []Key{"depends_on_id", "depends_on_issue_id", "depends_on_external", "depends_on", "dependsOn", "blocked_by", "blocker", "target", "target_id", "on", "to", ID}
	typeKeys   = []Key{"dependency_type", "dep_type", "type", "kind"}
)

// likelyRows are the rows that a value can be meant for: the ids in it are to be looked up.
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

// idsIn are the texts of a value: its own, or those of a list of nothing else.
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

// time reads the time under a key, and notes one that is not written as it must be.
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

// isPlainTime tells at little cost, eight bytes at a time, that a value is a time of RFC 3339
// as most programs write it; what it does not know has to be parsed.
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

// hasForm compares eight bytes with a form: where marks are set they are the same, and digits
// elsewhere.
func hasForm(b []byte, form string, marks uint64) bool {
	differ := binary.LittleEndian.Uint64(b) ^ binary.LittleEndian.Uint64([]byte(form))
	return differ&marks == 0 && (differ|(differ+6*ones))&(0xf0*ones) == 0
}

// timeForms are the forms of a time that is no RFC 3339 and can mean only one thing, to the
// day at least. Without a zone it is UTC.
var timeForms = []string{
	"2006-1-2", "2006/1/2", "20060102",
	"2006-1-2 15:04", "2006-1-2 15:04:05", "2006/1/2 15:04", "2006/1/2 15:04:05",
	"2006-1-2 15:04Z07:00", "2006-1-2 15:04:05Z07:00", "2006-1-2 15:04Z0700", "2006-1-2 15:04:05Z0700", "2006-1-2 15:04:05Z07",
	"2006-1-2 15:04:05 Z07:00", "2006-1-2 15:04:05 -0700", "2006-1-2 15:04:05 UTC", "2006-1-2 15:04:05 -0700 UTC",
	"20060102 150405", "20060102 150405Z07:00", "20060102 1504", "20060102 1504Z07:00",
}

// likelyTime is what a text means as a time; zero where that is not certain.
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

// anyChildren reports whether the metadata of a row, a text or an object, says that one closed
// child of what it waits for is enough.
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
