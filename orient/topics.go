package orient

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"stig/internal/visible"
	"stig/signals"
)

// saying is what a text says under a heading or after a label.
type saying struct {
	label string // the words of the heading or label, in lower case
	words string // as written, without Markdown marks
	rest  string // what follows the label on its line
	below []string
	at    int // 1-based line of the label
	place string
}

// text returns what is said.
func (s saying) text() string { return strings.TrimSpace(s.rest + "\n" + strings.Join(s.below, "\n")) }

// isEmpty reports whether nothing is said.
func (s saying) isEmpty() bool {
	return s.rest == "" && !slices.ContainsFunc(s.below, func(line string) bool { return strings.TrimSpace(line) != "" })
}

// topic is a subject that a text may have sayings about.
type topic struct {
	words []string // a label that contains one of them is about the topic
	alone []string // so is a label that equals one of these
}

// The topics of a probe, and of how an issue is verified.
var (
	hypothesis = topic{words: []string{"hypothesis", "hypotheses"}, alone: []string{"theory", "suspicion", "suspected cause", "assumed cause"}}
	intervened = topic{
		words: []string{"intervention", "experiment", "probe"},
		alone: []string{"test", "smallest step", "smallest change", "smallest test", "first step", "try"},
	}
	feedback = topic{
		words: []string{"feedback"},
		alone: []string{"signal", "observe", "observation", "watch", "measure", "measurement", "expected", "expected result", "expectation"},
	}
	stabilised = topic{words: []string{"stabilised", "stabilized", "stable"}}
	criteria   = topic{
		words: []string{"acceptance", "verification", "verify", "success criteria", "success criterion", "exit criteria", "completion criteria",
			"definition of done", "dod", "done when", "done means", "test plan", "how to test", "checklist", "deliverable", "deliverables"},
		alone: []string{"ac", "acs", "testing", "tests", "test cases", "validation", "checks", "expected result", "expected behavior", "expected behaviour"},
	}
)

// beside lists where an issue without acceptance criteria says how it is verified.
func (a assembly) beside(b *Briefing) (list []Beside) {
	if b.Acceptance.Text != "" {
		return nil
	}
	for _, s := range a.written(b) {
		if criteria.covers(s.label) && !s.isEmpty() {
			list = append(list, Beside{Name: s.words, Place: fmt.Sprintf("%s, line %d", s.place, s.at)})
		}
	}
	for _, key := range b.Issue.Keys {
		name := key.Key[strings.LastIndexByte(key.Key, '.')+1:]
		if label := plainLabel(spaced(name)); criteria.covers(label) || strings.Contains(label, "criteria") {
			list = append(list, Beside{Name: key.Key, Place: "a key of the issue", Text: key.Value})
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, in := range []struct{ place, text string }{{"description", a.description}, {"design", a.design}, {"notes", b.Notes}} {
		if n := tasks(in.text); n > 0 {
			list = append(list, Beside{Name: "a checklist of " + strconv.Itoa(n), Place: in.place})
		}
	}
	return list
}

// spaced splits a name such as acceptanceTests or test_plan into words.
func spaced(name string) string {
	var b strings.Builder
	for k, r := range name {
		if unicode.IsUpper(r) && k > 0 && name[k-1] >= 'a' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// tasks counts the nonempty checklist items.
func tasks(text string) (n int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if mark := bulletMark().FindStringSubmatch(line); mark != nil && mark[1] != "" && len(line) > len(mark[0]) {
			n++
		}
	}
	return n
}

// pointers lists the URLs and paths in the issue's texts, each once.
func (a assembly) pointers(b *Briefing) (list []string) {
	texts := []string{a.description, a.design, a.otherNotes()}
	for _, c := range b.Comments {
		texts = append(texts, c.Text)
	}
	for _, text := range texts {
		for _, p := range pointers(text) {
			if !slices.Contains(list, p) && len(list) < mostPointers {
				list = append(list, p)
			}
		}
	}
	return list
}

// mostPointers limits the URLs and paths of an issue.
const mostPointers = 100

// longestLabel is the maximum number of words of a label.
const longestLabel = 6

// covers reports whether a label is about the topic.
func (t topic) covers(label string) bool {
	words := strings.Fields(label)
	if slices.Contains(t.alone, strings.Join(words, " ")) {
		return true
	}
	padded := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(t.words, func(word string) bool { return strings.Contains(padded, " "+word+" ") })
}

// find returns the first saying about the topic.
func (t topic) find(list []saying) (saying, bool) {
	for _, s := range list {
		if t.covers(s.label) && !s.isEmpty() {
			return s, true
		}
	}
	return saying{}, false
}

// sayings lists the sayings of a text in order. Code in fences has no headings or labels. The
// running time is linear in the text.
func sayings(place, text string) (list []saying) {
	lines := strings.Split(visible.LF(text), "\n")
	kinds := kindsOf(lines)
	var open []int // headings in list whose texts have not ended
	shut := func(level, line int) {
		for n := len(open); n > 0 && kinds[list[open[n-1]].at-1].level >= level; n = len(open) {
			s := &list[open[n-1]]
			s.below, open = lines[s.at:line], open[:n-1]
		}
	}
	for i, k := range kinds {
		switch {
		case k.level > 0:
			shut(k.level, i)
			open = append(open, len(list))
			list = append(list, saying{label: plainLabel(k.words), words: bareLabel(k.words), at: i + 1, place: place})
		case k.words != "":
			list = append(list, saying{label: plainLabel(k.words), words: bareLabel(k.words), rest: k.rest, below: lines[i+1 : behind(kinds, i)], at: i + 1, place: place})
		}
	}
	shut(0, len(lines))
	return list
}

// lineKind is the syntax of a line.
type lineKind struct {
	blank, code, item bool
	level, indent     int    // heading level, 0 for other lines
	words, rest       string // the heading or label, and what follows the label
}

func kindsOf(lines []string) []lineKind {
	kinds := make([]lineKind, len(lines))
	fence := ""
	for i, line := range lines {
		k := &kinds[i]
		mark := fenceMark(line)
		k.blank, k.indent, k.code = strings.TrimSpace(line) == "", indent(line), fence != "" || mark != ""
		switch {
		case mark != "" && fence == "":
			fence = mark
		case mark != "" && strings.HasPrefix(mark, fence):
			fence = ""
		}
		if k.code || k.blank {
			continue
		}
		k.item = bulletMark().MatchString(line)
		if k.level, k.words = headingAt(lines, i); k.level == 0 {
			k.words, k.rest, _ = labelAt(line)
		}
	}
	return kinds
}

// longestSaying is the maximum number of lines of a label's text.
const longestSaying = 200

// behind returns the line after the text of the label at a line. If nothing follows the label
// on its line, its text is the paragraph or list below it.
func behind(kinds []lineKind, at int) int {
	own := kinds[at]
	i := at + 1
	for own.rest == "" && i < len(kinds) && kinds[i].blank && i < at+longestSaying {
		i++
	}
	for ; i < min(len(kinds), at+longestSaying); i++ {
		k := kinds[i]
		another := k.words != "" && !k.item || k.item && (own.rest != "" || own.item)
		if k.blank || k.level > 0 || k.code || k.indent <= own.indent && another {
			return i
		}
	}
	return i
}

// fenceMark returns the mark with which a line opens or closes a code block, "" for other
// lines.
func fenceMark(line string) string {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return line[:len(line)-len(strings.TrimLeft(line, mark[:1]))]
		}
	}
	return ""
}

// headingAt gives the level and the words of a heading; 0 where the line is none. One in
// bold that fills its line is a heading below all others, and so is one underlined.
func headingAt(lines []string, i int) (level int, words string) {
	line := strings.TrimSpace(lines[i])
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	if rest := line[marks:]; marks > 0 && marks <= 6 && strings.HasPrefix(rest, " ") {
		return marks, rest
	}
	const deepest = 7
	for _, bold := range []string{"**", "__"} {
		inside, opened := strings.CutPrefix(line, bold)
		inside, closed := strings.CutSuffix(strings.TrimSuffix(inside, ":"), bold)
		if opened && closed && inside != "" && !strings.Contains(inside, bold) && len(strings.Fields(inside)) <= longestLabel {
			return deepest, inside
		}
	}
	if i+1 < len(lines) && line != "" && len(line) <= 80 && (i == 0 || strings.TrimSpace(lines[i-1]) == "") {
		under := strings.TrimSpace(lines[i+1])
		if len(under) >= 3 && (strings.Trim(under, "=") == "" || strings.Trim(under, "-") == "") && !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "|") {
			return 1 + strings.Count(under[:1], "-"), line
		}
	}
	return 0, ""
}

