package beads

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"stig/internal/fault"
)

// Set is one wanted key.
type Set struct {
	Key  Key
	Text string // "" removes the key
}

// With gives the record with keys set to new texts ("" removes the key) and
// updated_at bumped to max(now, old + 1 s, created_at), in UTC and whole
// seconds. All else keeps its bytes. The bump counts from the record as it was
// read, however often With is called; with no real change against that, With
// gives the record as it was read.
func (r *Record) With(now time.Time, set ...Set) (*Record, error) {
	for _, s := range set {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", r.Text(ID), s.Key, err)
		}
	}
	return r.changed(now, set, nil)
}

// changed makes the edits of r once more on the record as it was read, and
// then these.
func (r *Record) changed(now time.Time, set []Set, lists []listEdit) (*Record, error) {
	origin := r
	if r.origin != nil {
		origin = r.origin
		set = append(slices.Clip(r.sets), set...)
		lists = append(slices.Clip(r.lists), lists...)
	}
	set = lastOfEach(set)
	st := styleOf(origin.line)
	next := origin
	for _, s := range set {
		next = next.with(s, st)
	}
	ahead := time.Duration(0) // of comments alone
	if next != origin {
		ahead = time.Second
	}
	for _, edit := range lists {
		before := next
		if next = edit.do(before, st); next != before && edit.of != Comments {
			ahead = time.Second
		}
	}
	if bytes.Equal(next.line, origin.line) {
		return origin, nil
	}
	updated, err := origin.bump(now, next, ahead)
	if err != nil {
		return nil, err
	}
	next = next.with(Set{UpdatedAt, updated}, st)
	next.origin, next.sets, next.lists = origin, set, lists
	return next, nil
}

// check says why a key may not be set so.
func (s Set) check() error {
	i := slot(s.Key)
	switch {
	case s.Key == UpdatedAt:
		return errors.New("is set by the store itself")
	case s.Key == ID:
		return errors.New("an issue keeps its id")
	case i < 0:
		return errors.New("no key of an issue")
	case !order[i].kind.isText():
		return errors.New("does not hold a text")
	case !utf8.ValidString(s.Text):
		return notUTF8(s.Text)
	case order[i].kind == timely && s.Text != "":
		if _, ok := parseTime([]byte(s.Text)); !ok {
			return fmt.Errorf("must be a time like 2006-01-02T15:04:05Z; found %q", s.Text)
		}
	}
	return nil
}

// notUTF8 refuses (fault.Usage) a text that is no UTF-8, which JSON cannot hold.
func notUTF8(text string) error {
	return &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("the text must be valid UTF-8; found %q", firstInvalid(text)),
		Hint: "convert it, for example with iconv -f WINDOWS-1252 -t UTF-8"}
}

// firstInvalid is the first byte that makes s no UTF-8.
func firstInvalid(s string) string {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return s[i : i+1]
		}
		i += n
	}
	return ""
}

// lastOfEach keeps of several sets of one key the last, at the first's place.
func lastOfEach(set []Set) (out []Set) {
	for _, s := range set {
		i := slices.IndexFunc(out, func(o Set) bool { return o.Key == s.Key })
		if i < 0 {
			out = append(out, s)
		} else {
			out[i] = s
		}
	}
	return out
}

// bump is the new updated_at of a record that becomes next: so much later than the
// old one at least.
func (r *Record) bump(now time.Time, next *Record, ahead time.Duration) (string, error) {
	t := now.UTC().Truncate(time.Second)
	if old, ok := r.Time(UpdatedAt); ok {
		// A second later, cut to whole seconds, is later still.
		t = latest(t, old.Add(max(ahead, time.Second-1)).UTC().Truncate(time.Second))
	}
	// Made by a clock that was far ahead, an issue would run ahead with every edit.
	if created, ok := next.Time(CreatedAt); ok && created.Sub(now) <= farAhead {
		t = latest(t, created.UTC().Add(time.Second-1).Truncate(time.Second))
	}
	if t.Year() > 9999 {
		return "", fmt.Errorf("%s: %s: there is no time after %s; type stig vet --fix, which sets it to now", r.Text(ID), UpdatedAt, r.Text(UpdatedAt))
	}
	return t.Format(time.RFC3339), nil
}

