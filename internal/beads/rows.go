package beads

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The keys that hold lists of objects.
const (
	Dependencies Key = "dependencies"
	Comments     Key = "comments"
)

// Row is a dependency row to write: the issue that holds it depends on On.
type Row struct {
	On, Type string
	By       string // who adds it; "" omits created_by
}

// Deps returns the dependency rows in order, as in Issue.Deps.
func (r *Record) Deps() (deps []Dep) {
	for _, element := range r.Elements(Dependencies) {
		if d, ok := depOf(element); ok {
			deps = append(deps, d)
		}
	}
	return deps
}

// withRow returns the record with a dependency row appended and updated_at bumped as in With.
// If a row with the same On and Type exists, nothing changes. The row's created_at is now.
func (r *Record) withRow(now time.Time, row Row) (*Record, error) {
	if row.On == "" || row.Type == "" {
		return nil, fmt.Errorf("%s: %s: a dependency row needs an id and a type; found %q and %q", r.Text(ID), Dependencies, row.On, row.Type)
	}
	if err := r.takes(Dependencies, row.On, row.Type, row.By); err != nil {
		return nil, err
	}
	return r.changed(now, nil, []listEdit{{of: Dependencies, do: func(r *Record, st style) *Record {
		if slices.Contains(r.Deps(), Dep{On: row.On, Type: row.Type}) {
			return r
		}
		return r.addObject(Dependencies, st, func(c composer) []byte { return c.row(r.Text(ID), row, now) })
	}}})
}

// withoutRow returns the record without its rows of this On and Type, and updated_at bumped as
// in With. The key disappears with its last row. Without such a row nothing changes.
func (r *Record) withoutRow(now time.Time, d Dep) (*Record, error) {
	return r.changed(now, nil, []listEdit{{of: Dependencies, do: func(r *Record, _ style) *Record {
		return r.dropElements(Dependencies, func(object []byte) bool {
			row, ok := depOf(object)
			return ok && row == d
		})
	}}})
}

// withComment returns the record with a comment appended. If one with the same author and text
// (up to surrounding white space) exists, nothing changes. The comment's created_at is now.
//
// updated_at becomes max(now, old): a bump of a second for each comment would move a busy issue
// ahead of the clock, and it would win merges that it should lose. If of is not Comments but
// "", it is bumped as in With.
func (r *Record) withComment(now time.Time, c Comment, of Key) (*Record, error) {
	if c.Author == "" || strings.TrimSpace(c.Text) == "" {
		return nil, fmt.Errorf("%s: %s: a comment needs an author and a text; found %q and %q", r.Text(ID), Comments, c.Author, c.Text)
	}
	if err := r.takes(Comments, c.Author, c.Text); err != nil {
		return nil, err
	}
	return r.changed(now, nil, []listEdit{{of: of, do: func(r *Record, st style) *Record {
		numbered := true
		for _, element := range r.Elements(Comments) {
			there, bad := parseObject(element)
			if bad {
				continue
			}
			if there.Text("author") == c.Author && strings.TrimSpace(there.Text("text")) == strings.TrimSpace(c.Text) {
				return r
			}
			numbered = numbered && !isString(there.Raw(ID))
		}
		return r.addObject(Comments, st, func(w composer) []byte { return w.comment(r.Text(ID), c, numbered, now) })
	}}})
}

// takes returns why texts cannot be added to a list.
func (r *Record) takes(k Key, texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%s: %s: %w", r.Text(ID), k, notUTF8(text))
		}
	}
	if raw := r.Raw(k); r.Has(k) && raw[0] != '[' {
		return fmt.Errorf("%s: %s: must be a list; found %s", r.Text(ID), k, brief(raw))
	}
	return nil
}

// listEdit changes a list in a record.
type listEdit struct {
	of Key                          // "" for several lists
	do func(*Record, style) *Record // returns the record itself if nothing changes
}

// elements are the spans of a list's elements in the line.
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

// parseObject parses a list element; bad if it is not an object.
func parseObject(element []byte) (object *Record, bad bool) {
	if len(element) == 0 || element[0] != '{' {
		return nil, true
	}
	object, err := parseRecord(element)
	return object, err != nil
}

func isString(raw []byte) bool {
	_, ok := unquote(raw)
	return ok
}

// depOf reads one row; ok is false if it names no issue.
func depOf(element []byte) (Dep, bool) {
	row, bad := parseObject(element)
	if bad {
		return Dep{}, false
	}
	d := Dep{On: row.Text("depends_on_id"), Type: row.Text("type")}
	return d, d.On != ""
}

// addObject appends an object to a list, with the spacing of the first one.
func (r *Record) addObject(k Key, st style, object func(composer) []byte) *Record {
	there := r.elements(k)
	colon, comma := r.spacing()
	if len(there) > 0 {
		if like, bad := parseRecord(there[0].of(r.line)); bad == nil && len(like.members) > 0 {
			colon, comma = like.spacing()
		}
	}
	return r.appendElement(k, comma, object(composer{style: st, colon: colon, comma: comma}))
}

