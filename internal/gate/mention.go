package gate

import (
	"slices"
	"strings"

	"stig/internal/visible"
)

// surroundings is what the text around inline code says of it: what leads to it
// and what is said behind it, each on one line and without emphasis. Code in it
// is "`c`".
//
// Both must agree that the code is to run. The clause that ends with it asks for
// it, or leads to it as to what holds or is the means by which something holds;
// and nothing behind it tells that it fails, is talked about or is made.
type surroundings struct {
	before string // the sentence up to the code, without code that is listed beside it
	after  string // from the code on, likewise
	raw    string // after as it is written, with the code that stands there
	lead   clause // the last clause of before
	said   string // after without what stands in brackets and the marks that lead to it
	intro  string // the line that introduces the list which the code stands in
	then   string // in a scenario: what is to come of it, from the verb on
	title  bool   // it stands in a heading
	here   string // the text before the code
	behind string // and behind it, both as they are written
}

// reach is how far text before and after is read, in bytes: sentences are
// shorter, and a text of many spans is read in linear time.
const reach = 600

// around is the text around the code at text[start:end], backticks included.
func around(text string, start, end int) surroundings {
	behind := text[end:min(len(text), end+reach)]
	here := text[max(0, start-reach):start]
	c := surroundings{
		here:   here,
		behind: behind,
		before: leading(here),
		after:  trailing(behind),
		raw:    rawTrailing(behind),
		intro:  introduction(text[max(0, start-2*reach):start]),
		then:   consequence(behind),
		title:  strings.HasPrefix(text[strings.LastIndexByte(text[:start], '\n')+1:], "#"),
	}
	comma := strings.HasSuffix(strings.TrimRight(text[:start], " \n"), ",")
	if comma && phrases().occasion().MatchString(c.before) { // after one, another
		c.lead = lastClause(c.before + " `c`, ")
	} else {
		c.lead = lastClause(c.before + " ")
	}
	c.said = strings.TrimLeft(withoutAside(c.after), " :→|=>—–-)")
	return c
}

// withoutAside is what follows code without the brackets that it begins with.
func withoutAside(text string) string {
	if text == "" || text[0] != '(' && text[0] != '/' {
		return text
	}
	return phrases().aside().ReplaceAllString(text, "")
}

// clause is the part of a sentence that leads to the code.
type clause struct {
	text  string
	after string // what ended the clause before it: a mark, or a word such as "and"; "" at the beginning
	prior string // that clause
	whole string // the sentence up to there
}

// lastClause is the clause with which a text ends.
func lastClause(text string) clause {
	text = phrases().numbered().ReplaceAllString(text, "$1")
	ends := phrases().boundary().FindAllStringIndex(text, -1)
	if len(ends) == 0 {
		return clause{text: strings.TrimSpace(text)}
	}
	last := ends[len(ends)-1]
	prior, whole := 0, 0
	for _, end := range ends[:len(ends)-1] {
		prior = end[1]
		if strings.ContainsAny(text[end[0]:end[1]], ".;|!?") {
			whole = end[1]
		}
	}
	if comma := len(ends) - 2; comma >= 0 && text[ends[comma][0]] == ',' && strings.TrimSpace(text[ends[comma][1]:last[0]]) == "" {
		prior = 0 // ", and": it is the clause before both
		if comma > 0 {
			prior = ends[comma-1][1]
		}
		last[0] = ends[comma][0]
		return clause{strings.TrimSpace(text[last[1]:]), ",", strings.TrimSpace(text[prior:last[0]]), strings.TrimSpace(text[whole:last[0]])}
	}
	return clause{
		text:  strings.TrimSpace(text[last[1]:]),
		after: strings.ToLower(strings.TrimSpace(text[last[0]:last[1]])),
		prior: strings.TrimSpace(text[prior:last[0]]),
		whole: strings.TrimSpace(text[whole:last[0]]),
	}
}

// includes reports whether a claim counts the code among what it is about: "all
// checks pass, including X".
func (c clause) includes() bool {
	return strings.EqualFold(c.text, "including") && phrases().claim().MatchString(c.prior) && !phrases().making().MatchString(c.prior)
}

// asks reports whether the text asks for the command in so many words.
func (c surroundings) asks() bool {
	p := phrases()
	return p.asked().MatchString(c.lead.text) || p.succeeds().MatchString(c.said) || p.results().MatchString(c.said) ||
		c.lead.text == "" && c.lead.after == ":" && (p.asked().MatchString(c.lead.prior) || p.successful().MatchString(c.lead.prior))
}

