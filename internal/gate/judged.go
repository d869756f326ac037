package gate

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// judgement is what a text says of a check's result.
type judgement struct {
	expect Expect // the output that is to be compared
	open   bool   // the output decides, and what it is to be does not stand there
}

// resultForms are the expressions that find what a text says of an output.
type resultForms struct {
	equal, shown, silent, exit, telling, only, denied, clean, untrue, wanted, more *regexp.Regexp
}

var results = sync.OnceValue(func() resultForms {
	const (
		start = `^(?:(?:(?:the|its|whose|with)\s+)?(?:output|stdout|response)\s+)?(?:(?:on|in|for|with|from|against|under|without|at|over|after)\s+(?:[^\s,;.]+\s+){1,4}?)?` +
			`(?:(?:must|should|will|shall|can|now|still|also|then|has to|to|correctly|exactly|successfully|immediately|only)\s+)*`
		shows = `(?:returns?|prints?|outputs?|shows?|displays?|reports?|lists?|gives?|yields?|emits?|contains?|includes?|responds with|says?|→|->|=>|` +
			`gibt|liefert|zeigt|meldet|enthält|affiche|renvoie|muestra|devuelve)`
		noun  = `(?:(?:exactly|only|just|with|the|a|an|http|status|code|text|line|message|string|version|value|number|count|output|result|word)\s+)*:?\s*`
		value = "(?:\"([^\"\n]+)\"|“([^”\n]+)”|'([^'\n]+)'|``? ?([^`\n]+?) ?``?|(-?v?\\d+(?:[.,:/]\\d+)*%?|true|false)\\b)"
		ends  = `\s*(?:[.,;)!✓✅]|$|—|–|-\s|\b(?:and|when|if|for|on|in|after|before|because|at|with|from|but|instead)\b|\(|ok\b|lines?\b)`
	)
	form := func(expression string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + expression) }
	return resultForms{
		equal:  form(start + `(?:is|are|be|equals?|drops to|==?|ist|est|es)\s+` + noun + value + ends),
		shown:  form(start + shows + `\s*` + noun + value + `|^(?:が|は|の(?:出力|結果)(?:が|は))\s*` + value + `\s*(?:を|と|で|に|个)`),
		silent: form(start + `(?:is|are|be) empty\b|` + start + `(?:` + shows + `|produces?)\s+(?:exactly\s+)?(?:empty|nichts|nothing|no output|an empty (?:output|list|result)|no (?:lines|results?))\b`),
		// an exit code, or a word of success
		exit: form(start + `(?:returns?|gives?|yields?|ends|finishes)\s+(?:with\s+)?(?:(?:exit|status)\s+)*(?:code\s+)?(?:0|zero)\b|` +
			start + shows + `\s+(?:ok\b|success|clean)`),
		// words about an output, whatever is expected of it
		telling: form(`^(?:が|は|を|に|の)?.{0,30}(?:表示|出力|返[すさ])|` + start + `(?:(?:gibt|liefert|zeigt|meldet|affiche|renvoie|muestra|devuelve|returns?|prints?|outputs?|shows?|displays?|reports?|lists?|emits?|advertises?|contains?|equals?|(?:begins?|starts?|ends?) with|has|have|takes (?:less|under|at most|no more|no longer))\b|=|≥|≤|<|>|(?:is|are)\s+(?:at (?:least|most)|less|more|under|over|below|above|between|[<>≤≥=]|\d))`),
		// what else is not to stand in it, which a search does not tell either
		only: form(start + `(?:` + shows + `|produces?|finds?|matches|hits?)\s+(?:only|nothing but|just|exactly\s+(?:one|two|three)\b|an?\s+(?:single|sole)|the\s+(?:single|sole|only)|at most)\b`),
		// what is not to stand in the output
		denied: form(`^(?:(?:must|should|will|shall|can|does|do|may)\s*(?:not|n['’]t)|never|no longer|cannot)\s+(?:ever\s+|longer\s+)?` +
			`(?:return|print|output|show|display|report|list|emit|contain|include|mention)s?\b|` + start + `(?:excludes?|omits?|leaves? out|hides?)\b`),
		clean: form(`^(?:(?:is|are|be|stays?|remains?|shows?|reports?)\s+)?(?:a\s+)?clean\b`),
		// what a test is not to be
		untrue: form(`^(?:(?:must|should|will|now)\s+)*(?:is|be|returns?|gives?|yields?|evaluates? to)\s+(?:now\s+)?false\b`),
		// what is expected, whatever it is
		wanted: form(`^expect(?:s|ed|ing)?\b`),
		more:   form("^\\s*(?:,|and|or|/|&)\\s+(?:\"|“|'|`)"),
	}
})

// faults are what a program reports none of when it passes.
var faults = sync.OnceValue(func() *regexp.Regexp {
	const (
		none = `(?:no|zero|0|without|(?:not|n['’]t|never|no longer)\s+\w+)(?:\s+(?:any|an?|new|more))?\s+`
		noun = `(?:errors?|warnings?|failures?|failed|issues?|problems?|findings?|violations?|vulnerabilit\w+|regressions?|diagnostics?|` +
			`complaints?|lints?|leaks?|races?|panics?|crash\w*|advisories|offen[sc]es|mismatch\w*|skips?|skipped|anything)\b`
	)
	return regexp.MustCompile(`(?i)\b` + none + `(?:[\w/-]+\s+){0,3}?` + noun)
})