// farAhead is how far ahead a time is that the clock which gave it must have been wrong.
const farAhead = 24 * time.Hour

// notBeforeMade gives the record with updated_at no earlier than created_at.
func (r *Record) notBeforeMade() *Record {
	created, made := r.Time(CreatedAt)
	updated, ok := r.Time(UpdatedAt)
	if !made || !ok || !updated.Before(created) {
		return r
	}
	at := created.UTC().Add(time.Second - 1).Truncate(time.Second).Format(time.RFC3339)
	next := r.with(Set{UpdatedAt, at}, styleOf(r.line))
	next.origin, next.sets, next.lists = r.origin, r.sets, r.lists
	return next
}

// redated gives the record as it was read with updated_at set to now, be that
// earlier than it is.
func (r *Record) redated(now time.Time) *Record {
	if r.origin != nil {
		r = r.origin
	}
	next := r.with(Set{UpdatedAt, now.UTC().Truncate(time.Second).Format(time.RFC3339)}, styleOf(r.line))
	if next != r {
		next.origin = r
	}
	return next
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// with applies one set; it gives r itself when nothing changes.
func (r *Record) with(s Set, st style) *Record {
	switch i := r.last(s.Key); {
	case r.Text(s.Key) == s.Text:
		return r
	case s.Text == "":
		return r.without(s.Key)
	case i < 0:
		return r.insertRaw(s.Key, append(st.appendString([]byte{'"'}, s.Text), '"'))
	default:
		return r.replace(r.members[i].val, s.Text, st)
	}
}

// splice gives the record with the bytes of a span exchanged.
func (r *Record) splice(at span, with []byte) *Record {
	line := make([]byte, 0, len(r.line)-(at.end-at.start)+len(with))
	line = append(line, r.line[:at.start]...)
	line = append(line, with...)
	line = append(line, r.line[at.end:]...)
	next, err := parseRecord(line)
	if err != nil {
		panic("beads: a splice broke the line: " + err.message)
	}
	return next
}

func (r *Record) replace(val span, text string, st style) *Record {
	value := []byte{'"'}
	if raw, ok := unquote(val.of(r.line)); ok {
		value = st.respell(value, text, textLines(raw))
	} else {
		value = st.appendString(value, text)
	}
	return r.splice(val, append(value, '"'))
}

// without removes every member with the key, each with one comma.
func (r *Record) without(k Key) *Record {
	for i := r.last(k); i >= 0; i = r.last(k) {
		m := r.members[i]
		at := span{m.key.start - 1, m.val.end}
		if i > 0 {
			at.start = r.members[i-1].val.end
		} else if len(r.members) > 1 {
			at.end = r.members[1].key.start - 1
		}
		r = r.splice(at, nil)
	}
	return r
}

// before is the index of the member after which a new key goes, or -1 for the
// beginning.
func (r *Record) before(k Key) int {
	best, at := -1, -1
	for i, m := range r.members {
		if n := slot(Key(memberKey(r.line, m))); n >= 0 && n >= best && n < slot(k) {
			best, at = n, i
		}
	}
	return at
}

// spacing gives what the line has between key and value, and between one
// member and the next, as far as it shows it.
func (r *Record) spacing() (colon, comma []byte) {
	colon, comma = []byte(":"), []byte(",")
	if len(r.members) == 0 {
		return colon, comma
	}
	m := r.members[0]
	colon = r.line[m.key.end+1 : m.val.start]
	if len(r.members) > 1 {
		return colon, r.line[m.val.end : r.members[1].key.start-1]
	}
	if !bytes.Equal(colon, []byte(":")) {
		comma = []byte(", ")
	}
	return colon, comma
}
