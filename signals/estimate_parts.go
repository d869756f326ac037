package signals

import (
	"fmt"
	"slices"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
	"stig/notes"
)

// unknownDay replaces the day of a text if nothing says it.
const unknownDay = "undated"

// passage is a label of an estimate with its text, or what precedes the first label. Offsets
// are those of the text it was read from.
type passage struct {
	notes.Span            // its lines, and the blank ones after them
	label      int        // index in labels; -1 for what precedes the first
	dated      notes.Span // its own day in parentheses, with the blanks before it; empty if it has the heading's day
	text       notes.Span // starts right after the colon or the day; no trailing blanks
}

// passages splits the text of an estimate at its labels. Nothing precedes the first label if
// that opens the text.
func passages(text string) (list []passage) {
	at := 0
	for line := range strings.Lines(text) {
		if p, ok := readLabel(text, notes.Span{Start: at, End: at + len(line)}); ok {
			list = append(list, p)
		} else if at == 0 {
			list = append(list, passage{label: -1})
		}
		at += len(line)
	}
	for i := range list {
		list[i].End = len(text)
		if i+1 < len(list) {
			list[i].End = list[i+1].Start
		}
		start := list[i].text.Start
		list[i].text.End = max(start, len(strings.TrimRight(text[:list[i].End], " \t\r\n")))
	}
	return list
}

// readLabel parses "What was done: text", plain or in bold, with the text's day on either side
// of the colon.
func readLabel(text string, line notes.Span) (passage, bool) {
	at := after(text[:line.End], line.Start, "*_")
	for i, name := range labelNames() {
		if line.End-at < len(name) || !strings.EqualFold(text[at:at+len(name)], name) {
			continue
		}
		p := passage{Span: line, label: i}
		at = after(text[:line.End], at+len(name), "*_")
		p.dated = dayAt(text[:line.End], at)
		at = after(text[:line.End], p.dated.End, "*_")
		if at == line.End || text[at] != ':' {
			return passage{}, false
		}
		p.text.Start = after(text[:line.End], at+1, "*_")
		if day := dayAt(text[:line.End], p.text.Start); day.End > day.Start {
			p.dated, p.text.Start = day, day.End
		}
		return p, true
	}
	return passage{}, false
}

// after returns the offset of what follows the marks at an offset.
func after(text string, at int, marks string) int {
	return len(text) - len(strings.TrimLeft(text[at:], marks))
}

// dayAt finds a day in parentheses at an offset, or after the blanks there. The span is empty
// if there is none.
func dayAt(text string, at int) notes.Span {
	open := after(text, at, " \t")
	inside, _, closed := strings.Cut(text[open:], ")")
	day, opened := strings.CutPrefix(inside, "(")
	if !opened || !closed || day != unknownDay && !IsDate(day) {
		return notes.Span{Start: at, End: at}
	}
	return notes.Span{Start: at, End: open + len(inside) + 1}
}

// EstimateText is a part of an estimate under its name in commands.
type EstimateText struct{ Key, Text string }

// Texts lists the parts of an estimate in written order, including empty ones: what precedes
// the first label ("estimate"), then the labelled texts.
func (e Estimate) Texts() []EstimateText {
	list := []EstimateText{{"estimate", e.outside()}}
	for _, l := range e.labels() {
		list = append(list, EstimateText{l.key, strings.TrimSpace(*l.text)})
	}
	return list
}

// outside is what precedes the first label, without its day.
func (e Estimate) outside() string {
	body := withoutHeading(strings.TrimSpace(e.Body))
	for _, p := range passages(body) {
		if p.label < 0 {
			return visible.LF(strings.TrimSpace(body[asOf(body):max(asOf(body), p.text.End)]))
		}
	}
	return ""
}

const asOfDay, asOfUnknown = "As of ", "As of an unknown day:"

// asOf is the length of the line that gives the day of a text without labels; 0 if there is
// none.
func asOf(text string) int {
	line, _, _ := strings.Cut(text, "\n")
	said := strings.TrimRight(line, " \t\r")
	day, ok := strings.CutPrefix(strings.TrimSuffix(said, ":"), asOfDay)
	if said == asOfUnknown || ok && IsDate(day) && strings.HasSuffix(said, ":") {
		return len(line)
	}
	return 0
}