// judged reads what the text says of the output of a command. counting tells that
// what it prints is a number, deciding that its exit code says whether it found
// something.
func (c surroundings) judged(counting, deciding bool) judgement {
	if c.plainly() {
		return judgement{open: c.seen() && !faults().MatchString(c.lead.text)}
	}
	f, p := results(), phrases()
	said := firstSentence(strings.TrimLeft(withoutAside(c.raw), " :*_)—–-|"))
	clause := said
	if p.compared().MatchString(c.said) || p.measured().MatchString(c.said) || c.expects() {
		return judgement{open: true}
	}
	if !counting && p.succeeds().MatchString(c.said) || p.unfailing().MatchString(said) {
		_, clause, _ = strings.Cut(said, " and ")
	}
	switch {
	case f.denied.MatchString(clause):
		return judgement{open: !faults().MatchString(clause)}
	case f.silent.MatchString(clause):
		return judgement{expect: Expect{How: Equals}}
	case faults().MatchString(clause), !counting && f.exit.MatchString(clause):
		return judgement{}
	}
	how, at := Equals, f.equal.FindStringSubmatchIndex(clause)
	if at == nil {
		how, at = Contains, f.shown.FindStringSubmatchIndex(clause)
	}
	if at != nil {
		for i := 2; i < len(at); i += 2 {
			if at[i] < 0 {
				continue
			}
			text, rest := clause[at[i]:at[i+1]], clause[at[i+1]:]
			behind := strings.TrimLeft(rest, "\"'`”")
			if inWord(text) != "" || behind != rest && f.more.MatchString(behind) {
				return judgement{open: true}
			}
			return judgement{expect: Expect{How: how, Text: text}}
		}
	}
	if f.only.MatchString(clause) || c.seen() && !faults().MatchString(c.lead.text) {
		return judgement{open: true}
	}
	if clause != said || deciding {
		return judgement{}
	}
	return judgement{open: f.telling.MatchString(clause) && !p.successWord().MatchString(clause)}
}

// expects reports whether a result is told in brackets behind the code, or as what is
// expected, and it is no success.
func (c surroundings) expects() bool {
	f := results()
	told, aside := strings.CutPrefix(c.raw, "(")
	if told = firstSentence(strings.TrimLeft(told, " ,:—–-")); aside {
		told, _, _ = strings.Cut(told, ")")
	}
	if faults().MatchString(told) || f.exit.MatchString(told) || phrases().successWord().MatchString(told) {
		return false
	}
	return f.wanted.MatchString(told) || aside && (f.shown.MatchString(told) || f.telling.MatchString(told))
}

// firstSentence is the text up to the end of the sentence.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "; ")
	text, _, _ = strings.Cut(text, ". ")
	return text
}

// reporters are programs, with a subcommand behind a blank, that exit with 0
// whatever they report.
var reporters = []string{
	"git log", "git status", "git branch", "git tag", "git remote", "git stash", "git shortlog", "git blame", "git reflog", "git worktree",
	"wc", "date", "ps", "df", "du", "uname", "whoami", "history", "tree", "uptime", "free", "id",
}

// reports reports whether the last command of a script only shows something: its
// exit code says nothing of what that is.
func (s *script) reports() bool {
	last := s.last()
	if len(last) == 0 {
		return false
	}
	name := last[0]
	if name == "git" {
		rest := slices.DeleteFunc(slices.Clone(last[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
		if len(rest) > 0 {
			name += " " + rest[0]
		}
		if name == "git diff" {
			return !slices.Contains(last, "--exit-code") && !slices.Contains(last, "--quiet") && !slices.Contains(last, "--check")
		}
		if len(rest) > 1 && !slices.Contains([]string{"git log", "git status", "git shortlog", "git blame", "git reflog"}, name) {
			return slices.Contains([]string{"list", "-l", "show"}, rest[1])
		}
	}
	return slices.Contains(reporters, name)
}

// silentWhenClean reports whether the last command prints nothing of a work tree
// without changes.
func (s *script) silentWhenClean() bool {
	return slices.ContainsFunc(s.last(), func(w string) bool { return slices.Contains([]string{"diff", "--porcelain", "--short", "-s"}, w) })
}

// tests reports whether the last command prints nothing and has its exit code tell.
func (s *script) tests() bool {
	last := s.last()
	return len(last) == 0 || last[0] == "test" || last[0] == "["
}

// counting reports whether what a script prints is a number.
func (s *script) counting() bool {
	last := s.last()
	if len(last) == 0 {
		return false
	}
	return last[0] == "wc" || slices.ContainsFunc(last[1:], func(w string) bool { return w == "-c" && slices.Contains(patterns, last[0]) || w == "--count" })
}

// last is the last simple command of a script.
func (s *script) last() []string {
	if len(s.commands) == 0 {
		return nil
	}
	return s.commands[len(s.commands)-1]
}
