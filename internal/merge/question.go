package merge

import (
	"maps"
	"slices"
	"strings"

	"stig/internal/beads"
)

// Side is one of the two versions that a merge combines.
type Side string

// The sides, as named in answers.
const (
	Ours   Side = "ours"
	Theirs Side = "theirs"
)

// Whole is the key of a question about a whole line.
const Whole = "all"

// Question is a value that both sides changed and that a merge does not decide.
type Question struct {
	// Key is what an answer names: a key of the issue, KEY.MEMBER for an object, notes:SECTION,
	// notes for the text outside sections, or Whole.
	Key    string `json:"key"`
	Ours   string `json:"ours"` // the value there, "" where there is none
	Theirs string `json:"theirs"`

	reason string
}

// Answers choose a side for the keys of questions.
type Answers map[string]Side

// changedBoth begins the reasons that differ only in what was changed.
const changedBoth = "both changed "

// asked is the question about a key of the line.
func (v versions) asked(k beads.Key) Question {
	return Question{Key: string(k), Ours: valueText(v.ours, k), Theirs: valueText(v.theirs, k), reason: changedBoth + string(k)}
}

// valueText formats a value for people: a string decoded, another value raw.
func valueText(r *beads.Record, k beads.Key) string {
	raw := r.Raw(k)
	if len(raw) > 0 && raw[0] == '"' {
		return r.Text(k)
	}
	return string(raw)
}

// of is the version of a side.
func (v versions) of(s Side) *beads.Record {
	if s == Theirs {
		return v.theirs
	}
	return v.ours
}

// left is a decision that leaves questions to a person.
func left(questions ...Question) decision {
	var changed, other []string
	for _, q := range questions {
		if what, ok := strings.CutPrefix(q.reason, changedBoth); ok {
			changed = append(changed, what)
		} else if !slices.Contains(other, q.reason) {
			other = append(other, q.reason)
		}
	}
	if len(changed) > 0 {
		other = slices.Insert(other, 0, changedBoth+strings.Join(changed, ", "))
	}
	return decision{reason: strings.Join(other, "; "), questions: questions}
}

// keys lists the keys in order.
func (a Answers) keys() []string { return slices.Sorted(maps.Keys(a)) }

// and combines these answers with newer ones, which win.
func (a Answers) and(newer Answers) Answers {
	all := Answers{}
	maps.Copy(all, a)
	maps.Copy(all, newer)
	return all
}
