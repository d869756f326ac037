package gate

import (
	"cmp"
	"strings"
)

// claimBehind reads what is said about a command after it: directly, after an arrow, a dash or
// a colon, in brackets, or in the next cell of its row.
func (p passage) claimBehind(i int) claim {
	switch p.at(i) {
	case open:
		end := i
		for ; p.at(end) != closing && p.at(end) != item; end++ {
		}
		inside := passage{tokens: p.tokens[i+1 : min(end, len(p.tokens))]}
		if c := inside.claimAt(0); c.found {
			return c
		}
		if p.doubtful(i) {
			return claim{found: true, manual: "the text says in brackets when it applies"}
		}
		if c := p.claimAt(end + 1); c.found {
			return c
		}
	case arrow, cell:
		if p.at(i+1) == item || p.at(i+1) == cell {
			return claim{}
		}
		c := p.claimAt(i + 1)
		if !c.found {
			c = p.shown(i+1, false)
		}
		if c.found && c.manual == "" {
			return c
		}
		return claim{found: true, manual: outputDecides}
	case dash, colon:
		return p.explained(i)
	case word, number:
		if c := p.claimAt(i); c.found {
			return c
		}
		return p.deed(i)
	}
	return claim{}
}

// explained reads what follows a dash or a colon: the result, in any words.
func (p passage) explained(mark int) claim {
	first := mark + 1
	if p.is("imperative", first) > 0 { // "- verify it compiles"
		first++
	}
	if c := p.claimAt(first); c.found {
		return c
	}
	for at := first; p.at(at) != stop && p.at(at) != item && p.at(at) != code; at++ {
		if p.faultless(at) > 0 || p.is("proof", at) > 0 && p.is("success", at) > 0 && !listed("negation", p.text(at-1)) {
			return p.claimAt(at)
		}
	}
	if p.text(first) != "" || p.at(mark) == dash && p.at(first) == code {
		return claim{found: true, manual: outputDecides}
	}
	return claim{}
}

// doubtful reports whether brackets say that something does not always apply.
func (p passage) doubtful(open int) bool {
	for i := open + 1; p.at(i) != closing && p.at(i) != item; i++ {
		if listed("doubtful", p.text(i)) && p.text(i-1) != "even" {
			return true
		}
	}
	return false
}

// deed reads what else a command is said to do, or where: a person must look.
func (p passage) deed(i int) claim {
	doing := claim{found: true, manual: "what it does cannot be compared"}
	if listed("place", p.text(i)) {
		for n := 1; n < 15 && (p.text(i+n) != "" || p.at(i+n) == comma || p.at(i+n) == code && n < 3); n++ {
			if c := p.claimAt(i + n); c.found {
				return claim{found: true, manual: "it should hold " + citing(p.text(i)+" "+p.tokens[i+1].text)}
			}
		}
	}
	for strings.HasSuffix(p.text(i), "ly") || listed("being", p.text(i)) && !listed("is", p.text(i)) || p.text(i) == "only" || p.text(i) == "never" {
		i++
	}
	verb := p.text(i)
	if len(verb) > 3 && strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss") && !listed("subject", verb) && !listed("being", verb) && !listed("becoming", verb) && !listed("noun", verb) && p.at(i+1) != code {
		return doing
	}
	return claim{}
}

const outputDecides = "its output decides: write it as COMMAND | grep -q TEXT in a fence marked verify"

// claimAt reads the claim that begins at a token: "passes", "must exit with 2", "prints `x`".
func (p passage) claimAt(i int) claim {
	i, is, denied := p.lead(i)
	switch {
	case denied && p.is("failing", i) > 0:
		return p.behindClaim(claim{found: true, next: i + 1})
	case denied && (p.is("success", i) > 0 || p.is("output", i) > 0 || p.is("exits", i) > 0):
		return claim{found: true, manual: "the text says what it does not do"}
	case denied:
		return claim{}
	case p.is("exits", i) > 0:
		return p.exitCode(i + 1)
	case p.faultless(i) > 0:
		return p.behindClaim(claim{found: true, absent: true, next: p.faultless(i)})
	case p.is("failing", i) > 0 && p.text(i+1) == "with" && (listed("code", p.text(i+2)) || listed("nonzero", p.text(i+2))):
		return p.exitCode(i + 2)
	case p.is("failing", i) > 0:
		return claim{found: true, manual: "it is expected to fail: write it as ! COMMAND in a fence marked verify"}
	case p.is("elsewhere", i) > 0 && !listed("limit", p.text(i+2)) && p.at(i+2) != number:
		return claim{}
	case listed("starting", p.text(i)) && !p.plain(i+1):
		return claim{found: true, manual: "what it starts may run until it is stopped"}
	case listed("effect", p.text(i)) && p.is("none", i+1) > 0 && p.text(i+2) == "output":
		return p.outputs(i)
	case listed("effect", p.text(i)) && !p.plain(i+1):
		return claim{found: true, manual: "what it does cannot be compared"}
	case p.is("success", i) > 0:
		return p.behindClaim(claim{found: true, absent: listed("clean", p.text(i)), next: i + p.is("success", i)})
	case p.is("limit", i) > 0 && (is || p.text(i) != "in" && p.text(i) != "about" && p.text(i) != "only"):
		return claim{found: true, manual: outputDecides}
	case is:
		if c := p.shown(i, true); c.manual == "" {
			return c
		}
		return claim{}
	case strings.HasPrefix(p.text(i), "return") && (p.text(i+1) == "0" || p.text(i+1) == "zero") && (p.ends(i+2) || listed("and", p.text(i+2))):
		return p.behindClaim(claim{found: true, zero: true, next: i + 2})
	case p.is("output", i) > 0:
		return p.outputs(i)
	}
	return claim{}
}

