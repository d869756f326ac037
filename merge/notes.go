package merge

import (
	"slices"
	"strings"
	"unicode/utf8"

	"stig/beads"
	"stig/notes"
	"stig/signals"
)

// document is the notes of one version.
type document struct {
	doc    *notes.Doc
	record *beads.Record
	prose  string              // what stands outside of sections
	bodies map[string][]string // of the sections of a name, in their order
}

// documents are the notes of three versions. The result is made of lead, into
// which what changed in other is spliced.
type documents struct{ base, lead, other document }

// notes merges notes that both sides changed; the reason is why it cannot, the
// warning what a person should look at all the same.
func (v versions) notes() (text, warning, reason string) {
	var d documents
	for _, side := range []struct {
		from *beads.Record
		into *document
		name string
	}{{v.base, &d.base, "before"}, {v.ours, &d.lead, "in ours"}, {v.theirs, &d.other, "in theirs"}} {
		if side.into.record = side.from; !side.into.read() {
			return "", "", "both changed notes, which are malformed " + side.name
		}
	}
	if d.lead.doc.Text() == "" || d.other.doc.Text() == "" {
		return "", "", "one side removed the notes, the other changed them"
	}
	wantProse, appended, reason := d.decideProse(v)
	if reason != "" {
		return "", "", reason
	}
	result, want, reason := d.mergeSections(v)
	if reason != "" {
		return "", "", reason
	}
	if appended != "" {
		if result, reason = appendProse(result, appended); reason != "" {
			return "", "", reason
		}
	}
	if result, reason = d.settleEscalation(result); reason != "" {
		return "", "", reason
	}
	if !holds(result, wantProse, want) {
		return "", "", "both changed notes, and together they would not read as either side wrote them"
	}
	if body := d.trail(); body != nil {
		warning = unseen(body[0], body[1])
	}
	return result.Text(), warning, ""
}

// trail gives the trails of questions and answers when both sides changed
// them.
func (d *documents) trail() []string {
	const name = signals.EscalationSection
	b, l, o := d.base.bodies[name], d.lead.bodies[name], d.other.bodies[name]
	if len(l) != 1 || len(o) != 1 || slices.Equal(b, l) || slices.Equal(b, o) {
		return nil
	}
	return []string{l[0], o[0]}
}

// read parses the notes; it is false for notes in which nothing can be placed.
func (d *document) read() bool {
	text := d.record.Text(beads.Notes)
	d.doc = notes.Parse(text)
	d.prose = unix(d.doc.Outside())
	d.bodies = bodies(d.doc)
	return len(d.doc.Malformed()) == 0 && !strings.ContainsRune(text, utf8.RuneError)
}

func bodies(doc *notes.Doc) map[string][]string {
	all := map[string][]string{}
	for _, s := range doc.Sections() {
		all[s.Name] = append(all[s.Name], unix(doc.Body(s)))
	}
	return all
}

func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// decideProse makes the side lead whose text outside of sections counts, and
// gives that text as it is to be. When both sides appended to it, what other
// appended is to follow, the older side first.
func (d *documents) decideProse(v versions) (want, appended, reason string) {
	b, o, t := d.base.prose, d.lead.prose, d.other.prose
	switch {
	case o == t, t == b:
		return o, "", ""
	case o == b:
		d.lead, d.other = d.other, d.lead
		return t, "", ""
	}
	if v.newer() == d.lead.record {
		d.lead, d.other = d.other, d.lead
	}
	appended, ok := d.other.appendedTo(b)
	if _, both := d.lead.appendedTo(b); !ok || !both {
		return "", "", "both changed notes outside of sections"
	}
	return d.lead.prose + "\n\n" + appended, appended, ""
}

// appendedTo is what the notes have at their very end, after the text that was
// there before.
func (d *document) appendedTo(before string) (string, bool) {
	rest, ok := strings.CutPrefix(d.prose, before)
	if !ok || before != "" && !strings.HasPrefix(rest, "\n") {
		return "", false
	}
	rest = strings.TrimSpace(rest)
	return rest, rest != "" && strings.HasSuffix(strings.TrimSpace(unix(lastGap(d.doc))), rest)
}

// lastGap is what stands after the last section.
func lastGap(doc *notes.Doc) string {
	sections := doc.Sections()
	if len(sections) == 0 {
		return doc.Text()
	}
	return doc.Text()[sections[len(sections)-1].End:]
}

