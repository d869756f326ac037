package merge

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stig/beads"
)

// versions are the three versions of one issue.
type versions struct{ base, ours, theirs *beads.Record }

// state are the keys that are written together when an issue is closed,
// reopened or deleted, and so go together.
var state = []beads.Key{
	beads.Status, beads.ClosedAt, beads.CloseReason, "closed_by_session",
	"deleted_at", "deleted_by", "delete_reason", "original_type",
}

// texts are the keys that hold what somebody thought over: of two versions
// neither is better for being newer.
var texts = []beads.Key{beads.Description, beads.Design, beads.AcceptanceCriteria}

// decided are the short keys that somebody decides on. What programs write for
// themselves, such as a hash of the rest, follows either side.
var decided = []beads.Key{beads.Title, beads.Priority, beads.IssueType, beads.Assignee}

// value is what becomes of the value of a key.
type value struct {
	raw    []byte // nothing when the key goes
	reason string // why it cannot be merged
}

// issue merges key by key into ours.
func issue(v versions) decision {
	result := v.ours
	warning := ""
	settled := v.winner()
	keys := v.ours.Keys()
	for _, k := range v.theirs.Keys() {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		var err error
		switch {
		case slices.Contains(state, k):
			result, err = put(result, k, settled.Raw(k))
		case k == beads.Notes && v.bothChanged(k):
			var text, reason string
			if text, warning, reason = v.notes(); reason != "" {
				return decision{reason: reason}
			}
			result = result.Put(k, text)
		case v.isList(k):
			result, err = v.putList(result, k)
		default:
			merged := v.value(k)
			if merged.reason != "" {
				return decision{reason: merged.reason}
			}
			result, err = put(result, k, merged.raw)
		}
		if err != nil {
			return decision{reason: err.Error()}
		}
	}
	return decision{keep: true, text: string(result.Bytes()), warning: warning}
}

// put is PutRaw that gives the record itself where these bytes are there already.
func put(r *beads.Record, k beads.Key, raw []byte) (*beads.Record, error) {
	if bytes.Equal(r.Raw(k), raw) {
		return r, nil
	}
	return r.PutRaw(k, raw)
}

func (v versions) bothChanged(k beads.Key) bool {
	b, o, t := v.base.Raw(k), v.ours.Raw(k), v.theirs.Raw(k)
	return !equal(o, t) && !equal(b, o) && !equal(b, t)
}

// value merges one key.
func (v versions) value(k beads.Key) value {
	b, o, t := v.base.Raw(k), v.ours.Raw(k), v.theirs.Raw(k)
	switch {
	case k == beads.UpdatedAt:
		return value{raw: v.newer().Raw(k)}
	case equal(o, t), equal(b, t):
		return value{raw: o}
	case equal(b, o):
		return value{raw: t}
	case slices.Contains(texts, k) || severalLines(v.ours.Text(k)) || severalLines(v.theirs.Text(k)):
		return value{reason: "both changed " + string(k)}
	case isObject(o) && isObject(t):
		return v.object(k)
	case slices.Contains(decided, k) && stamp(v.ours).Equal(stamp(v.theirs)):
		return value{reason: "both changed " + string(k) + ", neither later than the other"}
	}
	return value{raw: v.newer().Raw(k)}
}

func severalLines(text string) bool { return strings.Contains(strings.TrimSpace(text), "\n") }

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// object merges the members of an object, such as metadata.
func (v versions) object(k beads.Key) value {
	var inner versions
	for _, side := range []struct {
		from *beads.Record
		into **beads.Record
	}{{v.base, &inner.base}, {v.ours, &inner.ours}, {v.theirs, &inner.theirs}} {
		raw := side.from.Raw(k)
		if !isObject(raw) {
			raw = []byte("{}")
		}
		r, err := beads.ParseRecord(raw)
		if err != nil {
			return value{reason: string(k) + ": " + err.Error()}
		}
		*side.into = r
	}
	result := inner.ours
	for _, name := range append(inner.ours.Keys(), inner.theirs.Keys()...) {
		b, o, t := inner.base.Raw(name), inner.ours.Raw(name), inner.theirs.Raw(name)
		taken := o
		switch {
		case equal(o, t), equal(b, t):
		case equal(b, o):
			taken = t
		default:
			return value{reason: "both changed " + string(name) + " in " + string(k)}
		}
		var err error
		if result, err = put(result, name, taken); err != nil {
			return value{reason: string(k) + ": " + err.Error()}
		}
	}
	return value{raw: result.Bytes()}
}

// newer is the side with the later updated_at. Of two with the same, it is
// one and the same whichever is ours.
func (v versions) newer() *beads.Record {
	o, t := stamp(v.ours), stamp(v.theirs)
	if t.After(o) || t.Equal(o) && bytes.Compare(v.theirs.Bytes(), v.ours.Bytes()) > 0 {
		return v.theirs
	}
	return v.ours
}

// winner is the side whose state counts: that which changed it. When both
// did, closed beats open, unless the issue was closed before and reopened
// later than the other side was written; else the newer counts.
func (v versions) winner() *beads.Record {
	switch {
	case sameState(v.base, v.theirs):
		return v.ours
	case sameState(v.base, v.ours):
		return v.theirs
	}
	if closed(v.ours) == closed(v.theirs) {
		return v.newer()
	}
	open, shut := v.ours, v.theirs
	if closed(open) {
		open, shut = shut, open
	}
	if closed(v.base) && stamp(open).After(stamp(shut)) {
		return open
	}
	return shut
}

func closed(r *beads.Record) bool { return beads.Over(r.Text(beads.Status)) }

func sameState(a, b *beads.Record) bool {
	for _, k := range state {
		if !equal(a.Raw(k), b.Raw(k)) {
			return false
		}
	}
	return true
}

// equal compares what two values mean. Values that cannot be read without loss
// are compared as bytes.
func equal(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := beads.Meaning(a), beads.Meaning(b)
	return x == y && !strings.ContainsRune(x, utf8.RuneError)
}

// stamp is the updated_at of a version, the zero time where it has none.
func stamp(r *beads.Record) (t time.Time) {
	t, _ = r.Time(beads.UpdatedAt)
	return t
}