// lead returns the first token of a claim after its introduction ("must always", "the tests are
// all"), and whether that affirms or denies it.
func (p passage) lead(i int) (at int, is, denied bool) {
	for {
		n := p.is("negation", i)
		if denied = denied || n > 0; n == 0 {
			if n = p.is("being", i); n == 0 && !p.isVerb(i) {
				n = p.is("subject", i)
			}
			if n > 0 && p.is("success", i) > 0 && p.is("success", i+n) == 0 && p.is("exits", i+n) == 0 && p.is("fault", i+n) == 0 {
				n = 0 // "runs" and the like say it by themselves
			}
			is = is || listed("is", p.text(i))
		}
		if n == 0 && (strings.HasSuffix(p.text(i), "ly") || is && strings.HasSuffix(p.text(i), "%")) {
			n = 1
		}
		if n == 0 {
			return i, is, denied
		}
		i += n
	}
}

// outputs reads the claim of a verb about output.
func (p passage) outputs(i int) claim {
	next := i + 1
	for listed("article", p.text(next)) {
		next++
	}
	if what := p.text(next); listed("nonzero", what) || what == "exit" || what == "status" || what == "code" && p.at(next+1) == number {
		return p.exitCode(next)
	}
	c := p.shown(i+1, listed("is", p.text(i)))
	if c.manual != "" && (listed("is", p.text(i)) || listed("has", p.text(i))) {
		return claim{} // it is, or has, something
	}
	return c
}

// plain reports whether a verb has no object: an adverb follows, or nothing.
func (p passage) plain(i int) bool {
	return p.ends(i) || p.is("condition", i) > 0 || strings.HasSuffix(p.text(i), "ly") || p.faultless(i) > 0 ||
		listed("joiner", p.text(i)) || p.is("limit", i) > 0 || listed("place", p.text(i)) || p.is("success", i) > 0
}

// exitCode reads the code after "exits".
func (p passage) exitCode(i int) claim {
	for listed("filler", p.text(i)) || listed("is", p.text(i)) || listed("being", p.text(i)) || p.text(i) == "of" {
		i++
	}
	c := claim{found: true, next: i + 1}
	switch text := p.text(i); {
	case p.at(i) == number && strings.Trim(text, "0123456789") == "":
		c.expect.Exit = strings.TrimLeft(text, "0")
	case text == "zero" || p.is("success", i) > 0:
	case p.at(i) == code && strings.Trim(p.tokens[i].text, "0123456789") == "":
		c.expect.Exit = strings.TrimLeft(p.tokens[i].text, "0")
	case listed("nonzero", text):
		c.expect.Exit = NonZero
	case p.ends(i):
		c.next = i
	default:
		return claim{found: true, manual: "the expected exit code is not named"}
	}
	for listed("code", p.text(c.next)) {
		c.next++ // "non-zero exit code"
	}
	if what := p.at(c.next + 1); p.text(c.next) == "with" && (what == quotation || what == code) {
		c.expect.How, c.expect.Text = Contains, p.tokens[c.next+1].text
		c.next += 2
	}
	if p.text(c.next) == "or" {
		return claim{found: true, manual: "several exit codes pass"}
	}
	return p.behindClaim(c)
}

// faultless returns the token after "no errors", "without new warnings", "0 findings"; 0 if
// there is no such phrase.
func (p passage) faultless(i int) int {
	if listed("with", p.text(i)) {
		i++
	}
	if p.is("none", i) == 0 {
		return 0
	}
	for n := 1; n <= 4; n++ {
		if p.is("fault", i+n) > 0 {
			for p.is("fault", i+n) > 0 || listed("joiner", p.text(i+n)) && p.is("fault", i+n+1) > 0 {
				n++
			}
			return i + n
		}
		if p.text(i+n) == "" {
			break
		}
	}
	return 0
}