// SetParts sets those labelled texts of a document's live state estimate that e has, and dates
// it e.Date. The rest of the estimate keeps its bytes; if the day of the estimate changes, each
// text from its former day gets that day beside it. Without an estimate e becomes it.
//
// It refuses what [notes.Doc.Replace] refuses, and a text with a line that reads as a label
// (fault.Usage).
func SetParts(d *notes.Doc, e Estimate) (*notes.Doc, error) {
	live, there := d.Live(EstimateSection)
	if !there || strings.TrimSpace(d.Body(live)) == "" {
		return SetEstimate(d, e)
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	w := &partWriter{newline: d.Newline(), start: live.Body.Start, text: d.Body(live)}
	w.moveDay(e.Date)
	w.set(e)
	return d.Apply(w.splices...)
}

// check refuses parts that would not read back as they are.
func (e Estimate) check() error {
	for _, l := range e.labels() {
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

func (l label) check() error {
	text := visible.LF(strings.TrimSpace(*l.text))
	if _, err := notes.Parse("").Replace(EstimateSection, l.name+": "+text); err != nil {
		return err
	}
	at := 0
	for line := range strings.Lines(text) {
		p, ok := readLabel(text, notes.Span{Start: at, End: at + len(line)})
		if ok && at > 0 {
			other := (&Estimate{}).labels()[p.label].key
			return &fault.Error{Code: fault.Usage,
				Reason: fmt.Sprintf("--%s: a line begins with another label: %q", l.key, strings.TrimSpace(line)),
				Hint:   fmt.Sprintf("pass what follows that label as --%s, or the whole estimate with -m", other)}
		}
		at += len(line)
	}
	return nil
}

// partWriter plans the splices in the body of one estimate.
type partWriter struct {
	newline string
	start   int    // offset of the body in the notes
	text    string // the body
	moved   string // the former day, if the estimate gets another one; "" if it stays
	splices []notes.Splice
}

func (w *partWriter) splice(from, to int, text string) {
	if text == w.text[from:to] {
		return
	}
	text = strings.ReplaceAll(visible.LF(text), "\n", w.newline)
	w.splices = append(w.splices, notes.Splice{Span: notes.Span{Start: w.start + from, End: w.start + to}, Text: text})
}

// passages returns those after the heading that stig writes. Any other heading is part of the
// text: it may say more than a day.
func (w *partWriter) passages() []passage {
	begin := w.begin()
	list := passages(w.text[begin:])
	for i := range list {
		for _, at := range []*int{&list[i].Start, &list[i].End, &list[i].dated.Start, &list[i].dated.End, &list[i].text.Start, &list[i].text.End} {
			*at += begin
		}
	}
	return list
}

// begin returns the offset of what follows the heading that stig writes; of the whole text if
// there is another heading or none.
func (w *partWriter) begin() int {
	lead := after(w.text, 0, " \t\r\n")
	heading, _, _ := strings.Cut(w.text[lead:], "\n")
	if !plainHeading(heading) {
		return lead
	}
	return after(w.text, lead+len(heading), " \t\r\n")
}

// plainHeading reports whether a line is the heading that stig writes.
func plainHeading(line string) bool {
	heading, rest, ok := cutHeading(strings.TrimRight(line, " \t\r"))
	const before = "state estimate ("
	return ok && rest == "" && len(heading) == len(before)+len("YYYY-MM-DD)") && strings.HasSuffix(heading, ")") &&
		strings.EqualFold(heading[:len(before)], before) && IsDate(heading[len(before):len(heading)-1])
}

// moveDay dates the estimate. Passages from another day get theirs.
func (w *partWriter) moveDay(day string) {
	lead := after(w.text, 0, " \t\r\n")
	heading, _, _ := strings.Cut(w.text[lead:], "\n")
	was := ""
	if _, _, ok := cutHeading(heading); ok {
		was = dateIn(heading)
	}
	if was == day {
		return
	}
	if plainHeading(heading) {
		at := lead + strings.Index(heading, was)
		w.splice(at, at+len(was), day)
	} else {
		w.splice(lead, lead, estimateHeading(day)+"\n\n")
	}
	w.moved = was
	if was == "" {
		w.moved = unknownDay
	}
}

// set replaces the parts that e has, and dates the others.
func (w *partWriter) set(e Estimate) {
	list := w.passages()
	for _, p := range list {
		w.keepDay(p, e)
	}
	for i, l := range e.labels() {
		text := strings.TrimSpace(*l.text)
		if text == "" {
			continue
		}
		if !w.replace(list, i, text) {
			w.insert(list, i, l.name+": "+text)
		}
		list = onlyFirst(list, i)
	}
}

// keepDay writes the estimate's former day beside an unchanged text.
func (w *partWriter) keepDay(p passage, e Estimate) {
	switch {
	case w.moved == "" || p.text.End == p.text.Start:
	case p.label >= 0:
		if strings.TrimSpace(*e.labels()[p.label].text) == "" && p.dated.Start == p.dated.End {
			w.splice(p.text.Start, p.text.Start, " ("+w.moved+")")
		}
	case asOf(w.text[p.Start:p.End]) == 0 && w.moved == unknownDay:
		w.splice(p.Start, p.Start, asOfUnknown+"\n\n")
	case asOf(w.text[p.Start:p.End]) == 0:
		w.splice(p.Start, p.Start, asOfDay+w.moved+":\n\n")
	}
}

// replace sets the text of a label's first passage and removes its others; it reports whether
// there is one.
func (w *partWriter) replace(list []passage, label int, text string) (found bool) {
	for _, p := range list {
		switch {
		case p.label != label:
		case found:
			w.splice(p.Start, p.End, "")
		default:
			found = true
			w.splice(p.dated.Start, p.dated.End, "")
			if visible.LF(strings.TrimSpace(w.text[p.text.Start:p.text.End])) != visible.LF(text) {
				w.splice(p.text.Start, p.text.End, " "+text)
			}
		}
	}
	return found
}

// onlyFirst keeps the first passage of a label.
func onlyFirst(list []passage, label int) []passage {
	found := false
	return slices.DeleteFunc(list, func(p passage) bool {
		again := found && p.label == label
		found = found || p.label == label
		return again
	})
}

// insert puts a part after the last one that precedes it in written order; else before the
// first that follows it; else at the end.
func (w *partWriter) insert(list []passage, label int, text string) {
	behind, before := -1, -1
	for _, p := range list {
		if p.label >= 0 && p.label < label {
			behind = p.text.End
		}
		if p.label > label && before < 0 {
			before = p.Start
		}
	}
	switch {
	case behind < 0 && before >= 0:
		w.splice(before, before, text+"\n\n")
	case behind >= 0:
		w.splice(behind, behind, "\n\n"+text)
	default:
		end := len(strings.TrimRight(w.text, " \t\r\n"))
		w.splice(end, end, "\n\n"+text)
	}
}
