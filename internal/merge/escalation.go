package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/notes"
	"stig/signals"
)

// unseen finds questions of one side that the union has before an answer of the other side to
// all: it counts as their answer although its author never saw them. An answer that names its
// question counts for no other.
func unseen(ours, theirs string) string {
	o, t := signals.Passages(ours), signals.Passages(theirs)
	sides := map[string]int{} // 1 only ours, 2 only theirs, 3 both
	for i, list := range [][]signals.Passage{o, t} {
		for _, p := range list {
			sides[p.Text] |= 1 << i
		}
	}
	var asked []signals.Passage // not followed by an answer so far
	for _, p := range signals.Passages(uniteParts(ours, theirs)) {
		switch {
		case !p.Answers && p.Hash != "" && !p.Again:
			asked = append(asked, p)
		case !p.Answers:
		case p.Hash != "":
			asked = slices.DeleteFunc(asked, func(q signals.Passage) bool { return q.Hash == p.Hash })
		default:
			for _, q := range asked {
				if sides[q.Text] == 3-sides[p.Text] {
					return fmt.Sprintf("the answer of %s also counts for the question of %s, which its author had not seen: ask again if that is still open", p.Date, q.Date)
				}
			}
			asked = nil
		}
	}
	return ""
}

// uniteParts merges the trails of both sides by date, each part once, without changing the
// order within either side.
func uniteParts(ours, theirs string) string {
	o, t := signals.Passages(ours), signals.Passages(theirs)
	shared := func(p signals.Passage, list []signals.Passage) bool {
		return slices.ContainsFunc(list, func(q signals.Passage) bool { return q.Text == p.Text })
	}
	var texts []string
	take := func(list *[]signals.Passage) {
		if text := (*list)[0].Text; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		*list = (*list)[1:]
	}
	for len(o) > 0 && len(t) > 0 {
		oursWaits, theirsWaits := shared(o[0], t), shared(t[0], o)
		switch {
		case o[0].Text == t[0].Text:
			take(&o)
			t = t[1:]
		case oursWaits && !theirsWaits:
			take(&t)
		case theirsWaits && !oursWaits:
			take(&o)
		case earlier(t, o):
			take(&t)
		default:
			take(&o)
		}
	}
	for len(o) > 0 {
		take(&o)
	}
	for len(t) > 0 {
		take(&t)
	}
	return strings.Join(texts, "\n\n")
}

// earlier reports whether the first part of a goes before that of b. On the same day the side
// with an answer goes first: its author has not seen the other side's question.
func earlier(a, b []signals.Passage) bool {
	if a[0].Date != b[0].Date {
		return a[0].Date < b[0].Date
	}
	if x, y := answeredThatDay(a), answeredThatDay(b); x != y {
		return x
	}
	return a[0].Text < b[0].Text
}

func answeredThatDay(list []signals.Passage) bool {
	for _, p := range list {
		if p.Date != list[0].Date {
			return false
		}
		if p.Answers {
			return true
		}
	}
	return false
}

// settleEscalation sets the escalation row to match the merged trail, if both sides changed
// either.
func (d *documents) settleEscalation(doc *notes.Doc) (*notes.Doc, string) {
	trail := signals.Escalations(doc)
	if len(trail) == 0 || !d.escalated(d.lead) || !d.escalated(d.other) {
		return doc, ""
	}
	g, reason := gridOf(doc)
	if reason != "" || g.table == nil {
		return doc, reason
	}
	now, ok := g.row(signals.Escalation.String())
	want := signals.Standing(trail)
	if !ok || now.value == want {
		return doc, ""
	}
	cells := map[int]string{1: want}
	if g.dated() {
		cells[2] = cmp.Or(d.dateOf(want, trail[len(trail)-1].Date), signals.NoDate)
	}
	result, err := doc.Apply(g.table.SetCells(doc, now.at, cells))
	if err != nil {
		return nil, "both changed the signals: " + err.Error()
	}
	return result, ""
}

// escalated reports whether a side changed the trail or the row.
func (d *documents) escalated(side document) bool {
	row := func(doc *notes.Doc) row {
		g, _ := gridOf(doc) // without a table there is no row
		r, _ := g.row(signals.Escalation.String())
		return r
	}
	trail := signals.EscalationSection
	return !slices.Equal(d.base.bodies[trail], side.bodies[trail]) || !sameRow(row(d.base.doc), row(side.doc))
}

// dateOf is the date at which a side set the escalation row to this value, else that of the
// last part.
func (d *documents) dateOf(value, last string) string {
	for _, side := range []document{d.lead, d.other} {
		g, _ := gridOf(side.doc) // without a table there is no row
		if r, ok := g.row(signals.Escalation.String()); ok && r.value == value && r.date > last {
			last = r.date
		}
	}
	return last
}
