package merge

import (
	"bytes"

	"stig/internal/beads"
)

// deepestMember is how many levels of objects are merged member by member; deeper values count
// as a whole.
const deepestMember = 8

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// object merges the members of an object, such as metadata.
func (v versions) object(k beads.Key) value {
	inner, ok := v.within(k)
	if !ok {
		return value{questions: []Question{v.asked(k)}}
	}
	result, questions, err := inner.members(string(k), 1, inner.ask)
	if err != nil {
		return value{questions: []Question{v.asked(k)}}
	}
	return value{raw: result.Bytes(), questions: questions}
}

// within returns the versions of the object under a key. It is false if one is unreadable.
func (v versions) within(k beads.Key) (inner versions, ok bool) {
	inner = versions{unknown: v.unknown, answers: v.answers}
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
			return versions{}, false
		}
		*side.into = r
	}
	return inner, true
}

// decider decides a member of an object; path is the object's name. An empty reason means no
// question.
type decider func(v versions, path string, member beads.Key) (raw []byte, q Question)

// ask leaves a member to a person, unless there is an answer.
func (versions) ask(v versions, path string, member beads.Key) ([]byte, Question) {
	q := v.asked(member)
	if path != "" {
		q.Key, q.reason = path+"."+q.Key, q.reason+" in "+path
	}
	if side := v.answers[q.Key]; side != "" {
		return v.of(side).Raw(member), Question{}
	}
	return v.ours.Raw(member), q
}

// members merges objects member by member, recursively.
func (v versions) members(path string, depth int, decide decider) (*beads.Record, []Question, error) {
	result := v.ours
	var questions []Question
	for _, k := range v.keys() {
		merged, ok := v.plain(k)
		if !ok {
			merged = v.member(path, k, depth, decide)
		}
		questions = append(questions, merged.questions...)
		var err error
		if result, err = put(result, k, merged.raw); err != nil {
			return nil, nil, err
		}
	}
	return result, questions, nil
}

// member merges a member that both sides changed.
func (v versions) member(path string, k beads.Key, depth int, decide decider) value {
	if isObject(v.ours.Raw(k)) && isObject(v.theirs.Raw(k)) && depth < deepestMember {
		name := string(k)
		if path != "" {
			name = path + "." + name
		}
		if inner, ok := v.within(k); ok {
			if result, questions, err := inner.members(name, depth+1, decide); err == nil {
				return value{raw: result.Bytes(), questions: questions}
			}
		}
	}
	raw, q := decide(v, path, k)
	if q.reason == "" {
		return value{raw: raw}
	}
	return value{raw: raw, questions: []Question{q}}
}

// united merges two versions of a list element, such as a dependency row, member by member. For
// a member that both changed, swapping the sides changes nothing.
func united(base, ours, theirs []byte) []byte {
	switch {
	case equal(base, theirs), equal(ours, theirs):
		return ours
	case equal(base, ours):
		return theirs
	}
	first, second := ours, theirs
	if bytes.Compare(second, first) > 0 {
		first, second = second, first
	}
	if !isObject(first) || !isObject(second) {
		return first
	}
	if !isObject(base) {
		base = []byte("{}")
	}
	var v versions
	for _, side := range []struct {
		raw  []byte
		into **beads.Record
	}{{base, &v.base}, {first, &v.ours}, {second, &v.theirs}} {
		r, err := beads.ParseRecord(side.raw)
		if err != nil {
			return first
		}
		*side.into = r
	}
	result, _, err := v.members("", 1, func(v versions, _ string, k beads.Key) ([]byte, Question) {
		if bytes.Compare(v.theirs.Raw(k), v.ours.Raw(k)) > 0 {
			return v.theirs.Raw(k), Question{}
		}
		return v.ours.Raw(k), Question{}
	})
	if err != nil {
		return first
	}
	return result.Bytes()
}
