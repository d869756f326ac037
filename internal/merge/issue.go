package merge

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"stig/internal/beads"
	"stig/internal/visible"
)

// versions are the three versions of one issue.
type versions struct {
	base, ours, theirs *beads.Record
	unknown            bool // what the base was is not known
	answers            Answers
}

// state are the keys that are written together when an issue is closed,
// reopened or deleted, and so go together.
var state = []beads.Key{
	beads.Status, beads.ClosedAt, beads.CloseReason, "closed_by_session",
	"deleted_at", "deleted_by", "delete_reason", "original_type",
}

// texts are the keys that somebody wrote with thought: of two versions the newer is not the
// better one.
var texts = []beads.Key{beads.Description, beads.Design, beads.AcceptanceCriteria}

// derived are the keys that programs write for themselves, such as a count or
// a hash of the rest. They follow the newer side.
var derived = []beads.Key{
	"_type", "_schema", "started_at", "source_system", "source_repo", "source_repo_path",
	"source_formula", "source_location", "compaction_level", "compacted_at",
	"compacted_at_commit", "original_size", "content_hash", "last_activity",
	"dependency_count", "dependent_count", "comment_count",
}

// value is what becomes of the value of a key.
type value struct {
	raw       []byte // nothing when the key goes
	questions []Question
	warning   string
}

// issue merges key by key into ours.
func issue(v versions) decision {
	result := v.ours
	settled, of := v.settle()
	questions, warnings := of.questions, []string{of.warning}
	for _, k := range v.keys() {
		merged := value{raw: settled.Raw(k)}
		if !slices.Contains(state, k) {
			merged = v.merge(k, settled)
		}
		questions, warnings = append(questions, merged.questions...), append(warnings, merged.warning)
		var err error
		if result, err = put(result, k, merged.raw); err != nil {
			return left(Question{Key: Whole, Ours: string(v.ours.Bytes()), Theirs: string(v.theirs.Bytes()), reason: err.Error()})
		}
	}
	if len(questions) > 0 {
		return left(questions...)
	}
	warnings = slices.DeleteFunc(warnings, func(text string) bool { return text == "" })
	return decision{keep: true, text: string(result.Bytes()), warning: strings.Join(warnings, "; ")}
}

