package gate

import (
	"slices"
	"strings"
)

// saying is what a text says about the commands grouped in it.
type saying struct {
	why   string // why they are only mentioned; "" if the text asks for them
	claim claim
	run   bool // the text says "run" or similar before them
	told  bool // something is said about them: a claim, or that they should run
}

// claim is what is said about a command: that it succeeds, or what it shows.
type claim struct {
	found  bool
	manual string // why a person must read it; "" if the gate can decide
	expect Expect
	counts bool // the result is a number of things, such as "0" or "nothing"
	zero   bool // it returns 0: the exit code, for most commands
	absent bool // nothing should be found, so a search should fail
	next   int  // the token after it
}

// passage is the tokens of a leaf, the context in which code is judged.
type passage struct {
	tokens  []token
	heading bool
	intro   []token // from the paragraph that introduces a list
}

// at returns the kind of a token; item beyond the ends.
func (p passage) at(i int) kind {
	if i < 0 || i >= len(p.tokens) {
		return item
	}
	return p.tokens[i].kind
}

// is reports whether the words from a token on form a listed phrase, and how many they are.
func (p passage) is(list string, i int) int {
	phrase := ""
	for n := range 3 {
		if k := p.at(i + n); k != word && k != number {
			break
		}
		phrase += p.tokens[i+n].text
		if n == 0 && listed(list, phrase) && !listed(list, phrase+" "+p.text(i+1)) {
			return 1
		}
		if n > 0 && listed(list, phrase) {
			return n + 1
		}
		phrase += " "
	}
	return 0
}

func (p passage) text(i int) string {
	if k := p.at(i); k == word || k == number {
		return p.tokens[i].text
	}
	return ""
}

// ends reports whether a clause ends before a token.
func (p passage) ends(i int) bool {
	return slices.Contains([]kind{item, cell, stop, comma, closing, open, dash}, p.at(i))
}

// group finds code joined by commas, "and" and similar: what is said about one is said about
// all. It returns the first token and the one after the last.
func (p passage) group(i int) (from, to int) {
	from, to = i, i+1
	joiner := func(i int) bool { return p.at(i) == comma || listed("joiner", p.text(i)) }
	for n := 1; n <= 2 && joiner(from-n); n++ {
		if p.at(from-n-1) == code {
			from, n = from-n-1, 0
		}
	}
	for n := 0; n < 2 && joiner(to+n); n++ {
		if p.at(to+n+1) == code {
			to, n = to+n+2, -1
		}
	}
	return from, to
}

// clause returns where the clause that ends before a token begins.
func (p passage) clause(end int) int {
	i := end
	for ; i > 0 && (p.at(i-1) == word && !listed("boundary", p.text(i-1)) || p.at(i-1) == number || p.at(i-1) == quotation); i-- {
	}
	return i
}

// site is the position of code, joined to other code, in a passage.
type site struct {
	passage
	from, to int  // the tokens of the code
	begin    int  // start of the clause before it
	before   kind // of the token before the code
}

func (p passage) site(i int) site {
	from, to := p.group(i)
	if first := p.mentioned(from); p.at(i-1) == comma && (listed("always", first) || listed("place", first)) {
		from = i // "after `a`, `b` passes"
	}
	return site{p, from, to, p.clause(from), p.at(from - 1)}
}

