package merge

import (
	"slices"
	"strings"
	"unicode/utf8"

	"stig/internal/beads"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// document is the notes of one version.
type document struct {
	doc    *notes.Doc
	record *beads.Record
	side   Side
	prose  string              // the text outside sections
	bodies map[string][]string // of the sections with a name, in order
}

// documents are the notes of three versions. The result is lead with the changes of other
// spliced in.
type documents struct {
	base, lead, other document
	unknown           bool // the base is unknown
	answers           Answers
	prose             bool           // the answer about notes concerns prose
	lost              map[Side]*lost // what cannot stay in place
}

// notes merges notes that both sides changed. Its warning is something a person should check.
func (v versions) notes() value {
	d := documents{unknown: v.unknown, answers: v.answers, lost: map[Side]*lost{Ours: {}, Theirs: {}}}
	for _, side := range []struct {
		from *beads.Record
		into *document
		name string
	}{{v.base, &d.base, "before"}, {v.ours, &d.lead, "in ours"}, {v.theirs, &d.other, "in theirs"}} {
		if side.into.record = side.from; !side.into.read() {
			return v.wholeNotes("both changed notes, which are malformed " + side.name)
		}
	}
	d.lead.side, d.other.side = Ours, Theirs
	if d.lead.doc.Text() == "" || d.other.doc.Text() == "" {
		return v.wholeNotes("one side removed the notes, the other changed them")
	}
	text, questions, reason := d.merge(v)
	switch {
	case len(questions) > 0:
		return value{questions: questions}
	case reason != "":
		return v.wholeNotes(reason)
	}
	merged := value{raw: v.ours.Put(beads.Notes, text).Raw(beads.Notes)}
	if body := d.trail(); body != nil {
		merged.warning = unseen(body[0], body[1])
	}
	return merged
}

// wholeNotes is the question, or its answer, about notes that cannot be merged by section.
func (v versions) wholeNotes(reason string) value {
	if side := v.answers[string(beads.Notes)]; side != "" {
		return value{raw: v.of(side).Raw(beads.Notes)}
	}
	q := v.asked(beads.Notes)
	q.reason = reason
	return value{questions: []Question{q}}
}

// merge merges the text outside sections, and section by section; a reason means that the notes
// can only be taken as a whole.
func (d *documents) merge(v versions) (text string, questions []Question, reason string) {
	wantProse, appended, questions := d.decideProse(v)
	result, want, more, reason := d.mergeSections(v)
	if reason != "" {
		return "", nil, reason
	}
	if questions = append(questions, more...); len(questions) > 0 {
		return "", questions, ""
	}
	if result, reason = d.finish(result, appended, want); reason == "" && !holds(result, wantProse, want) {
		reason = "both changed notes, and merged they would not read as either side wrote them"
	}
	switch {
	case reason == "":
		return result.Text(), nil, ""
	case d.prose: // the answer did not concern the whole notes
		return "", []Question{{Key: Whole, Ours: string(v.ours.Bytes()), Theirs: string(v.theirs.Bytes()), reason: reason}}, ""
	}
	return "", nil, reason
}

// finish adds what follows from the sections, or is new in neither.
func (d *documents) finish(doc *notes.Doc, appended string, want map[string][]string) (_ *notes.Doc, reason string) {
	if appended != "" {
		if doc, reason = appendProse(doc, appended); reason != "" {
			return nil, reason
		}
	}
	if doc, reason = d.settleEscalation(doc); reason != "" {
		return nil, reason
	}
	return d.keepLost(doc, want)
}

// trail returns the trails of questions and answers if both sides changed them.
func (d *documents) trail() []string {
	const name = signals.EscalationSection
	b, l, o := d.base.bodies[name], d.lead.bodies[name], d.other.bodies[name]
	if len(l) != 1 || len(o) != 1 || slices.Equal(b, l) || slices.Equal(b, o) {
		return nil
	}
	return []string{l[0], o[0]}
}

// read parses the notes; it is false for notes that cannot be edited.
func (d *document) read() bool {
	text := d.record.Text(beads.Notes)
	d.doc = notes.Parse(text)
	d.prose = visible.LF(d.doc.Outside())
	d.bodies = bodies(d.doc)
	return len(d.doc.Malformed()) == 0 && !strings.ContainsRune(text, utf8.RuneError)
}

func bodies(doc *notes.Doc) map[string][]string {
	all := map[string][]string{}
	for _, s := range doc.Sections() {
		all[s.Name] = append(all[s.Name], visible.LF(doc.Body(s)))
	}
	return all
}

// decideProse chooses as lead the side whose text outside sections counts, and returns the
// resulting text. If both sides appended to it, other's addition follows, older side first.
func (d *documents) decideProse(v versions) (want, appended string, questions []Question) {
	b, o, t := d.base.prose, d.lead.prose, d.other.prose
	switch {
	case o == t, !d.unknown && t == b:
		return o, "", nil
	case !d.unknown && o == b:
		d.swap()
		return t, "", nil
	}
	answer := d.answers[string(beads.Notes)]
	if answer == Theirs || answer == "" && v.newer() == d.lead.record {
		d.swap()
	}
	if answer != "" {
		d.prose = true
		return d.lead.prose, "", nil
	}
	appended, ok := d.other.appendedTo(b)
	if _, both := d.lead.appendedTo(b); !ok || !both || d.unknown {
		return "", "", []Question{{Key: string(beads.Notes), Ours: o, Theirs: t, reason: "both changed notes outside of sections"}}
	}
	return d.lead.prose + "\n\n" + appended, appended, nil
}

func (d *documents) swap() { d.lead, d.other = d.other, d.lead }

// appendedTo is what was appended at the very end of the notes.
func (d *document) appendedTo(before string) (string, bool) {
	rest, ok := strings.CutPrefix(d.prose, before)
	if !ok || before != "" && !strings.HasPrefix(rest, "\n") {
		return "", false
	}
	rest = strings.TrimSpace(rest)
	return rest, rest != "" && strings.HasSuffix(strings.TrimSpace(visible.LF(lastGap(d.doc))), rest)
}

// lastGap is the text after the last section.
func lastGap(doc *notes.Doc) string {
	sections := doc.Sections()
	if len(sections) == 0 {
		return doc.Text()
	}
	return doc.Text()[sections[len(sections)-1].End:]
}

func appendProse(doc *notes.Doc, text string) (*notes.Doc, string) {
	body := strings.TrimRight(doc.Text(), "\r\n")
	eol := doc.Newline()
	text = eol + eol + strings.ReplaceAll(text, "\n", eol)
	if strings.HasSuffix(doc.Text(), "\n") {
		text += eol
	}
	result, err := doc.Apply(notes.Splice{Span: notes.Span{Start: len(body), End: len(doc.Text())}, Text: text})
	if err != nil {
		return nil, "both appended to notes: " + err.Error()
	}
	return result, ""
}

// mergeSections sets the sections of lead to their merged bodies, and returns those; a reason
// means that the notes can only be taken as a whole.
func (d *documents) mergeSections(v versions) (_ *notes.Doc, want map[string][]string, questions []Question, reason string) {
	want = map[string][]string{}
	result := d.lead.doc
	for _, name := range d.names() {
		b, l, o := d.base.bodies[name], d.lead.bodies[name], d.other.bodies[name]
		want[name] = l
		if slices.Equal(l, o) || !d.unknown && slices.Equal(b, o) || d.unknown && len(o) == 0 {
			continue
		}
		if len(b) > 1 || len(l) > 1 || len(o) > 1 {
			return nil, nil, nil, "both changed notes with several sections " + name
		}
		body := o
		if !d.unknown && !slices.Equal(b, l) || d.unknown && len(l) > 0 {
			var q Question
			if body, q = d.mergeSection(name, v); q.reason != "" {
				questions = append(questions, q)
				continue
			}
		}
		want[name] = body
		var err error
		if result, err = d.write(result, name, body); err != nil {
			return nil, nil, nil, "both changed notes: " + err.Error()
		}
	}
	return result, want, questions, ""
}

// names lists the names of sections in the order of lead, then of other.
func (d *documents) names() (names []string) {
	for _, doc := range []*notes.Doc{d.lead.doc, d.other.doc} {
		for _, s := range doc.Sections() {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// mergeSection merges a section that both changed; the question has a reason if there is one.
func (d *documents) mergeSection(name string, v versions) (body []string, q Question) {
	sides := map[Side][]string{d.lead.side: d.lead.bodies[name], d.other.side: d.other.bodies[name]}
	q = Question{Key: "notes:" + name, Ours: strings.Join(sides[Ours], ""), Theirs: strings.Join(sides[Theirs], "")}
	if side := d.answers[q.Key]; side != "" {
		return sides[side], Question{}
	}
	l, o := d.lead.bodies[name], d.other.bodies[name]
	if len(l) == 0 || len(o) == 0 {
		q.reason = "one side removed the section " + name + ", the other changed it"
		return nil, q
	}
	var merged string
	switch kind := signals.KindOf(name); kind.Union {
	case signals.Rows:
		merged, q.reason = d.mergeTable()
	case signals.Newer:
		newer, older := d.newer(v, kind.Date)
		merged = newer.bodies[name][0]
		d.lost[older.side].add(older.bodies[name][0], merged, kind.Date(older.doc))
	case signals.Parts:
		merged = uniteParts(l[0], o[0])
	default:
		q.reason = "both changed the section " + name
	}
	return []string{merged}, q
}

// newer is the side whose section has the later date; on a tie the side written last.
func (d *documents) newer(v versions, date func(*notes.Doc) string) (newer, older document) {
	lead, other := date(d.lead.doc), date(d.other.doc)
	if other > lead || other == lead && v.newer() == d.other.record {
		return d.other, d.lead
	}
	return d.lead, d.other
}

// write sets the body of the section with a name, or removes it.
func (d *documents) write(doc *notes.Doc, name string, body []string) (*notes.Doc, error) {
	_, there := doc.Live(name)
	switch {
	case len(body) == 0:
		return doc.Remove(name)
	case there:
		return doc.Replace(name, body[0])
	case name == signals.Section:
		return doc.Prepend(name, body[0])
	case isMerged(name):
		return d.insertMerged(doc, name, body[0])
	}
	if at := d.place(doc, name); at >= 0 {
		return insertAt(doc, at, name, body[0])
	}
	return doc.Replace(name, body[0])
}

// place is where a new section of other goes: at the end (-1), or before one that is new in
// lead too: before its successor in other, else after its predecessor, by name, so that
// swapping the sides changes nothing.
func (d *documents) place(doc *notes.Doc, name string) int {
	sections := doc.Sections()
	if strings.TrimSpace(lastGap(doc)) != "" {
		return -1
	}
	first := len(sections)
	for first > 0 {
		before := sections[first-1].Name
		if len(d.base.bodies[before]) > 0 || before == signals.Section || isMerged(before) {
			break
		}
		first--
	}
	behind, ahead := d.around(name)
	for i := first; i < len(sections); i++ {
		if slices.Contains(behind, sections[i].Name) {
			first = i + 1
		}
	}
	for _, s := range sections[first:] {
		if slices.Contains(ahead, s.Name) || s.Name > name {
			return s.Start
		}
	}
	return -1
}

// around lists the sections of other before and after a section.
func (d *documents) around(name string) (behind, ahead []string) {
	list := &behind
	for _, s := range d.other.doc.Sections() {
		if s.Name == name {
			list = &ahead
			continue
		}
		*list = append(*list, s.Name)
	}
	return behind, ahead
}

// holds checks the result: exactly what was intended. The signal table is checked elsewhere,
// since its escalation row follows from the section.
func holds(doc *notes.Doc, wantProse string, want map[string][]string) bool {
	if len(doc.Malformed()) > 0 || visible.OneLine(doc.Outside()) != visible.OneLine(wantProse) {
		return false
	}
	got := bodies(doc)
	for name, list := range want {
		if name == signals.Section {
			if len(got[name]) != len(list) {
				return false
			}
			continue
		}
		if !slices.EqualFunc(got[name], list, func(a, b string) bool { return visible.OneLine(a) == visible.OneLine(b) }) {
			return false
		}
	}
	return true
}