// appendElement appends an element to a list. comma is its separator after a single element;
// otherwise the separator of the first two is reused.
func (r *Record) appendElement(k Key, comma, element []byte) *Record {
	there := r.elements(k)
	switch i := r.last(k); {
	case len(there) > 1:
		comma = r.line[there[0].end:there[1].start]
		fallthrough
	case len(there) == 1:
		end := there[len(there)-1].end
		return r.splice(span{end, end}, slices.Concat(comma, element))
	case i >= 0:
		return r.splice(r.members[i].val, slices.Concat([]byte("["), element, []byte("]")))
	default:
		return r.insertRaw(k, slices.Concat([]byte("["), element, []byte("]")))
	}
}

// dropElements removes elements from a list, and the key with the last one.
func (r *Record) dropElements(k Key, is func(element []byte) bool) *Record {
	for {
		there := r.elements(k)
		i := slices.IndexFunc(there, func(v span) bool { return is(v.of(r.line)) })
		switch {
		case i < 0:
			return r
		case len(there) == 1:
			return r.without(k)
		case i > 0:
			r = r.splice(span{there[i-1].end, there[i].end}, nil)
		default:
			r = r.splice(span{there[0].start, there[1].start}, nil)
		}
	}
}

// composer writes new objects in the style of an existing writer.
type composer struct {
	style
	colon, comma []byte
}

// row is a dependency row, with keys in the order of bd 0.49.
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

// comment is a comment, with keys in the order of bd 0.49. bd numbers comments and renumbers
// them on import; bd 1.0 uses UUIDs and accepts numbers. The number is derived from the
// comment's content, so that two branches do not pick the same one.
func (c composer) comment(id string, comment Comment, numbered bool, now time.Time) []byte {
	sum := commentSum(id, comment)
	number := commentNumber(sum)
	if !numbered {
		sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUID of version 8, RFC 9562
		number = c.text(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
	}
	return c.object([][]byte{
		c.member(ID, number),
		c.member("issue_id", c.text(id)),
		c.member("author", c.text(comment.Author)),
		c.member("text", c.text(comment.Text)),
		c.member("created_at", c.time(now)),
	})
}

func commentSum(id string, c Comment) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q", id, c.Author, strings.TrimSpace(c.Text)))
}

func commentNumber(sum [sha256.Size]byte) []byte {
	const bits = 48 // the precision of a JSON number
	return strconv.AppendUint(nil, binary.BigEndian.Uint64(sum[:])>>(64-bits)|1, 10)
}

// CommentNumbers lists the numbers of the comments in order; "" for one whose id is a string or
// missing.
func (r *Record) CommentNumbers() (numbers []string) {
	for _, element := range r.Elements(Comments) {
		number := ""
		if c, bad := parseObject(element); !bad && c.Has(ID) && !isString(c.Raw(ID)) {
			number = string(c.Raw(ID))
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// RenumberComments returns the record with new numbers for the comments that again selects by
// position and number; again is called for each that has a number. A new number is derived from
// the comment's content, avoids those in taken, and is added to them.
func (r *Record) RenumberComments(again func(at int, number string) bool, taken map[string]bool) *Record {
	elements, numbers, changed := slices.Clone(r.Elements(Comments)), r.CommentNumbers(), false
	for _, number := range numbers {
		taken[number] = true
	}
	for i, number := range numbers {
		if number == "" || !again(i, number) {
			continue
		}
		c, _ := parseObject(elements[i])
		sum := commentSum(r.Text(ID), Comment{Author: c.Text("author"), Text: c.Text("text")})
		for number = string(commentNumber(sum)); taken[number]; number = string(commentNumber(sum)) {
			sum = sha256.Sum256(sum[:]) // the same text twice
		}
		if renumbered, err := c.PutRaw(ID, []byte(number)); err == nil {
			elements[i], changed, taken[number] = renumbered.Bytes(), true, true
		}
	}
	if !changed {
		return r
	}
	renumbered, err := r.PutElements(Comments, elements)
	if err != nil {
		return r // they were read from this record, so they fit
	}
	return renumbered
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

// Comment is a remark on an issue. CreatedAt is optional when adding one.
type Comment struct {
	Author, Text string    // "" if absent, null or not a string
	CreatedAt    time.Time // UTC; zero if absent or unreadable
}

// Comments returns the comments in the order of the line. An element that is a plain string
// becomes a comment with that text, so that nothing written is lost.
func (r *Record) Comments() (comments []Comment) {
	r.EachComment(func(_ int, _ string, c Comment) { comments = append(comments, c) })
	return comments
}

// EachComment calls visit with each comment of Comments, its index among the elements, and its
// number ("" if its id is a string or missing).
func (r *Record) EachComment(visit func(at int, number string, c Comment)) {
	var one Record // the members are reused
	for i, element := range r.Elements(Comments) {
		switch element[0] {
		case '{':
			if one = (Record{members: one.members[:0]}); one.parse(element) != nil {
				continue
			}
			number := ""
			if id := one.Raw(ID); one.Has(ID) && !isString(id) {
				number = string(id)
			}
			at, _ := one.Time(CreatedAt)
			visit(i, number, Comment{Author: one.Text("author"), Text: one.Text("text"), CreatedAt: at.UTC()})
		case '"':
			visit(i, "", Comment{Text: textOf(element)})
		}
	}
}
