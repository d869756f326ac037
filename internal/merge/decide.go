package merge

import (
	"cmp"

	"stig/internal/beads"
)

// decision is the result for a line: kept with a text, dropped, or left to a person with
// questions, for a reason.
type decision struct {
	keep      bool
	text      string
	reason    string
	questions []Question
	answers   Answers // given before
	warning   string
}

func take(l *line) decision {
	if l == nil {
		return decision{}
	}
	return decision{keep: true, text: l.text}
}

func same(a, b *line) bool {
	return a == b || a != nil && b != nil && a.text == b.text
}

// respelled reports whether a line has its former content in other bytes, as written by tools
// that rewrite the whole file.
func respelled(before, after *line) bool {
	return equal([]byte(before.text), []byte(after.text))
}

// trio is a line in the three stores; nil is a missing line.
type trio struct {
	base, ours, theirs *line
	unknown            bool // the base is unknown
	answers            Answers
}

// decide is the three-way merge of one line.
func (l trio) decide() decision {
	d := l.judge()
	d.answers = l.answers
	if one := cmp.Or(l.ours, l.theirs); d.reason != "" && one.id == "" && one.about != "" {
		d.reason = one.about + ": " + d.reason
	}
	return d
}

func (l trio) judge() decision {
	b, o, t := l.base, l.ours, l.theirs
	switch {
	case same(o, t), !l.unknown && same(b, t):
		return take(o)
	case !l.unknown && same(b, o):
		return take(t)
	case l.unknown && (o == nil || t == nil):
		return oneSided(o, t)
	case l.answers[Whole] != "":
		return l.whole(l.answers[Whole])
	case o == nil && respelled(b, t), t == nil && respelled(b, o):
		return decision{}
	case o == nil:
		return l.left("deleted in ours, changed in theirs")
	case t == nil:
		return l.left("changed in ours, deleted in theirs")
	}
	return l.both()
}

// oneSided keeps a line that one side has, if it is unknown whether the other side deleted it
// or never had it.
func oneSided(o, t *line) decision {
	d := take(o)
	if o == nil {
		d = take(t)
	}
	if o == nil && t.id != "" || t == nil && o.id != "" {
		d.warning = "only one side has it, and the markers do not say whether the other deleted it: kept"
	}
	return d
}

// both merges a line that both sides have and changed.
func (l trio) both() decision {
	ours, err := beads.ParseRecord([]byte(l.ours.text))
	if err != nil {
		return l.left("both changed it, and ours is unreadable: " + err.Error())
	}
	theirs, err := beads.ParseRecord([]byte(l.theirs.text))
	if err != nil {
		return l.left("both changed it, and theirs is unreadable: " + err.Error())
	}
	before := "{}"
	if l.base != nil {
		before = l.base.text
	} else if l.ours.id != "" && !ours.Origin().Together(theirs.Origin()) && !(l.unknown && ours.Text(beads.Title) == theirs.Text(beads.Title)) {
		return l.left("both created an issue with this id")
	}
	base, err := beads.ParseRecord([]byte(before))
	if err != nil {
		return l.left("both changed it, and its former line is unreadable: " + err.Error())
	}
	v := versions{base: base, ours: ours, theirs: theirs, unknown: l.unknown, answers: l.answers}
	if l.ours.id == "" {
		return noIssue(v)
	}
	return issue(v)
}

// noIssue merges a line that is not an issue, such as a memory, key by key.
func noIssue(v versions) decision {
	result, questions, err := v.members("", 0, v.ask)
	switch {
	case err != nil:
		return v.left(err)
	case len(questions) > 0:
		return left(questions...)
	}
	return decision{keep: true, text: string(result.Bytes())}
}

// left leaves the whole line to a person.
func (l trio) left(reason string) decision {
	text := func(l *line) string {
		if l == nil {
			return ""
		}
		return l.text
	}
	return left(Question{Key: Whole, Ours: text(l.ours), Theirs: text(l.theirs), reason: reason})
}

// whole is the line of one side, with the later updated_at of the two, so that a program with
// its own copy considers it newer than both.
func (l trio) whole(side Side) decision {
	taken, other := l.ours, l.theirs
	if side == Theirs {
		taken, other = other, taken
	}
	if taken == nil || other == nil {
		return take(taken)
	}
	mine, err := beads.ParseRecord([]byte(taken.text))
	if err != nil {
		return take(taken)
	}
	yours, err := beads.ParseRecord([]byte(other.text))
	if err != nil || !stamp(yours).After(stamp(mine)) {
		return take(taken)
	}
	if dated, err := put(mine, beads.UpdatedAt, yours.Raw(beads.UpdatedAt)); err == nil {
		return decision{keep: true, text: string(dated.Bytes())}
	}
	return take(taken)
}