// shown reads what a command should show, after the verb; equal means that its output should be
// exactly that.
func (p passage) shown(i int, equal bool) claim {
	c := claim{found: true}
	if p.at(i) == colon {
		i++
	}
	for p.text(i) != "" && listed("filler", p.text(i)) && !(p.text(i) == "empty") {
		equal = equal || p.text(i) == "only" || p.text(i) == "exactly"
		i++
	}
	none := p.is("none", i) > 0
	switch {
	case p.faultless(i) > 0:
		return p.behindClaim(claim{found: true, absent: true, next: p.faultless(i)})
	case p.is("nothing", i) > 0 && (p.ends(i+1) || p.is("condition", i+1) > 0 || listed("found", p.text(i+1)) || p.text(i+1) == "output"):
		c.expect, c.counts = Expect{How: Equals}, true
		c.next = i + 1
		for listed("found", p.text(c.next)) || p.text(c.next) == "output" {
			c.next++
		}
	case none && (listed("found", p.text(i+1)) || listed("found", p.text(i+2)) && p.text(i+1) != ""):
		c.expect, c.counts, c.next = Expect{How: Equals}, true, i+2
		for listed("found", p.text(c.next)) {
			c.next++
		}
	case p.at(i) == quotation || p.at(i) == code || p.at(i) == number || p.text(i) == "true" || p.text(i) == "false" || isVersion(p.text(i)):
		c.expect = Expect{How: Contains, Text: p.tokens[i].text}
		if equal {
			c.expect.How = Equals
		}
		c.counts, c.next = p.at(i) == number, i+1
		if !p.ends(i+1) && !listed("and", p.text(i+1)) && p.is("condition", i+1) == 0 || blank(c.expect.Text, false) != "" {
			return claim{found: true, manual: outputDecides}
		}
		if (listed("and", p.text(i+1)) || p.at(i+1) == comma) && (p.at(i+2) == quotation || p.at(i+2) == code && !p.isVerb(i+3)) {
			return claim{found: true, manual: outputDecides}
		}
	case p.succeedsWithin(i):
		c.next = i + 1
		for p.text(c.next) != "" {
			c.next++
		}
	default:
		return claim{found: true, manual: outputDecides}
	}
	return p.behindClaim(c)
}

// isVerb reports whether a word begins a claim.
func (p passage) isVerb(i int) bool {
	return p.is("success", i)+p.is("output", i)+p.is("exits", i)+p.is("being", i) > 0
}

// isVersion reports whether a word is a version or an address, i.e. a number with more parts.
func isVersion(word string) bool {
	digits := strings.TrimPrefix(word, "v")
	return strings.Contains(digits, ".") && digits[0] >= '0' && digits[0] <= '9'
}

// succeedsWithin reports whether the shown text means success: "all tests passing".
func (p passage) succeedsWithin(i int) bool {
	for n := range 4 {
		if p.is("success", i+n) > 0 {
			return p.ends(i + n + 1)
		}
		if p.is("subject", i+n) == 0 && p.is("being", i+n) == 0 && p.at(i+n) != number {
			break
		}
	}
	return false
}

// behindClaim reads what follows a claim: a condition, a bound, or another claim.
func (p passage) behindClaim(c claim) claim {
	if c.manual = p.condition(c.next); c.manual != "" {
		return c
	}
	for i := c.next; p.at(i) != item && p.at(i) != cell && p.at(i) != stop; i++ {
		if p.at(i) == open {
			if p.doubtful(i) {
				c.manual = "the text says in brackets when it applies"
			}
			break
		}
		if listed("and", p.text(i)) && c.expect.How == "" {
			more := p.claimAt(i + 1) // with everything that follows it
			if more.manual != "" || more.expect.How != "" {
				more.expect.Exit = cmp.Or(more.expect.Exit, c.expect.Exit)
				return more
			}
			if more.found {
				return c
			}
		}
	}
	return c
}

// condition returns the condition after a claim; "" for none.
func (p passage) condition(i int) string {
	if p.faultless(i) > 0 {
		i = p.faultless(i)
	}
	bound := p.text(i) == "in" && (listed("limit", p.text(i+1)) || p.at(i+1) == number)
	if p.is("limit", i) > 0 && p.text(i) != "in" && p.text(i) != "only" || bound {
		return "a bound cannot be compared: " + citing(p.text(i)+" "+p.text(i+1))
	}
	for first := i; p.at(i) != item && p.at(i) != cell && p.at(i) != stop && p.at(i) != open && p.at(i) != comma; i++ {
		n := p.is("condition", i)
		next := i + n
		for listed("article", p.text(next)) {
			next++
		}
		if n > 0 && (i == first || listed("always", p.text(i))) && !listed("anyway", p.text(next)) {
			return "it should hold " + citing(strings.TrimSpace(p.text(i)+" "+p.text(i+1)))
		}
		if i > first && listed("and", p.text(i)) {
			break
		}
	}
	return ""
}