// keys lists the keys of ours, then those that only theirs has.
func (v versions) keys() []beads.Key {
	keys := v.ours.Keys()
	for _, k := range v.theirs.Keys() {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
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

// merge merges one key that is no part of the state, which is that of settled.
func (v versions) merge(k beads.Key, settled *beads.Record) value {
	b, o, t := v.base.Raw(k), v.ours.Raw(k), v.theirs.Raw(k)
	switch {
	case k == beads.UpdatedAt:
		return value{raw: v.newer().Raw(k)}
	case v.isList(k):
		return v.list(k)
	case v.unknown && equal(o, t), !v.unknown && (equal(o, t) || equal(b, t)):
		return value{raw: o}
	case !v.unknown && equal(b, o):
		return value{raw: t}
	case k == beads.Notes:
		return v.notes()
	case isObject(o) && isObject(t):
		return v.object(k)
	case slices.Contains(derived, k):
		return value{raw: v.newer().Raw(k)}
	case v.answers[string(k)] != "":
		return value{raw: v.of(v.answers[string(k)]).Raw(k)}
	case k == beads.Assignee && closed(settled) && !sameState(v.ours, v.theirs):
		return value{raw: settled.Raw(k), warning: v.dropped(k, settled, "who closed it")}
	case v.follows(k):
		return value{raw: v.newer().Raw(k), warning: v.dropped(k, v.newer(), "the later")}
	}
	return value{raw: o, questions: []Question{v.asked(k)}}
}

// follows reports whether a key that both sides changed follows the newer side:
// the time that an issue was updated says something about a key only where the
// sides differ in nothing else. What somebody thought over is a question all the
// same, and so is an issue that two workers believe to be theirs.
func (v versions) follows(k beads.Key) bool {
	switch {
	case v.unknown || stamp(v.ours).Equal(stamp(v.theirs)):
		return false
	case slices.Contains(texts, k) || severalLines(v.ours.Text(k)) || severalLines(v.theirs.Text(k)):
		return false
	case k == beads.Assignee && inProgress(v.ours) && inProgress(v.theirs):
		return false
	}
	return !slices.ContainsFunc(v.keys(), func(other beads.Key) bool {
		return other != k && other != beads.UpdatedAt && !slices.Contains(derived, other) &&
			!equal(v.ours.Raw(other), v.theirs.Raw(other))
	})
}

func inProgress(r *beads.Record) bool { return r.Text(beads.Status) == beads.StatusInProgress }

// dropped is the warning about a value that is not that of the side that is
// taken.
func (v versions) dropped(k beads.Key, taken *beads.Record, why string) string {
	other := v.ours
	if taken == v.ours {
		other = v.theirs
	}
	return fmt.Sprintf("both changed %s: kept %s, %s; dropped %s", k, quoted(taken, k), why, quoted(other, k))
}

// quoted is a value as a message shows it.
func quoted(r *beads.Record, k beads.Key) string {
	if len(r.Raw(k)) == 0 {
		return "none"
	}
	const most = 60
	runes := []rune(visible.OneLine(valueText(r, k)))
	if len(runes) > most {
		return strconv.Quote(string(runes[:most])) + "…"
	}
	return strconv.Quote(string(runes))
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
			return value{questions: []Question{v.asked(k)}}
		}
		*side.into = r
	}
	result := inner.ours
	var questions []Question
	for _, name := range inner.keys() {
		b, o, t := inner.base.Raw(name), inner.ours.Raw(name), inner.theirs.Raw(name)
		taken := o
		key := string(k) + "." + string(name)
		switch {
		case equal(o, t), !v.unknown && equal(b, t):
		case !v.unknown && equal(b, o):
			taken = t
		case v.answers[key] != "":
			taken = inner.of(v.answers[key]).Raw(name)
		default:
			questions = append(questions, Question{Key: key, Ours: valueText(inner.ours, name), Theirs: valueText(inner.theirs, name),
				reason: "both changed " + string(name) + " in " + string(k)})
		}
		var err error
		if result, err = put(result, name, taken); err != nil {
			return value{questions: []Question{v.asked(k)}}
		}
	}
	return value{raw: result.Bytes(), questions: questions}
}

// settle is the side whose state counts, with what is to be said of it. Without
// a base nobody knows which side changed it.
func (v versions) settle() (*beads.Record, value) {
	if v.unknown && !sameState(v.ours, v.theirs) {
		if side := v.answers[string(beads.Status)]; side != "" {
			return v.of(side), value{}
		}
		return v.ours, value{questions: []Question{v.asked(beads.Status)}}
	}
	settled := v.winner()
	if v.bothChanged(beads.CloseReason) && closed(v.ours) && closed(v.theirs) {
		return settled, value{warning: v.dropped(beads.CloseReason, settled, "the later")}
	}
	return settled, value{warning: v.deletion(settled)}
}

// deletion says what became of an issue that one side deleted while the other changed it,
// which nobody sees in a list; "" for any other.
func (v versions) deletion(settled *beads.Record) string {
	deleted := func(r *beads.Record) bool {
		return beads.IsClosed(r.Text(beads.Status)) && len(r.Raw("deleted_at")) > 0
	}
	sides := "deleted in ours, changed in theirs"
	switch {
	case deleted(v.base), deleted(v.ours) == deleted(v.theirs):
		return ""
	case deleted(v.theirs):
		sides = "changed in ours, deleted in theirs"
	}
	if deleted(settled) {
		return sides + ": it stays deleted"
	}
	return sides + ": it is not deleted, and its status is " + settled.Text(beads.Status)
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

func closed(r *beads.Record) bool { return beads.IsClosed(r.Text(beads.Status)) }

func sameState(a, b *beads.Record) bool {
	return !slices.ContainsFunc(state, func(k beads.Key) bool { return !equal(a.Raw(k), b.Raw(k)) })
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