// plainly reports whether nothing is said of the command but that it passes, as of
// most, which no pattern has to find.
func (c surroundings) plainly() bool {
	switch strings.TrimRight(c.said, ".;") {
	case "passes", "pass", "succeeds", "works":
		return true
	}
	return false
}

// succeeds reports whether the text says of the command that it is to succeed.
func (c surroundings) succeeds() bool {
	return c.plainly() || phrases().succeeds().MatchString(c.said) || phrases().abroad().MatchString(c.said)
}

// says reports whether the text says something of what the code does, or that it is
// to be run.
func (c surroundings) says() bool {
	return phrases().running().MatchString(c.lead.text) || c.succeeds() || c.predicated() ||
		results().equal.MatchString(c.raw) || results().silent.MatchString(c.raw)
}

// being reports whether that is what a thing is or has: it may be English.
func (c surroundings) being() bool { return phrases().being().MatchString(c.said) }

// claims reports whether the text says something of what the code does or shows, or
// asks for it: that of a program which is not here cannot hold.
func (c surroundings) claims() bool {
	return (c.asks() || c.says() || c.seen() || c.proves() || c.shown()) && !phrases().tested().MatchString(c.said)
}

// seen reports whether something is to stand in the output: "visible in X", "the
// output of X has".
func (c surroundings) seen() bool {
	return phrases().seen().MatchString(c.lead.text) || phrases().outputOf().MatchString(c.lead.text) && c.predicated()
}

// proves reports whether the code is the means by which something works: "runs
// via X", "works when piped (X)".
func (c surroundings) proves() bool {
	p := phrases()
	if at := p.by().FindStringIndex(c.lead.text); at != nil {
		return p.proven().MatchString(c.lead.text[:at[0]]) && !p.making().MatchString(c.lead.text)
	}
	return c.lead.text == "" && slices.Contains([]string{"(", "-", "–", "—", "--", ":"}, c.lead.after) && p.proven().MatchString(c.lead.prior)
}

// shown reports whether the code is what verifies something, whatever part of it, or
// by which somebody is able to do it.
func (c surroundings) shown() bool {
	return phrases().verifies().MatchString(c.before) || phrases().enabled().MatchString(c.lead.text)
}

// needs reports whether the text says of the code what a program that is not here
// cannot do, although one that is here is not to be run for it: fail as it should,
// or support something.
func (c surroundings) needs() bool {
	p := phrases()
	if c.shown() {
		return !c.title && c.treated() == ""
	}
	return !c.title && c.toldBefore() == "" && (p.needing().MatchString(c.said) || c.treated() == "" && p.failing().MatchString(c.said))
}

// binary reports whether the text calls the code a program, and says that it runs.
func (c surroundings) binary() bool { return phrases().binary().MatchString(c.said) }

// asksWord reports whether the text asks for a command of one word.
func (c surroundings) asksWord() bool {
	p := phrases()
	return p.running().MatchString(c.lead.text) || p.asked().MatchString(c.lead.text) || c.succeeds() && !p.failing().MatchString(c.said)
}

// shows reports whether the text says of the code what it shows.
func (c surroundings) shows() bool { return phrases().results().MatchString(c.said) }

// mention says why code is mentioned rather than asked for; "" when the text
// asks for it. searching tells that it is a search, which fails when there is
// nothing.
func (c surroundings) mention(searching bool) string {
	if c.title {
		return "names what a heading is about"
	}
	if strings.Count(c.before, "~~")%2 == 1 {
		return "struck out"
	}
	if sentence := c.before + " " + c.after; phrases().foreign().MatchString(sentence) && !phrases().english().MatchString(sentence) {
		if match := phrases().negated().FindString(sentence); match != "" {
			return "mentioned with " + citing(strings.TrimSpace(match))
		}
		return ""
	}
	if why := c.toldBefore(); why != "" {
		return why
	}
	return c.toldAfter(searching)
}

// toldBefore is what the text before the code says against running it.
func (c surroundings) toldBefore() string {
	if c.before == "" {
		return ""
	}
	if match := phrases().denied().FindStringSubmatch(c.before); match != nil {
		return "mentioned after " + citing(match[1])
	}
	if match := phrases().elsewhere().FindString(c.lead.text); match != "" {
		return "run by others: " + citing(match)
	}
	if match := phrases().others().FindString(c.lead.prior); match != "" && c.lead.after == ":" {
		return "run by others: " + citing(match)
	}
	begins := phrases().opening().MatchString(c.lead.text)
	if c.lead.text != "" && c.asked() || begins && c.leads() || c.lead.includes() {
		return ""
	}
	return "mentioned after " + citing(lastWords(c.before))
}