// labelAt reads a line such as "Hypothesis: the lock", "- **Test**: without it" or
// "> Feedback — the log".
func labelAt(line string) (words, rest string, ok bool) {
	line = strings.TrimLeft(line, " \t>")
	if mark := bulletMark().FindString(line); mark != "" {
		line = line[len(mark):]
	}
	line = strings.TrimLeft(line, " \t*_")
	end := strings.IndexByte(line, ':')
	width := 1
	for _, dash := range []string{" — ", " – ", " - ", "**", "__"} {
		if at := strings.Index(line, dash); at > 0 && (end < 0 || at < end) && (dash[0] != ' ' || strings.ContainsAny(line[:at], "*_") || len(strings.Fields(line[:at])) <= 2) {
			end, width = at, len(dash)
		}
	}
	if end <= 0 || end > 60 || strings.HasPrefix(line[end:], "://") {
		return "", "", false
	}
	words = line[:end]
	if !unicode.IsLetter([]rune(words)[0]) || strings.ContainsAny(words, ".?!`<>|=/") || len(strings.Fields(words)) > longestLabel {
		return "", "", false
	}
	return words, strings.TrimSpace(strings.TrimLeft(line[end+width:], " \t*_:")), true
}

// bareLabel returns the words of a heading or label without Markdown marks.
func bareLabel(words string) string { return visible.OneLine(strings.Trim(words, " \t*_#:")) }

// plainLabel returns the words of a heading or label in lower case, without marks, numbers,
// signs and parenthesised text.
func plainLabel(words string) string {
	if before, _, cut := strings.Cut(words, "("); cut && strings.TrimSpace(before) != "" {
		words = before
	}
	fields := strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	return strings.Join(fields, " ")
}

// written returns the sayings of the issue's texts in which a depth or the criteria look for
// topics.
func (a assembly) written(b *Briefing) (list []saying) {
	texts := []struct{ place, text string }{{"description", a.description}, {"design", a.design}, {"notes", a.otherNotes()}}
	if e, ok := signals.LastEstimate(a.doc); ok {
		texts = append(texts, struct{ place, text string }{"state estimate", e.Body})
	}
	for _, e := range b.Also {
		texts = append(texts, struct{ place, text string }{"estimate of a branch", e.Text})
	}
	for _, c := range b.Comments {
		texts = append(texts, struct{ place, text string }{"comment", c.Text})
	}
	for _, t := range texts {
		list = append(list, sayings(t.place, t.text)...)
	}
	return list
}
