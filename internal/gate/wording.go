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
		return regexp.MustCompile("(?i)" + withLists().Replace(expression))
	})
}

// withLists puts the words of a list in the place of its name.
var withLists = sync.OnceValue(func() *strings.Replacer {
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
		for word := range strings.FieldsSeq(line) {
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
	boundary, numbered, opening, asked, seen, outputOf, quoting, appositive, running, by, claim, verifying, state, making, circumstance, occasion,
	elsewhere, others, successful, proven, enabled, verifies, denied, nowhere,
	aside, noun, follows, plural, serving, checking, executed, failing, passing, needing, treated, compared, measured, binary, being, tested, besides, nothing, absent, succeeds, successWord, unfailing, results,
	things, inviting, telling, outcome,
	foreign, english, negated, abroad,
	blockBreak, itemStart, enumerated, enumerates, code phrase

	marks *strings.Replacer // removes emphasis and quotes
}

// Pieces of the expressions below.
const (
	succeeding = `(?:{success}|exit(?:s|ed)?(?: with)?(?: code| status)?(?: 0| zero)|returns? (?:0|zero))`
	adverbs    = `(?:(?:{adverb}|\w+ly)\s+)*`
	atPlace    = `(?:{place}\s+(?:[^\s,;.\x60]+\s+){1,5}?)?` // "on Linux"
	prints     = `(?:exit(?:s|ed)?|returns?|produces?|gives?|prints?|shows?|reports?|yields?|emits?|completes?|ends?|finish(?:es)?|terminates?)`
	not        = `(?:not|never|n['’]t)`
)

var phrases = sync.OnceValue(func() wording {
	return wording{
		// What leads to the code: the text before it, or the clause that ends with it.

		// where a clause ends, and what ends it
		boundary: written(`[.!?;|]\s|[:(,–—→]|\s-+\s|\s[-=]>|\b(?:and|or|but|so|then|that|whereas|plus|also)\s`),
		// the number of an item in a line
		numbered: written(`(^|\s)(?:\(?(?:\d{1,2}|[a-h])\)|(?:ac|fr|req)-?\d+[.:]?|[✅✓✔☐☑•])\s+`),
		// a clause that only leads to its subject
		opening: written(`^(?:{lead}\s*)*$`),
		// a clause that ends in asking
		asked: written(`^(?:(?:{polite}|` + adverbs + `)\s*)*{try}(?:\s+{trying})*$|` +
			`^when (?:i|we|you|(?:the|an?) \w+) (?:runs?|executes?|types?)$|^when (?:running|executing)$|` +
			`^(?:(?:it is )?(?:able|possible) to|can(?: now| still| also)?) (?:run|execute)$|` +
			`^(?:an?|the|any|new|every|\s)*(?:{person}|i|we|you) can (?:now |still |also )?(?:run|execute)$|` +
			`\b{verified} (?:with|by|via|using)(?: running)?$|` +
			`\bpass(?:es|ed|ing)?$|` +
			`\b{evidence} includes?$|` +
			`\b(?:no|zero|nothing)\b.*\bafter(?: running)?$`),
		// a clause that ends in something that its output shows
		seen: written(`\b(?:{seen} (?:in|by|via|with|under)|{unseen} (?:from|in))(?: the)?$`),
		// a clause that ends in what holds a text: it says so to others
		quoting: written(`\b(?:says?|tells?|reads?|states?|prompts?|hints?|messages?|instructions?|readme|docs|documentation)$`),
		// a name of what the code is: "smoke test X passes"
		appositive: written(`^(?:(?:the|a|new|each|[\w-]+)\s+){0,3}(?:tests?|suite|target|script|command|check|gate|build|recipe|task)$`),
		// a clause that ends in what it prints
		outputOf: written(`^(?:the )?(?:json )?(?:output|results?) (?:of|from)$`),
		// whatever it is called behind it, it is to be run
		running: written(`\b(?:run(?:ning)?|execut(?:e|ing))$`),
		// a clause that ends in what names a means
		by: written(`\b(?:with|using|via|per|according to|under|in|from|through|running)(?: the)?$`),
		// something is said to hold, or to be looked at
		claim: written(`\b(?:` + succeeding + `|{claim})\b|[<>≤≥=%✓✅]`),
		// a label for what shows that it holds
		verifying: written(`\b{verifying}\b`),
		// likewise, less clearly
		state: written(`\b{state}\b`),
		// a clause about making or changing something
		making: written(`^(?:(?:to|we|must|should|` + adverbs + `)\s*)*{making}\b|` +
			`^(?:\w+\s+)?{label}(?:\s+{labelled})?$|` +
			`\b(?:for|of) (?:each|every|all|both|these)\b[^.;]*$|` +
			`\bruns?\s+(?:in|under|from)$|` +
			`\b{made}\s+(?:with|using|via|from|by|in|under|through)$`),
		// a clause that tells where or when
		circumstance: written(`^(?:in|on|at|after|from|once|inside|under|with|without|for)\s[^,]*$`),
		// it is when something else happens
		occasion: written(`\b(?:after|before|once|when|while|if|given|with|on)$`),
		// a clause that tells of a machine of others
		elsewhere: written(`\b(?:in|by|as part of) (?:(?:the|a|an|each|every|same|release|build|ci)\s+)*(?:ci|job|workflow|pipeline)\b`),
		// likewise, before a colon
		others: written(`^(?:the )?(?:ci|pipeline|workflow)\b (?:job )?(?:includes?|runs?|has|gets|executes?|checks?)\b`),
		// a clause that ends in saying that it succeeds
		successful: written(`\b{success}$`),
		// what shows that something works is told next
		proven: written(`\b(?:pass(?:es)?|succeeds?|works?|runs?|executes?|builds?|compiles?|completes?|green|launches|starts|correct|available|accessible|possible)\b`),
		// somebody is able to do something by the code, or does it
		enabled: written(`\b(?:can|able to|possible to)\b[^,;.]*\b(?:with|using|via|through|by)$|\b(?:responds?|answers?) to$|` +
			`^(?:an?|the|\s)*{person} (?:runs?|types?|executes?)$|^(?:typing|entering|invoking|calling)$`),
		// what verifies it is told next, whatever part of it
		verifies: written(`\bverify(?::| (?:with|via|by|using):?)$`),
		// it is not to be run
		denied: written(`\b({denied}|not (?:\w+ ){0,3}that)(?:\s+{denying})*(?:\s+{avoided})*$`),
		// a search is to find nothing, said before it
		nowhere: written(`\b(?:no|zero|0)\s+(?:[\w-]+\s+){0,3}{found}\b[^.;]*$`),

		// What is said behind the code, from there on.

		// what stands in brackets
		aside: written(`^(?:\([^()]*\)|/ ?[a-z][a-z-]+\s)`),
		// a word that looks like a verb is a name for something
		noun: written(`^(?:\w+(?:ss|us|is|ias)\b|[a-z]+s\s+(?:is|are|was|were|has|have|can|will|must|should)\b)`),
		// the sentence goes on with a verb or a circumstance
		follows: written(`^(?:$|[.,;)&+/<>=≤≥!✓✅0-9\x60]|` + adverbs + `(?:$|` + succeeding + `|{modal}(?:n['’]t)?\b|` +
			`(?:is|are|was|were|has|have|takes?|gives?)\b|` +
			`(?:(?:json|help)\s+)?(?:outputs?|results?|json|text|help|stdout|stderr) ` +
			`(?:is|are|has|have|shows?|includes?|contains?|lists?|mentions?|documents?|describes?|matches|equals|stays?|remains?|unchanged|must|should)\b|` +
			`(?:targets?|scripts?|recipes?|tasks?)\s+` + adverbs + `(?:works?|passe?s?|succeeds?|runs?)\b|` +
			`[a-z-]+s\b|(?:sub)?commands?\s+` + adverbs + `(?:[a-z-]+s\b|{modal}(?:n['’]t)?\b|{success}\b|to\b)|(?:binary|executable)\b|{then}\b))`),
		// likewise of several: a verb in the plural with what belongs to it
		plural: written(`^[a-z]+ (?:on|in|to|with|without|for|from|the|all|no|zero|only)\b`),
		// it goes on until it is stopped
		serving: written(`^(?:{modal}\s+)?` + adverbs + `(?:starts?|launch(?:es)?|opens?|serves?|boots?|spins? up|brings? up)\b`),
		// it is used to check
		checking: written(`^to (?:verify|check|confirm|test|validate|ensure|prove|see)\b`),
		// after "when": it is executed
		executed: written(`^(?:(?:is|are|gets) (?:run|executed|invoked)|runs|executes)\b`),
		// it is meant to fail, so its passing would not say so
		failing: written(`^{modal}\s*` + not + `(?:$|[.,;)]|\s+(?:succeed|pass|work)\b)|^(?:(?:is|{modal} be)\s+(?:not (?:possible|allowed)|impossible|forbidden)|stops (?:working|passing))\b|^(?:commands?\s+)?` + atPlace + `(?:(?:{modal}|now|still|also|then|to|\w+ly)\s+)*(?:{fails}\b|` +
			prints + `\s+(?:with\s+)?(?:an?\s+|the\s+)?(?:(?:exit\s+)?(?:code|status)\s*:?\s*(?:[1-9]|non-?zero)|` +
			`[12]\s+(?:when|if|on)\b|non-?zero|(?:[\w-]+\s+){0,3}errors?\b)|` +
			`exit(?:s|ed)?\s+(?:with\s+)?[1-9])|^\((?:exits?|exit code|exit status)\s*:?\s*(?:[1-9]|non-?zero)`),
		// it is meant to pass, in words that look like the opposite
		passing: written(`^(?:{modal}\s*` + not + `\s+{fault}|(?:is|are) (?:a )?no-?op\b|(?:never|no longer)\s+{fault}s?\b|` +
			`(?:` + prints + `|has|with)\s+(?:(?:with|code|status|exit)\s+)*(?:no|zero|0|without|only)\b)`),
		// what only a program that is here can do, whether or not it passes then
		needing: written(`^(?:(?:sub)?commands?\s+(?:exists?\b|(?:is|are) available\b)|(?:(?:sub)?commands?\s+)?` + adverbs + `supports?\b)`),
		// it is a program, and runs
		binary: written(`^(?:binary|executable)\s+` + adverbs + `(?:runs?|works?|executes?|{shows})\b`),
		// how long it takes, or another figure of it
		measured: written(`^(?:run ?time|(?:wall )?time|duration|coverage|(?:output )?size)\s+(?:is|are|under|below|over|above|at|stays?|remains?|drops?|within|[<>≤≥])`),
		// others test it, or it does not do what something else does
		tested: written(`^(?:is|are|do(?:es)?)\s*(?:not|n['’]t)(?:$|[.,;)])|^(?:\w+\s+)?tests\s+` + adverbs + `(?:{success}|cover|exist|are)\b`),
		// what it is or has, as things are and have
		being: written(`^(?:is|are|was|were|has|have)\b`),
		// its output, or what it does, is as it was
		compared: written(`^(?:the )?(?:same|unchanged|identical)\s+(?:[\w-]+\s+)?(?:outputs?|behaviou?rs?|results?|exit codes?)\b`),
		// it exists, or something is done with it
		treated: written(`^(?:{kind}\s+)?` + atPlace + `(?:` +
			`(?:(?:{passive}|{modal} (?:still |also |now )?be)\s+)?` + adverbs + `{treated}\b|` +
			`(?:is|are|was|has been|must be)\s+(?:never|not|no longer)\s+(?:\w+ed|run|part|necessary|an?|the|in)\b|` +
			`{modal}\s*` + not + `\s+(?:be|exist|run)\b|` +
			`runs?\s+(?:automatically\b|(?:in|on|for|as part of|during)\s+(?:(?:the|an?|every|each|all)\s+)*{others}\b)|` +
			`(?:provides?|offers?) \x60c\x60|` +
			`(?:is|are) (?:a )?part of\b|(?:is|are) in (?:the )?(?:\x60c\x60|[\w./-]+\.(?:json|md|ya?ml|toml)|makefile|justfile|readme|ci|path|docs|help)\b|` +
			`(?:is|are|was) (?:an?|all(?: that)? (?:you|one|it|that)|equivalent|identical|(?:the )?same as)\b|` +
			`(?:{modal}\s+)?no longer\s+(?:\w+ed|exists?|works?|runs?|pass(?:es)?|succeeds?|be)\b|` +
			`do(?:es)?\s*(?:not|n['’]t)\s+(?:exist|appear|run|work|trigger|match|fire|count)\b|` +
			`{dispositions}\s*(?:$|[.,;|()]))`),
		// something is said of it, and what it shows
		besides: written(`^\s*and\s+(?:{shows}|works?|runs?|pass(?:es)?|succeeds?)\b`),
		// a search is to find nothing
		nothing: written(`\b(?:no|nothing|none|empty)\b|\b(?:0|zero)\s+(?:[\w-]+\s+)?{found}\b|` +
			`^(?:is|are|prints|outputs|shows|returns?|gives|yields|drops to|=+)\s*(?:0|zero)\b`),
		// something is not to be there, before a search or behind it
		absent: written(`\b(?:no|not|\w+n['’]t|none|nothing|never|without|zero|remov\w+|delet\w+|eliminat\w+|purged?|dropped|gone|absent|empty|clean|left|leftovers?|remain\w*|free of)\b`),
		// it is to succeed
		succeeds: written(`^(?:(?:test )?suite\s+)?(?:{modal}\s+)?(?:(?:is|are|be|stays?|remains?)\s+)?` + adverbs + `(?:` + succeeding +
			`|(?:covering|targeting|exercising|including|spanning) (?:[^\s,;.]+\s+){1,6}?(?:pass(?:es)?|succeeds?|works?|(?:is |are )?(?:green|clean))\b|exit (?:code|status) (?:is |of |= ?)?(?:0|zero)\b|no (?:errors?|warnings?|findings?|issues?|failures?)|0 |all |verify|verifies|tests?\b)`),
		// a word of success in what it shows
		successWord: written(`\b(?:pass(?:es|ed|ing)?|success(?:es|ful|fully)?|succe(?:ed|eds|eded)|green|ok(?:ay)?|works?|clean)\b`),
		// it is not to fail, which is all that is said of its exit code
		unfailing: written(`^{modal}\s*` + not + `\s+(?:fail|error|crash|panic|hang|break)\b`),
		// what it shows
		results: written(`^` + adverbs + `{shows}\b`),

		// What lines around it say.

		// in the line above a list: its items are things
		things: written(`\b{things}\b`),
		// there: they are to be run all the same
		inviting: written(`\b{inviting}`),
		// in the line above a block: it shows what is printed
		telling: written(`\b({telling})\b[^.]*:[*_]*\s*$`),
		// the step of a scenario that says what comes of it, up to its verb
		outcome: written(`(?m)(?:^[ \t>*-]*|[,\x60]\s+|\bruns,?\s+)then\b\s+(?:(?:it|that|this|the(?: \w+){1,3}|(?:i|we|you) (?:see|get)(?: an?)?)\s+)?(?:(?:is|are|must be)\s+)?`),

		// The language of the sentence.

		// a word or a letter that English has not
		foreign: written(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Cyrillic}\p{Arabic}\p{Greek}äöüßéèêçñ]|\b{foreign}\b`),
		// a word that others have not
		english: written(`\b{english}\b`),
		// a word by which other languages deny
		negated: written(`\b{negated}\b|\bno (?:se|debe|ejecut)|ない|せず|ません|不|没|別|勿|不要|(?:^| )(?:не|нет|вместо|нельзя)(?:$| )`),

		// it is to succeed, in other languages
		abroad: written(`^(?:(?:が|は|も|を|で)\s*)?(?:すべて|全て|正常に|エラーなく|エラー無く)?\s*(?:通[るりっ過]|成功|パスす|動作?[くす]|実行|完了|終了)|^(?:{abroad})(?:$|\s|[.,;])`),

		// The shape of the text.

		// where another paragraph, list item or cell begins
		blockBreak: written(`\n[ \t>]*\n|\n[ \t>]*(?:~~~|[\x60]{3})[^\n]*|\n[ \t>*]*(?:(?-i:Given|When|Then|And))\b|` +
			`\n[ \t>]*(?:[-*+]|\d+[.)])[ \t]|\n[ \t>]*#|\n[ \t>]*\|`),
		// what stands before the text of a list item
		itemStart: written(`^[ \t>]*(?:(?:[-*+]|\d+[.)]|\|)[ \t]+)?(?:\[[ xX]\][ \t]+)?`),
		// code that stands in a list before a place: what is said of one is said of all
		enumerated: written("(?:`[^`]*`\\s*(?:,?\\s*(?:and|or|nor|&&?)|,|/|\\||\\+)?\\s*)+$"),
		// likewise behind it
		enumerates: written("^(?:\\s*(?:,|/|\\||&&?|\\+|,?\\s*(?:and|or|nor)\\b)\\s*(?:and\\s+|or\\s+)?`[^`]*`|\\s*\\((?:and|or|plus) `[^`]*`\\))+"),
		code:       written("`[^`]*`"),

		marks: strings.NewReplacer("**", "", "__", "", "*", "", `"`, "", "“", "", "”", "", "❌", "",
			"e.g.,", "such as", "e.g.", "such as", "for example,", "such as", "for instance,", "such as", "i.e.", "namely", "vs.", "versus"),
	}
})