// saying reads what is said about the code at a token.
func (p passage) saying(i int) saying {
	c := p.site(i)
	proved := (c.ends(c.to) || listed("and", c.text(c.to))) && (c.proved(c.begin, c.from) || strings.HasPrefix(c.text(c.from-1), "pass"))
	asked := c.allIn(c.begin, c.from, "polite", "imperative")
	s := saying{claim: c.claim(), run: asked && c.anyIn(c.begin, c.from, "imperative")}
	s.told = s.claim.found || s.run || proved
	absent := !s.claim.found && c.anyIn(c.clause(max(c.begin-1, 0)), c.from, "absent")
	if s.why = c.spoken(i, proved); s.why != "" {
		return s
	}
	switch manual, bare := c.bare(); {
	case s.claim.found && (asked || listed("via", c.text(c.from-1))) && c.before != code:
		if supposed := c.supposed(c.from); c.before == comma && supposed != "" {
			s.claim.manual = "it should hold " + citing(supposed)
		}
	case s.run:
		s.claim = c.seen(c.to)
	case bare:
		s.claim.manual = manual
	case proved:
		if s.claim.manual = c.condition(c.to); c.anyIn(c.begin, c.from-1, "bound") {
			s.claim.manual = outputDecides
		}
	case c.begin == c.from && c.before == item && c.tells(c.to):
		s.claim = claim{found: true, manual: "what is said about it cannot be compared"}
	default:
		s.why = "the text does not ask for it"
	}
	s.claim.absent = s.claim.absent || absent
	if s.claim.manual == "" && c.before == colon && c.anyIn(c.clause(c.from-1), c.from-1, "byhand") {
		s.claim.manual = "the text says that it is done by hand"
	}
	return s
}

// claim reads what is claimed after the code, or after the brackets around it.
func (c site) claim() claim {
	if c.before == open && c.at(c.to) == closing && c.begin == c.from {
		if about := c.claimBehind(c.to + 1); about.found {
			return about
		}
	}
	return c.claimBehind(c.to)
}

// spoken returns why the code is only mentioned, whatever is said about it; "" if it is not.
func (c site) spoken(i int, proved bool) string {
	switch word := c.mentioned(c.from); {
	case c.heading:
		return "it names the topic of a heading"
	case c.isStruck(i):
		return "struck out"
	case word != "" && !proved:
		return "mentioned after " + citing(word)
	case c.allIn(c.begin, c.from, "step") && c.alone(c.begin, c.to) && !c.claim().found:
		if why := c.introduced(); why != "" {
			return "listed under " + citing(why)
		}
	}
	return ""
}

// bare reports whether the code is alone in an item, a sentence or a cell, or after a colon, a
// dash or in brackets at the end, and on what that depends.
func (c site) bare() (manual string, ok bool) {
	first, next := c.begin == c.from, c.text(c.to+1)
	step := c.allIn(c.begin, c.from, "step")
	switch {
	case step && c.at(c.to) == comma && (listed("place", next) || listed("always", next)):
		return "it should hold " + citing(strings.TrimSpace(next+" "+c.text(c.to+2))), true
	case step && c.alone(c.begin, c.to), first && c.before == dash && c.ends(c.to) && c.at(c.to) != dash,
		first && c.before == open && c.at(c.to) == closing && c.ends(c.to+1) && !c.makes(c.from-1):
		return "", true
	case first && c.before == colon && c.ends(c.to):
		if c.anyIn(c.clause(c.from-1), c.from-1, "doubtful") {
			manual = "the text says that it does not always apply"
		}
		return manual, true
	case first && c.before == open && listed("place", c.text(c.to)) && c.proved(c.begin, c.from):
		return "it should hold " + citing(c.text(c.to)+" "+next), true
	}
	return "", false
}

// tells reports whether an item that begins with code describes it in words that are in no
// table.
func (p passage) tells(i int) bool {
	w := p.text(i)
	return w != "" && !strings.HasSuffix(w, "ed") && !slices.ContainsFunc([]string{"being", "has", "subject", "becoming", "mention", "naming", "place", "always", "noun"}, func(list string) bool { return listed(list, w) })
}

// makes reports whether the sentence that ends with a clause is about creating something.
func (p passage) makes(end int) bool {
	for end > 0 && p.at(end-1) != item && p.at(end-1) != cell && p.at(end-1) != stop && p.at(end-1) != colon {
		end--
	}
	return listed("making", p.text(end))
}

// seen reads what should be observed of a command to run: "and confirm that it passes".
func (p passage) seen(i int) claim {
	for n := range 2 {
		if (listed("joiner", p.text(i+n)) || p.at(i+n) == comma || p.text(i+n) == "to") && listed("look", p.text(i+n+1)) {
			at := i + n + 2
			for listed("polite", p.text(at)) {
				at++
			}
			switch c := p.claimAt(at); {
			case c.found:
				return c
			case p.text(i+n) == "to" && listed("purpose", p.text(i+n+1)):
				return claim{manual: p.condition(i)} // the text says what the command is for
			}
			return claim{manual: outputDecides}
		}
	}
	return claim{manual: p.condition(i)}
}