// asked reports whether the words directly before the code ask for it, or name
// it as the means to a claim ("builds with X", "use X to check").
func (c surroundings) asked() bool {
	p, words := phrases(), c.lead.text
	if c.lead.after == ":" && p.quoting().MatchString(c.lead.prior) {
		return false
	}
	if p.asked().MatchString(words) || c.seen() || p.checking().MatchString(c.after) || c.executed() {
		return true
	}
	if at := p.by().FindStringIndex(words); at != nil && (p.claim().MatchString(words[:at[0]]) || c.holds()) && !p.making().MatchString(words) {
		return true
	}
	return (p.circumstance().MatchString(words) || p.appositive().MatchString(words) && !p.making().MatchString(words)) && c.holds()
}

// leads reports whether the sentence so far leads to code with which the next
// clause begins.
func (c surroundings) leads() bool {
	p, prior := phrases(), c.lead.prior
	making := func() bool { return p.making().MatchString(c.lead.whole) || p.making().MatchString(prior) }
	switch c.lead.after {
	case "", ".", ";", "!", "?", "|": // nothing or something else was said
		return true
	case ":":
		return c.predicated() && (c.holds() || p.results().MatchString(c.said)) ||
			(c.predicated() || c.alone()) && (!making() || p.verifying().MatchString(prior))
	case "(", "-", "–", "—", "--", "→", "->", "=>":
		claims := p.claim().MatchString(prior) || p.state().MatchString(prior) || c.holds()
		return claims && !strings.HasSuffix(prior, "`c`") && !making()
	case ",":
		return c.predicated() || c.alone() && p.circumstance().MatchString(prior) || c.lead.goesOn()
	default: // and, then, …
		return c.predicated() || prior == "" || c.lead.goesOn()
	}
}

// goesOn reports whether the clause before asked for other code, as in "run X, then Y".
func (c clause) goesOn() bool {
	first, _, _ := strings.Cut(c.prior, "`c`")
	return phrases().asked().MatchString(strings.TrimSpace(first))
}

// executed reports whether a scenario begins by running the code.
func (c surroundings) executed() bool {
	return strings.EqualFold(c.lead.text, "when") && phrases().executed().MatchString(c.after)
}

// holds reports whether the text says of the code that it is to succeed.
func (c surroundings) holds() bool {
	return c.plainly() || phrases().succeeds().MatchString(c.said) || phrases().passing().MatchString(c.said)
}

// predicated reports whether something is said of the code behind it.
func (c surroundings) predicated() bool {
	return c.said != "" && !strings.ContainsAny(c.said[:1], ".,;") && c.continues()
}

// continues reports whether the sentence goes on behind the code, rather than
// with a noun that the code names.
func (c surroundings) continues() bool {
	p := phrases()
	if p.plural().MatchString(c.said) && (p.enumerated().MatchString(c.here) || p.enumerates().MatchString(c.behind)) {
		return true
	}
	return p.follows().MatchString(c.said) && !p.noun().MatchString(c.said) || p.succeeds().MatchString(c.said) ||
		p.compared().MatchString(c.said) || p.measured().MatchString(c.said)
}

// alone reports whether the clause ends with the code.
func (c surroundings) alone() bool {
	return c.after == "" || strings.ContainsAny(c.after[:1], ".,;)(")
}

// resultFollows reports whether an arrow leads from the code to its result, or a
// dash to what holds of it.
func (c surroundings) resultFollows() bool {
	isPrefix := func(arrow string) bool { return strings.HasPrefix(c.after, arrow) }
	if slices.ContainsFunc([]string{"→", "->", "=>"}, isPrefix) {
		return true
	}
	rest := strings.TrimLeft(c.after, "—–-")
	return rest != c.after && phrases().claim().MatchString(firstClause(rest))
}

// toldAfter is what the text behind the code says against running it, or the
// line above its list. searching is as for mention.
func (c surroundings) toldAfter(searching bool) string {
	p := phrases()
	if searching && c.lacks() {
		return `a search that is to find nothing fails: write it with "!" before`
	}
	switch {
	case (hasPrefixFold(c.before, "when") || hasPrefixFold(c.before, "given")) && p.failing().MatchString(c.then):
		return "expected to fail: " + citing(firstWords(c.then))
	case strings.HasPrefix(c.after, "(") && p.failing().MatchString(c.after):
		return "expected to fail: " + citing(strings.TrimSpace(p.failing().FindString(c.after)))
	case c.said == "", c.plainly(), c.executed(), p.passing().MatchString(c.said):
	case c.treated() != "":
		return "mentioned before " + citing(c.treated())
	case p.failing().MatchString(c.said):
		return "expected to fail: " + citing(strings.TrimSpace(p.failing().FindString(c.said)))
	case !c.continues() && !c.resultFollows() && !p.running().MatchString(c.before):
		return "mentioned before " + citing(firstWords(c.said))
	}
	if c.plainly() {
		return ""
	}
	if match := p.things().FindString(c.intro); match != "" && !p.inviting().MatchString(c.intro) && !p.succeeds().MatchString(c.said) {
		return "listed under " + citing(match)
	}
	return ""
}

