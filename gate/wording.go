package gate

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// wordLists are the lists of words of which the expressions are made; it says
// itself how they are written.
//
//go:embed wording.txt
var wordLists string

// phrase is an expression that is compiled when it is first needed: together
// they take a millisecond, and most criteria need few of them.
type phrase func() *regexp.Regexp

// written is the phrase of an expression, in which {name} stands for any word
// of that list. Upper and lower case are the same.
func written(expression string) phrase {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)" + named().Replace(expression))
	})
}

// named puts the words of a list in the place of its name.
var named = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for name, words := range lists() {
		pairs = append(pairs, "{"+name+"}", anyOf(words))
	}
	return strings.NewReplacer(pairs...)
})

// lists are the word lists by name.
var lists = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	name := ""
	for line := range strings.Lines(wordLists) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.Fields(line) {
			if list, begins := strings.CutSuffix(word, ":"); begins {
				name = list
				continue
			}
			all[name] = append(all[name], word)
		}
	}
	return all
})

// anyOf is the expression for any of the words of a list.
func anyOf(words []string) string {
	var forms []string
	for _, word := range words {
		stem, endings, _ := strings.Cut(word, "/")
		forms = append(forms, stem)
		for ending := range strings.SplitSeq(endings, "/") {
			if ending != "" {
				forms = append(forms, stem+ending)
			}
		}
	}
	return "(?:" + strings.NewReplacer("_", " ", "*", `\w*`).Replace(strings.Join(forms, "|")) + ")"
}

// wording is how text asks for a command, or tells of one. A word that is in
// none of these does not ask.
type wording struct {
	boundary     phrase // where a clause ends, and what ends it
	opening      phrase // a clause that only leads to its subject
	asked        phrase // a clause that ends in asking
	running      phrase // before: whatever it is called behind it, it is to be run
	by           phrase // a clause that ends in what names a means
	claim        phrase // something is said to hold, or to be looked at
	verifying    phrase // a label for what shows that it holds
	state        phrase // likewise, less clearly
	making       phrase // a clause about making or changing something
	circumstance phrase // a clause that tells where or when
	occasion     phrase // before: it is when something else happens
	checking     phrase // after: it is used to check
	executed     phrase // after "when": it is executed
	outcome      phrase // the step of a scenario that says what comes of it, up to its verb
	elsewhere    phrase // a clause that tells of a machine of others
	denied       phrase // before: it is not to be run
	aside        phrase // after: what stands in brackets
	noun         phrase // after: a word that looks like a verb is a name for something
	follows      phrase // after: the sentence goes on with a verb or a circumstance
	failing      phrase // after: it is meant to fail, so its passing would not say so
	passing      phrase // after: it is meant to pass, in words that look like the opposite
	treated      phrase // after: it exists, or something is done with it
	besides      phrase // after: something is said of it, and what it shows
	nothing      phrase // after: a search is to find nothing
	nowhere      phrase // before: likewise
	succeeds     phrase // after: it is to succeed
	results      phrase // after: what it shows
	foreign      phrase // a word or a letter that English has not
	english      phrase // a word that others have not
	negated      phrase // a word by which other languages deny
	things       phrase // in the line above a list: its items are things
	inviting     phrase // there: they are to be run all the same
	telling      phrase // in the line above a block: it shows what is printed

	blockBreak phrase // where another paragraph, list item or cell begins
	itemStart  phrase // what stands before the text of a list item
	// enumerated and enumerates are code that stands in a list before and after
	// a place: what is said of one is said of all.
	enumerated phrase
	enumerates phrase
	code       phrase
	marks      *strings.Replacer // removes emphasis and quotes
}

// Pieces of the expressions below.
const (
	succeeding = `(?:{success}|exit(?:s|ed)?(?: with)?(?: code| status)?(?: 0| zero)|returns? (?:0|zero))`
	adverbs    = `(?:(?:{adverb}|\w+ly)\s+)*`
	placed     = `(?:{place}\s+(?:[^\s,;.]+\s+){1,5}?)?` // "on Linux"
	prints     = `(?:exit(?:s|ed)?|returns?|produces?|gives?|prints?|shows?|reports?|yields?|emits?)`
	not        = `(?:not|never|n['’]t)`
)

