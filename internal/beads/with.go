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

// Set is one key to set.
type Set struct {
	Key  Key
	Text string // "" removes the key
}

// With returns the record with keys set to new texts ("" removes the key) and updated_at bumped
// to max(now, old + 1 s, created_at), in UTC and whole seconds. Everything else keeps its
// bytes. The bump counts from the record as read, however often With is called; without a real
// change With returns the record as read.
func (r *Record) With(now time.Time, set ...Set) (*Record, error) {
	for _, s := range set {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", r.Text(ID), s.Key, err)
		}
	}
	return r.changed(now, set, nil)
}

// changed applies the edits of r to the record as read, and then these.
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
	ahead := time.Duration(0) // only comments change
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

// check returns why a key may not be set this way.
func (s Set) check() error {
	i := slot(s.Key)
	switch {
	case s.Key == UpdatedAt:
		return errors.New("is set by the store itself")
	case s.Key == ID:
		return errors.New("an issue keeps its id")
	case i < 0:
		return errors.New("is not a key of an issue")
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

// notUTF8 refuses (fault.Usage) a text that is not UTF-8, which JSON cannot hold.
func notUTF8(text string) error {
	return &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("the text must be valid UTF-8; found %q", firstInvalid(text)),
		Hint: "convert it, for example with iconv -f WINDOWS-1252 -t UTF-8"}
}

// firstInvalid returns the first byte of s that is not valid UTF-8.
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

// lastOfEach keeps the last of several sets of one key, in the first one's place.
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

// bump returns updated_at for a record that becomes next: later than the old one by at least
// that much.
func (r *Record) bump(now time.Time, next *Record, ahead time.Duration) (string, error) {
	t := now.UTC().Truncate(time.Second)
	if old, ok := r.Time(UpdatedAt); ok {
		// Adding a second before truncating to whole seconds gives a later time.
		t = latest(t, old.Add(max(ahead, time.Second-1)).UTC().Truncate(time.Second))
	}
	// An issue from a clock that was far ahead would move further ahead with every edit.
	if created, ok := next.Time(CreatedAt); ok && created.Sub(now) <= farAhead {
		t = latest(t, created.UTC().Add(time.Second-1).Truncate(time.Second))
	}
	if t.Year() > 9999 {
		return "", fmt.Errorf("%s: %s: no later time than %s exists; type stig vet --fix, which sets it to now", r.Text(ID), UpdatedAt, r.Text(UpdatedAt))
	}
	return t.Format(time.RFC3339), nil
}

// farAhead is how far in the future a time must be to show that its clock was wrong.
const farAhead = 24 * time.Hour

// notBeforeMade returns the record with updated_at no earlier than created_at.
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

// redated returns the record as read with updated_at set to now, even if that is earlier.
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

// with applies one set; it returns r itself if nothing changes.
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

// splice returns the record with the bytes of a span replaced.
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

// before returns the index of the member after which a new key goes, or -1 for the beginning.
func (r *Record) before(k Key) int {
	best, at := -1, -1
	for i, m := range r.members {
		if n := slot(Key(memberKey(r.line, m))); n >= 0 && n >= best && n < slot(k) {
			best, at = n, i
		}
	}
	return at
}

// spacing returns what the line puts between key and value and between members, as far as it
// shows.
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
