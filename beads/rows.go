package beads

import (
	"bytes"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Dependencies is the key of the dependency rows of an issue.
const Dependencies Key = "dependencies"

// Row is a dependency row to be written: the issue that holds it depends on On.
type Row struct {
	On, Type string
	By       string // who adds it; "" leaves created_by out
}

// Deps gives the dependency rows in their order, as Issue.Deps does.
func (r *Record) Deps() (deps []Dep) {
	for _, element := range r.Elements(Dependencies) {
		if d, ok := depOf(element); ok {
			deps = append(deps, d)
		}
	}
	return deps
}

// WithRow gives the record with a dependency row after those that are there,
// and updated_at bumped as With does. A row with the same On and Type changes
// nothing. created_at of the row is now.
func (r *Record) WithRow(now time.Time, row Row) (*Record, error) {
	id := r.Text(ID)
	for _, text := range []string{row.On, row.Type, row.By} {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%s: %s: the text must be valid UTF-8; found %q", id, Dependencies, firstInvalid(text))
		}
	}
	if row.On == "" || row.Type == "" {
		return nil, fmt.Errorf("%s: %s: a row needs an id and a type; found %q and %q", id, Dependencies, row.On, row.Type)
	}
	if raw := r.Raw(Dependencies); r.Has(Dependencies) && raw[0] != '[' {
		return nil, fmt.Errorf("%s: %s: must be a list; found %s", id, Dependencies, brief(raw))
	}
	return r.changed(now, nil, []rowEdit{func(r *Record, st style) *Record { return r.addRow(row, now, st) }})
}

// WithoutRow gives the record without its rows of this On and Type, and
// updated_at bumped as With does. The key goes with its last row. No such row
// changes nothing.
func (r *Record) WithoutRow(now time.Time, d Dep) (*Record, error) {
	return r.changed(now, nil, []rowEdit{func(r *Record, _ style) *Record { return r.dropRows(d) }})
}

// rowEdit changes the rows of a record; it gives the record itself when there
// is nothing to change.
type rowEdit func(*Record, style) *Record

// elements are the spans of the elements of a list, in the line.
func (r *Record) elements(k Key) (list []span) {
	i := r.last(k)
	if i < 0 {
		return nil
	}
	at := r.members[i].val
	if r.line[at.start] != '[' {
		return nil
	}
	s := scanner{b: at.of(r.line)}
	for v, ok := s.element(0); ok; v, ok = s.element(v.end) {
		list = append(list, span{at.start + v.start, at.start + v.end})
	}
	return list
}

// Unread lists what stands among the dependencies and is no row, as it stands in
// the line. Nobody follows it. Where there are as many elements as rows were read
// of the line, len(Issue.Deps), none is read again.
func (r *Record) Unread(rows int) (list []string) {
	i := r.last(Dependencies)
	if i < 0 {
		return nil
	}
	value := r.members[i].val.of(r.line)
	if value[0] != '[' {
		if string(value) != "null" {
			list = append(list, string(value))
		}
		return list
	}
	s, n := scanner{b: value}, 0
	for v, ok := s.element(0); ok; v, ok = s.element(v.end) {
		n++
	}
	if n == rows {
		return nil
	}
	for _, at := range r.elements(Dependencies) {
		if _, ok := depOf(at.of(r.line)); !ok {
			list = append(list, string(at.of(r.line)))
		}
	}
	return list
}

// depOf reads one row; what names no issue is none.
func depOf(object []byte) (Dep, bool) {
	if object[0] != '{' {
		return Dep{}, false
	}
	row, bad := parseRecord(object)
	if bad != nil {
		return Dep{}, false
	}
	d := Dep{On: row.Text("depends_on_id"), Type: row.Text("type")}
	return d, d.On != ""
}

func (r *Record) addRow(row Row, now time.Time, st style) *Record {
	if slices.Contains(r.Deps(), Dep{On: row.On, Type: row.Type}) {
		return r
	}
	rows := r.elements(Dependencies)
	colon, comma := r.spacing()
	if len(rows) > 0 {
		if like, bad := parseRecord(rows[0].of(r.line)); bad == nil && len(like.members) > 0 {
			colon, comma = like.spacing()
		}
	}
	text := composer{style: st, colon: colon, comma: comma}.row(r.Text(ID), row, now)
	switch i := r.last(Dependencies); {
	case len(rows) > 1:
		comma = r.line[rows[0].end:rows[1].start]
		fallthrough
	case len(rows) == 1:
		end := rows[len(rows)-1].end
		return r.splice(span{end, end}, slices.Concat(comma, text))
	case i >= 0:
		return r.splice(r.members[i].val, slices.Concat([]byte("["), text, []byte("]")))
	default:
		return r.insertRaw(Dependencies, slices.Concat([]byte("["), text, []byte("]")))
	}
}

func (r *Record) dropRows(d Dep) *Record {
	for {
		rows := r.elements(Dependencies)
		i := slices.IndexFunc(rows, func(v span) bool {
			row, ok := depOf(v.of(r.line))
			return ok && row == d
		})
		switch {
		case i < 0:
			return r
		case len(rows) == 1:
			return r.without(Dependencies)
		case i > 0:
			r = r.splice(span{rows[i-1].end, rows[i].end}, nil)
		default:
			r = r.splice(span{rows[0].start, rows[1].start}, nil)
		}
	}
}

// composer writes new objects as a writer that is to be imitated does.
type composer struct {
	style
	colon, comma []byte
}

// row is a dependency row, its keys in the order of bd 0.49.
func (c composer) row(id string, row Row, now time.Time) []byte {
	members := [][]byte{
		c.member("issue_id", c.text(id)),
		c.member("depends_on_id", c.text(row.On)),
		c.member("type", c.text(row.Type)),
		c.member("created_at", c.time(now)),
	}
	if row.By != "" {
		members = append(members, c.member("created_by", c.text(row.By)))
	}
	return c.object(members)
}

func (c composer) object(members [][]byte) []byte {
	return slices.Concat([]byte("{"), bytes.Join(members, c.comma), []byte("}"))
}

func (c composer) list(elements [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(elements, c.comma), []byte("]"))
}

func (c composer) member(k Key, value []byte) []byte {
	return slices.Concat([]byte(`"`+string(k)+`"`), c.colon, value)
}

func (c composer) text(s string) []byte { return append(c.appendString([]byte{'"'}, s), '"') }

func (c composer) time(t time.Time) []byte {
	return c.text(t.UTC().Truncate(time.Second).Format(time.RFC3339))
}