// lacks reports whether what the code searches for is not to be there, or may not be:
// something is said to be gone, and not that the code succeeds.
func (c surroundings) lacks() bool {
	p := phrases()
	if p.nothing().MatchString(firstClause(c.said)) || p.nowhere().MatchString(c.before) {
		return true
	}
	if results().clean.MatchString(c.said) {
		return true
	}
	return !c.succeeds() && (p.absent().MatchString(c.before) || p.absent().MatchString(firstClause(c.after)))
}

// treated is what is said to be done with the code, or that it exists; "" when
// the sentence goes on with what it shows.
func (c surroundings) treated() string {
	at := phrases().treated().FindStringIndex(c.said)
	if at == nil || phrases().compared().MatchString(c.said) || phrases().besides().MatchString(c.said[at[1]:]) {
		return ""
	}
	return strings.TrimSpace(c.said[:at[1]])
}

// lastWords and firstWords are up to two words next to the code.
func lastWords(text string) string {
	if i := strings.LastIndexAny(strings.TrimRight(text, " :(,"), ";.:("); i >= 0 {
		text = text[i+1:]
	}
	words := strings.Fields(strings.TrimRight(text, " :(,"))
	return strings.Join(words[max(0, len(words)-2):], " ")
}

func firstWords(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(2, len(words))], " ")
}

// firstClause is the text up to the end of the clause.
func firstClause(text string) string {
	if i := strings.IndexAny(text, ";.`"); i >= 0 {
		return text[:i]
	}
	return text
}

func citing(words string) string { return `"` + words + `"` }

// leading is the prose of the same paragraph or list item before a place.
func leading(text string) string {
	if all := phrases().blockBreak().FindAllStringIndex(text, -1); all != nil {
		text = text[all[len(all)-1][0]:]
	}
	text = strings.TrimLeft(text, "\n")
	if start := strings.TrimLeft(text, " \t>"); strings.HasPrefix(start, "```") || strings.HasPrefix(start, "~~~") {
		_, text, _ = strings.Cut(text, "\n") // a block ends in this line
	}
	return proseBut(phrases().enumerated, phrases().itemStart().ReplaceAllString(text, ""))
}

// trailing is the prose of the same paragraph or list item behind a place.
func trailing(text string) string {
	if at := phrases().blockBreak().FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	return proseBut(phrases().enumerates, text)
}

// rawTrailing is trailing without anything replaced but emphasis.
func rawTrailing(text string) string {
	if at := phrases().blockBreak().FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	text = phrases().enumerates().ReplaceAllString(text, "")
	return visible.OneLine(strings.NewReplacer("**", "", "__", "").Replace(text))
}

// proseBut is text without code that is listed, and with "`c`" for other code.
func proseBut(listed phrase, text string) string {
	return sentence(phrases().code().ReplaceAllString(listed().ReplaceAllString(text, ""), "`c`"))
}

// consequence is what the next step of a scenario says is to come of the steps
// before it.
func consequence(text string) string {
	paragraph, _, _ := strings.Cut(text, "\n\n")
	at := phrases().outcome().FindStringIndex(paragraph)
	if at == nil {
		return ""
	}
	step, _, _ := strings.Cut(paragraph[at[1]:], "\n")
	return sentence(step)
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// introduction is the line that introduces the list in which a place stands:
// the nearest line above its item that ends with a colon and is no item beside
// it, if only items stand between.
func introduction(text string) string {
	lines := strings.Split(text, "\n")
	own := lines[len(lines)-1]
	mark := phrases().itemStart().FindString(own)
	if strings.TrimSpace(mark) == "" && strings.TrimSpace(own) != "" {
		return "" // in a paragraph
	}
	for _, line := range slices.Backward(lines[:len(lines)-1]) {
		line = strings.TrimRight(line, " \t\r")
		item := strings.TrimSpace(phrases().itemStart().FindString(line)) != ""
		switch {
		case line == "", indent(line) > 0 && !item, item && indent(line) >= indent(own):
			continue
		case strings.HasSuffix(strings.TrimRight(line, "*_ "), ":"):
			return sentence(line)
		}
		return ""
	}
	return ""
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// sentence is text on one line without emphasis.
func sentence(text string) string {
	return visible.OneLine(phrases().marks.Replace(text))
}
