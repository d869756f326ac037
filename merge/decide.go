package merge

import (
	"stig/beads"
)

// decision is what becomes of a line: kept with a text, dropped, or left to a
// person for a reason.
type decision struct {
	keep    bool
	text    string
	reason  string
	warning string
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

// respelled tells whether a line says what it said before in other bytes, as
// tools that write the whole file leave it.
func respelled(before, after *line) bool {
	return equal([]byte(before.text), []byte(after.text))
}

// decide is the three-way merge of one line; nil is a line that is not there.
func decide(b, o, t *line) decision {
	switch {
	case same(o, t), same(b, t):
		return take(o)
	case same(b, o):
		return take(t)
	case o == nil && respelled(b, t), t == nil && respelled(b, o):
		return decision{}
	case o == nil:
		return decision{reason: "deleted in ours, changed in theirs"}
	case t == nil:
		return decision{reason: "changed in ours, deleted in theirs"}
	}
	ours, err := beads.ParseRecord([]byte(o.text))
	if err != nil {
		return decision{reason: "both changed it, and ours cannot be read: " + err.Error()}
	}
	theirs, err := beads.ParseRecord([]byte(t.text))
	if err != nil {
		return decision{reason: "both changed it, and theirs cannot be read: " + err.Error()}
	}
	before := "{}"
	if b != nil {
		before = b.text
	} else if !ours.Birth().Together(theirs.Birth()) {
		return decision{reason: "both made an issue with this id"}
	}
	base, err := beads.ParseRecord([]byte(before))
	if err != nil {
		return decision{reason: "both changed it, and what it was cannot be read: " + err.Error()}
	}
	if o.id == "" {
		return decision{reason: "both changed a line that is no issue"}
	}
	return issue(versions{base, ours, theirs})
}