var phrases = sync.OnceValue(func() wording {
	return wording{
		boundary: written(`[.!?;|]\s|[:(,–—→]|\s-+\s|\s[-=]>|\b(?:and|or|but|so|then|that|whereas|plus|also)\s`),
		opening:  written(`^(?:{lead}\s*)*$`),
		asked: written(`^(?:(?:{polite}|` + adverbs + `)\s*)*{try}(?:\s+{trying})*$|` +
			`^when (?:i|we|you|(?:the|an?) \w+) (?:runs?|executes?|types?)$|` +
			`^(?:an?|the|any|new|every|\s)*{person} can (?:now |still |also )?(?:run|execute)$|` +
			`\b{verified} (?:with|by|via|using)(?: running)?$|` +
			`\bpass(?:es|ed|ing)?$|` +
			`\b{evidence} includes?$|` +
			`\b(?:no|zero|nothing)\b.*\bafter(?: running)?$`),
		running:   written(`\b(?:run(?:ning)?|execut(?:e|ing))$`),
		by:        written(`\b(?:with|using|via|per|according to|under|in|from|through|running)(?: the)?$`),
		claim:     written(`\b(?:` + succeeding + `|{claim})\b|[<>≤≥=%✓✅]`),
		verifying: written(`\b{verifying}\b`),
		state:     written(`\b{state}\b`),
		making: written(`^(?:(?:to|we|must|should|` + adverbs + `)\s*)*{making}\b|` +
			`^(?:\w+\s+)?{label}(?:\s+{labelled})?$|` +
			`\b(?:for|of) (?:each|every|all|both|these)\b[^.;]*$|` +
			`\bruns?\s+(?:in|under|from)$|` +
			`\b{made}\s+(?:with|using|via|from|by|in|under|through)$`),
		occasion:     written(`\b(?:after|before|once|when|while|if|given|with|on)$`),
		checking:     written(`^to (?:verify|check|confirm|test|validate|ensure|prove|see)\b`),
		executed:     written(`^(?:(?:is|are|gets) (?:run|executed|invoked)|runs|executes)\b`),
		outcome:      written(`(?m)^[ \t>*-]*then\b\s+(?:(?:it|that|this|the(?: \w+){1,3})\s+)?(?:(?:is|are|must be)\s+)?`),
		elsewhere:    written(`\b(?:in|by|as part of) (?:(?:the|a|an|each|every|same|release|build|ci)\s+)*(?:ci|job|workflow|pipeline)\b`),
		circumstance: written(`^(?:in|on|at|after|from|once|inside|under|with|without|for)\s[^,]*$`),
		denied:       written(`\b({denied}|not (?:\w+ ){0,3}that)(?:\s+{denying})*(?:\s+{avoided})*$`),
		follows: written(`^(?:$|[.,;)&+/<>=≤≥!✓✅0-9\x60]|` + adverbs + `(?:$|` + succeeding + `|{modal}\b|` +
			`(?:is|are|was|were|has|have|takes?|gives?)\b|` +
			`(?:outputs?|results?) (?:is|are|has|have|shows?|includes?|contains?|lists?|matches|equals|stays?|remains?|unchanged|must|should)\b|` +
			`[a-z-]+s\b|commands?\b|{then}\b))`),
		aside: written(`^\([^()]*\)`),
		noun:  written(`^(?:\w+(?:ss|us|is|ias)\b|[a-z]+s\s+(?:is|are|was|were|has|have|can|will|must|should)\b)`),
		failing: written(`^(?:commands?\s+)?` + placed + `(?:(?:{modal}|now|still|also|then|to|\w+ly)\s+)*(?:{fails}\b|` +
			prints + `\s+(?:with\s+)?(?:an?\s+|the\s+)?(?:(?:exit\s+)?(?:code|status)\s*:?\s*(?:[1-9]|non-?zero)|` +
			`[12]\s+(?:when|if|on)\b|non-?zero|(?:[\w-]+\s+){0,3}errors?\b)|` +
			`exit(?:s|ed)?\s+(?:with\s+)?[1-9])`),
		passing: written(`^(?:{modal}\s*` + not + `\s+{fault}|(?:is|are) (?:a )?no-?op\b|(?:never|no longer)\s+{fault}s?\b|` +
			`(?:` + prints + `|has|with)\s+(?:(?:with|code|status|exit)\s+)*(?:no|zero|0|without|only)\b)`),
		treated: written(`^(?:{kind}\s+)?` + placed + `(?:` +
			`(?:(?:{passive}|{modal} (?:still |also |now )?be)\s+)?` + adverbs + `{treated}\b|` +
			`(?:is|are|was|has been|must be)\s+(?:never|not|no longer)\s+(?:\w+ed|run|part|necessary|an?|the|in)\b|` +
			`{modal}\s*` + not + `\s+(?:be|exist|run)\b|` +
			`runs?\s+(?:automatically\b|(?:in|on|for|as part of|during)\s+(?:(?:the|an?|every|each|all)\s+)*{others}\b)|` +
			`(?:provides?|offers?) \x60c\x60|` +
			`(?:is|are|was) (?:an?|equivalent|identical|(?:the )?same as)\b|` +
			`no longer\s+(?:\w+ed|exists?|works|runs)\b|` +
			`do(?:es)?\s*(?:not|n['’]t)\s+(?:exist|appear|run|work|trigger|match|fire|count)\b|` +
			`{dispositions}\s*(?:$|[.,;|()]))`),
		besides: written(`^\s*and\s+(?:{shows}|works?|runs?|pass(?:es)?|succeeds?)\b`),
		nothing: written(`\b(?:no|nothing|none|empty)\b|\b(?:0|zero)\s+(?:[\w-]+\s+)?{found}\b|` +
			`^(?:is|are|prints|outputs|shows|returns?|gives|yields|=+)\s*(?:0|zero)\b`),
		nowhere: written(`\b(?:no|zero|0)\s+(?:[\w-]+\s+){0,3}{found}\b[^.;]*$`),
		succeeds: written(`^(?:{modal}\s+)?(?:(?:is|are|be|stays?|remains?)\s+)?` + adverbs + `(?:` + succeeding +
			`|no (?:errors?|warnings?|findings?|issues?|failures?)|0 |all |verify|verifies|tests?\b)`),
		results:  written(`^` + adverbs + `{shows}\b`),
		foreign:  written(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Cyrillic}\p{Arabic}\p{Greek}äöüßéèêçñ]|\b{foreign}\b`),
		english:  written(`\b{english}\b`),
		negated:  written(`\b{negated}\b|\bno (?:se|debe|ejecut)|ない|せず|ません|不|没|別|勿|不要|(?:^| )(?:не|нет|вместо|нельзя)(?:$| )`),
		things:   written(`\b{things}\b`),
		inviting: written(`\b{inviting}`),
		telling:  written(`\b({telling})\b[^.]*:[*_]*\s*$`),
		blockBreak: written(`\n[ \t>]*\n|\n[ \t>]*(?:~~~|[\x60]{3})[^\n]*|\n[ \t>*]*(?:(?-i:Given|When|Then|And))\b|` +
			`\n[ \t>]*(?:[-*+]|\d+[.)])[ \t]|\n[ \t>]*#|\n[ \t>]*\|`),
		itemStart:  written(`^[ \t>]*(?:(?:[-*+]|\d+[.)]|\|)[ \t]+)?(?:\[[ xX]\][ \t]+)?`),
		enumerated: written("(?:`[^`]*`\\s*(?:,?\\s*(?:and|or|nor|&&?)|,|/|\\||\\+)?\\s*)+$"),
		enumerates: written("^(?:\\s*(?:,|/|\\||&&?|\\+|,?\\s*(?:and|or|nor)\\b)\\s*(?:and\\s+|or\\s+)?`[^`]*`)+"),
		code:       written("`[^`]*`"),
		marks: strings.NewReplacer("**", "", "__", "", "*", "", `"`, "", "“", "", "”", "", "❌", "",
			"e.g.,", "such as", "e.g.", "such as", "for example,", "such as", "for instance,", "such as", "i.e.", "namely", "vs.", "versus"),
	}
})
