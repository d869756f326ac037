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
	unknown            bool // the base is unknown
	answers            Answers
}

// texts are the keys with considered text: the newer version is not always the better one.
var texts = []beads.Key{beads.Description, beads.Design, beads.AcceptanceCriteria}

// derived are the keys that programs maintain, such as a count or a hash. They follow the newer
// side.
var derived = []beads.Key{
	"_type", "_schema", "started_at", "source_system", "source_repo", "source_repo_path",
	"source_formula", "source_location", "compaction_level", "compacted_at",
	"compacted_at_commit", "original_size", "content_hash", "last_activity",
	"dependency_count", "dependent_count", "comment_count",
}

// value is the result for a key.
type value struct {
	raw       []byte // nil if the key is removed
	questions []Question
	warning   string
}

// issue merges key by key into ours.
func issue(v versions) decision {
	result := v.ours
	c, status := v.closure()
	questions, warnings := status.questions, []string{status.warning}
	for _, k := range v.keys() {
		var merged value
		switch {
		case k == beads.Status:
			merged = value{raw: status.raw}
		case slices.Contains(closing, k):
			merged = c.merge(k)
		default:
			merged = v.merge(k, c.settled)
		}
		questions, warnings = append(questions, merged.questions...), append(warnings, merged.warning)
		var err error
		if result, err = put(result, k, merged.raw); err != nil {
			return v.left(err)
		}
	}
	if len(questions) > 0 {
		return left(questions...)
	}
	result, err := c.keepLost(result)
	if err != nil {
		return v.left(err)
	}
	warnings = slices.DeleteFunc(append(warnings, c.warning()), func(text string) bool { return text == "" })
	return decision{keep: true, text: string(result.Bytes()), warning: strings.Join(warnings, "; ")}
}

// left leaves the whole line to a person.
func (v versions) left(err error) decision {
	return left(Question{Key: Whole, Ours: string(v.ours.Bytes()), Theirs: string(v.theirs.Bytes()), reason: err.Error()})
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

// put is PutRaw that returns the record itself if the bytes are the same.
func put(r *beads.Record, k beads.Key, raw []byte) (*beads.Record, error) {
	if bytes.Equal(r.Raw(k), raw) {
		return r, nil
	}
	return r.PutRaw(k, raw)
}

// none reports whether a value counts as absent.
func none(raw []byte) bool { return beads.Meaning(raw) == "" }

// plain is the value of a key that needs no decision: that of the side that changed it. What
// one side removed and the other changed stays. It is false if the sides have different values.
func (v versions) plain(k beads.Key) (value, bool) {
	b, o, t := v.base.Raw(k), v.ours.Raw(k), v.theirs.Raw(k)
	switch {
	case equal(o, t):
		return value{raw: o}, true
	case v.unknown:
		return value{}, false
	case equal(b, t):
		return value{raw: o}, true
	case equal(b, o):
		return value{raw: t}, true
	case none(o):
		return value{raw: t, warning: fmt.Sprintf("%s: removed in ours and changed in theirs: kept %s", k, quoted(v.theirs, k))}, true
	case none(t):
		return value{raw: o, warning: fmt.Sprintf("%s: changed in ours and removed in theirs: kept %s", k, quoted(v.ours, k))}, true
	}
	return value{}, false
}

// merge merges one key unrelated to closing; settled is the side whose status counts.
func (v versions) merge(k beads.Key, settled *beads.Record) value {
	switch {
	case k == beads.UpdatedAt:
		return value{raw: v.newerOf(k)}
	case v.isList(k):
		return v.list(k)
	}
	if merged, ok := v.plain(k); ok {
		return merged
	}
	o, t := v.ours.Raw(k), v.theirs.Raw(k)
	switch {
	case k == beads.Notes:
		return v.notes()
	case isObject(o) && isObject(t):
		return v.object(k)
	case slices.Contains(derived, k):
		return value{raw: v.newerOf(k)}
	case v.answers[string(k)] != "":
		return value{raw: v.of(v.answers[string(k)]).Raw(k)}
	case k == beads.Assignee && closed(settled) && !equal(v.ours.Raw(beads.Status), v.theirs.Raw(beads.Status)):
		return value{raw: settled.Raw(k), warning: v.dropped(k, settled, "who closed it")}
	case v.follows(k):
		return value{raw: v.newer().Raw(k), warning: v.dropped(k, v.newer(), "the later")}
	}
	return value{raw: o, questions: []Question{v.asked(k)}}
}

// newerOf is the value of the newer side, or of the side that has one.
func (v versions) newerOf(k beads.Key) []byte {
	if raw := v.newer().Raw(k); !none(raw) {
		return raw
	}
	return v.other(v.newer()).Raw(k)
}

// other is the side that is not this one.
func (v versions) other(side *beads.Record) *beads.Record {
	if side == v.ours {
		return v.theirs
	}
	return v.ours
}

// follows reports whether a key changed by both sides follows the newer side: updated_at says
// something about a key only if the sides differ in nothing else. Considered text is a question
// anyway, and so is an issue that two workers claim.
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

// dropped is the warning about a value from the side that loses.
func (v versions) dropped(k beads.Key, taken *beads.Record, why string) string {
	return fmt.Sprintf("both changed %s: kept %s, %s; dropped %s", k, quoted(taken, k), why, quoted(v.other(taken), k))
}

// quoted formats a value for a message.
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

// newer is the side with the later updated_at; on a tie the choice does not depend on which one
// is ours.
func (v versions) newer() *beads.Record {
	o, t := stamp(v.ours), stamp(v.theirs)
	if t.After(o) || t.Equal(o) && bytes.Compare(v.theirs.Bytes(), v.ours.Bytes()) > 0 {
		return v.theirs
	}
	return v.ours
}

func closed(r *beads.Record) bool { return beads.IsClosed(r.Text(beads.Status)) }

// equal compares the meaning of two values. Values that cannot be decoded without loss are
// compared as bytes.
func equal(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := beads.Meaning(a), beads.Meaning(b)
	return x == y && !strings.ContainsRune(x, utf8.RuneError)
}

// stamp is the updated_at of a version, zero if there is none.
func stamp(r *beads.Record) (t time.Time) {
	t, _ = r.Time(beads.UpdatedAt)
	return t
}
