package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/notes"
	"stig/signals"
)

// part is a question or an answer as it is written. One without a date has
// that of the part before it, so that they stay together.
type part struct {
	date, text string
	answers    bool
}

func partsOf(body string) (list []part) {
	headings := slices.DeleteFunc(notes.Parts(body), func(p notes.Part) bool { return p.Level > 2 })
	add := func(date, text, heading string) {
		if text = strings.TrimSpace(text); text != "" {
			answers := strings.HasPrefix(strings.ToLower(heading), "resolved")
			list = append(list, part{date, text, answers})
		}
	}
	first := len(body)
	if len(headings) > 0 {
		first = headings[0].Start
	}
	add("", body[:first], "")
	date := ""
	for i, h := range headings {
		end := len(body)
		if i+1 < len(headings) {
			end = headings[i+1].Start
		}
		if found := dateIn(h.Heading); found != "" {
			date = found
		}
		add(date, body[h.Start:end], h.Heading)
	}
	return list
}

// dateIn is the first date in a heading.
func dateIn(heading string) string {
	const size = len("2006-01-02")
	for i := 0; i+size <= len(heading); i++ {
		if isDate(heading[i : i+size]) {
			return heading[i : i+size]
		}
	}
	return ""
}

// unseen says which question of one side the union has before an answer of the
// other side, which counts as an answer to it and was none.
func unseen(ours, theirs string) string {
	o, t := partsOf(ours), partsOf(theirs)
	sides := map[string]int{} // 1 only ours, 2 only theirs, 3 both
	for i, list := range [][]part{o, t} {
		for _, p := range list {
			sides[p.text] |= 1 << i
		}
	}
	asked := map[int]part{}
	for _, p := range partsOf(uniteParts(ours, theirs)) {
		side := sides[p.text]
		if question, ok := asked[3-side]; p.answers && ok {
			return fmt.Sprintf("the answer of %s counts for the question of %s too, which it has not seen: ask again if that is still open", p.date, question.date)
		}
		switch {
		case !p.answers:
			asked[side] = p
		case side == 3:
			clear(asked)
		default:
			delete(asked, side)
		}
	}
	return ""
}

// uniteParts unites the trails of both sides in the order of their dates, each
// part once, without changing the order on either side.
func uniteParts(ours, theirs string) string {
	o, t := partsOf(ours), partsOf(theirs)
	shared := func(p part, list []part) bool {
		return slices.ContainsFunc(list, func(q part) bool { return q.text == p.text })
	}
	var texts []string
	take := func(list *[]part) {
		if text := (*list)[0].text; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		*list = (*list)[1:]
	}
	for len(o) > 0 && len(t) > 0 {
		oursWaits, theirsWaits := shared(o[0], t), shared(t[0], o)
		switch {
		case o[0].text == t[0].text:
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

// earlier tells whether the first part of a goes before that of b. Of one day
// the side with an answer goes first: who answered there has not seen the
// question of the other side.
func earlier(a, b []part) bool {
	if a[0].date != b[0].date {
		return a[0].date < b[0].date
	}
	if x, y := answeredThatDay(a), answeredThatDay(b); x != y {
		return x
	}
	return a[0].text < b[0].text
}

func answeredThatDay(list []part) bool {
	for _, p := range list {
		if p.date != list[0].date {
			return false
		}
		if p.answers {
			return true
		}
	}
	return false
}

// settleEscalation brings the escalation row to what the united trail amounts
// to, when both sides changed either.
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
	if len(g.table.Header.Cells) > 2 {
		cells[2] = cmp.Or(d.dateOf(want, trail[len(trail)-1].Date), "—")
	}
	result, err := doc.Apply(g.table.SetCells(doc, now.at, cells))
	if err != nil {
		return nil, "both changed the signals: " + err.Error()
	}
	return result, ""
}

// escalated tells whether a side changed the trail or the row.
func (d *documents) escalated(side document) bool {
	row := func(doc *notes.Doc) row {
		g, _ := gridOf(doc) // without a table there is no row
		r, _ := g.row(signals.Escalation.String())
		return r
	}
	trail := signals.EscalationSection
	return !slices.Equal(d.base.bodies[trail], side.bodies[trail]) || !sameRow(row(d.base.doc), row(side.doc))
}

// dateOf is the date at which a side gave the escalation row this value, else
// that of the last part.
func (d *documents) dateOf(value, last string) string {
	for _, side := range []document{d.lead, d.other} {
		g, _ := gridOf(side.doc) // without a table there is no row
		if r, ok := g.row(signals.Escalation.String()); ok && r.value == value && r.date > last {
			last = r.date
		}
	}
	return last
}