// isStruck reports whether ~~ is open before a token.
func (p passage) isStruck(i int) bool {
	open := false
	for _, t := range p.tokens[:i] {
		open = open != (t.kind == struck)
	}
	return open
}

// mentioned returns the word right before a token that makes what follows a mere mention.
func (p passage) mentioned(i int) string {
	list := "mention"
	for i > 0 && (p.at(i-1) == colon || p.at(i-1) == open || p.at(i-1) == comma && listed("shortened", p.text(i-2))) {
		if i--; p.at(i) != comma {
			list = "naming"
		}
	}
	for n := 2; n > 0; n-- {
		phrase := p.text(i - 1)
		if n == 2 {
			phrase = p.text(i-2) + " " + phrase
		}
		if listed("exempt", phrase) {
			return ""
		}
		if listed(list, phrase) || list == "mention" && listed("naming", phrase) {
			return phrase
		}
	}
	for begin := p.clause(i); begin < i; begin++ { // "never again run", "do not run"
		if n := p.is("negation", begin); n > 0 && p.allIn(begin+n, i, "polite", "imperative") {
			return p.text(begin)
		}
	}
	return ""
}

// supposed returns the words at the start of a sentence that make the rest conditional.
func (p passage) supposed(i int) string {
	for i > 0 && p.at(i-1) != item && p.at(i-1) != cell && p.at(i-1) != stop && p.at(i-1) != colon {
		i--
	}
	if listed("place", p.text(i)) || listed("always", p.text(i)) || p.text(i) == "given" {
		return strings.TrimSpace(p.text(i) + " " + p.text(i+1))
	}
	return ""
}

// alone reports whether tokens fill an item, a sentence or a cell. A result may follow in
// brackets or in the next cell.
func (p passage) alone(from, to int) bool {
	before, after := p.at(from-1), p.at(to)
	return (before == item || before == cell || before == stop || before == colon) && (after == item || after == cell || after == stop || after == open)
}

// introduced returns the words of the line above a list that make its items mere mentions.
func (p passage) introduced() string {
	above := passage{tokens: p.intro}
	if len(p.intro) == 0 {
		return ""
	}
	if found := above.mentioned(len(p.intro)); found != "" {
		return found
	}
	for i := range p.intro {
		if above.is("negation", i) > 0 || listed("unwanted", above.text(i)) {
			return above.text(i)
		}
	}
	return ""
}

// proved reports whether tokens lead from a requirement to the code that checks it: "builds
// with", "pass (", "clean:".
func (p passage) proved(begin, from int) bool {
	end := from
	for end > begin && (listed("means", p.text(end-1)) || end < from && p.text(end-1) == "the") {
		end--
	}
	where := end == from && (p.text(from-1) == "in" || p.text(from-1) == "from") // about faults these words say it
	if end == from && begin < from && !where || listed("made", p.text(end-1)) {
		return false
	}
	for begin == end && slices.Contains([]kind{open, dash, colon, arrow, comma}, p.at(begin-1)) {
		end = begin - 1
		begin = p.clause(end)
	}
	if begin < end && p.at(end) == open && p.is("imperative", begin) > 0 {
		return true // "run the tests (X)"
	}
	for i := begin; i < end; i++ {
		if p.faultless(i) > 0 || !where && p.is("proof", i) > 0 {
			return !p.anyIn(begin, i, "negation") || p.is("negation", i) > 0
		}
	}
	return false
}

func (p passage) allIn(from, to int, lists ...string) bool {
	for i := from; i < to; i++ {
		if !slices.ContainsFunc(lists, func(list string) bool { return listed(list, p.text(i)) }) && !strings.HasSuffix(p.text(i), "ly") {
			return false
		}
	}
	return true
}

func (p passage) anyIn(from, to int, list string) bool {
	for i := from; i < to; i++ {
		if listed(list, p.text(i)) {
			return true
		}
	}
	return false
}