func appendProse(doc *notes.Doc, text string) (*notes.Doc, string) {
	body := strings.TrimRight(doc.Text(), "\r\n")
	ending := doc.Text()[len(body):]
	eol := doc.Newline()
	if ending == "" {
		ending = eol
	}
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

// mergeSections brings the sections of lead to what they are to be, and gives
// those.
func (d *documents) mergeSections(v versions) (*notes.Doc, map[string][]string, string) {
	want := map[string][]string{}
	result := d.lead.doc
	for _, name := range d.names() {
		b, l, o := d.base.bodies[name], d.lead.bodies[name], d.other.bodies[name]
		want[name] = l
		if slices.Equal(l, o) || slices.Equal(b, o) {
			continue
		}
		if len(b) > 1 || len(l) > 1 || len(o) > 1 {
			return nil, nil, "both changed notes with several sections " + name
		}
		body := o
		if !slices.Equal(b, l) {
			var reason string
			if body, reason = d.mergeSection(name, v); reason != "" {
				return nil, nil, reason
			}
		}
		want[name] = body
		var err error
		if result, err = d.write(result, name, body); err != nil {
			return nil, nil, "both changed notes: " + err.Error()
		}
	}
	return result, want, ""
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

// mergeSection merges a section that both changed.
func (d *documents) mergeSection(name string, v versions) (body []string, reason string) {
	l, o := d.lead.bodies[name], d.other.bodies[name]
	if len(l) == 0 || len(o) == 0 {
		return nil, "one side removed the section " + name + ", the other changed it"
	}
	var merged string
	switch name {
	case signals.Section:
		merged, reason = d.mergeTable()
	case signals.EstimateSection:
		merged = d.newer(v, name, func(doc *notes.Doc) string {
			estimate, _ := signals.LastEstimate(doc)
			return estimate.Date
		})
	case signals.EvidenceSection:
		merged = d.newer(v, name, func(doc *notes.Doc) string {
			evidence, _ := signals.LastEvidence(doc)
			return evidence.Date
		})
	case signals.EscalationSection:
		merged = uniteParts(l[0], o[0])
	default:
		reason = "both changed the section " + name
	}
	return []string{merged}, reason
}

// newer is the section of that name with the later date; of two of one date that
// of the side written last. The other one stays in the history.
func (d *documents) newer(v versions, name string, date func(*notes.Doc) string) string {
	lead, other := date(d.lead.doc), date(d.other.doc)
	newer := d.lead
	if other > lead || other == lead && v.newer() == d.other.record {
		newer = d.other
	}
	return newer.bodies[name][0]
}

// write gives the section of a name its body, or none.
func (d *documents) write(doc *notes.Doc, name string, body []string) (*notes.Doc, error) {
	live, there := doc.Live(name)
	switch {
	case len(body) == 0 && !there:
		return doc, nil
	case len(body) == 0:
		return doc.Apply(notes.Splice{Span: withBlanks(doc.Text(), live.Span)})
	case there:
		return doc.Replace(name, body[0])
	case name == signals.Section:
		return doc.Prepend(name, body[0])
	}
	if at := d.place(doc, name); at >= 0 {
		blank := doc.Newline() + doc.Newline()
		return doc.Apply(notes.Splice{Span: notes.Span{Start: at, End: at}, Text: doc.Render(name, body[0]) + blank})
	}
	return doc.Replace(name, body[0])
}

// place is where a new section of other goes: at the end (-1), or before one
// that is new in lead too: before that which it stands before in other, else,
// behind that which it stands behind, by name. So it does not matter which side
// is ours.
func (d *documents) place(doc *notes.Doc, name string) int {
	sections := doc.Sections()
	if strings.TrimSpace(lastGap(doc)) != "" {
		return -1
	}
	first := len(sections)
	for first > 0 {
		before := sections[first-1].Name
		if len(d.base.bodies[before]) > 0 || before == signals.Section {
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

// around lists the sections of other behind which, and before which, one stands.
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

// withBlanks widens a section to its lines and the blank lines after it; of
// the last one to those before it.
func withBlanks(text string, s notes.Span) notes.Span {
	rest := strings.TrimLeft(text[s.End:], " \t\r\n")
	if rest == "" {
		before := strings.TrimRight(text[:s.Start], " \t\r\n")
		ending := len(text)
		if strings.HasSuffix(text, "\n") && before != "" {
			ending = s.End // the newline at the end stays
		}
		return notes.Span{Start: len(before), End: ending}
	}
	end := len(text) - len(rest)
	end = strings.LastIndexByte(text[:end], '\n') + 1
	return notes.Span{Start: s.Start, End: max(end, s.End)}
}

// holds checks the outcome: nothing but what was wanted, and all of it. The
// signal table is compared by those who wrote it, for its escalation row
// follows from the section.
func holds(doc *notes.Doc, wantProse string, want map[string][]string) bool {
	if len(doc.Malformed()) > 0 || words(doc.Outside()) != words(wantProse) {
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
		if !slices.EqualFunc(got[name], list, func(a, b string) bool { return words(a) == words(b) }) {
			return false
		}
	}
	return true
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }
