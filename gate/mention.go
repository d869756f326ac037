package gate

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// surroundings is the text around inline code, in the same paragraph or list item,
// on one line and without emphasis.
type surroundings struct {
	before string // up to the code, without code that is listed beside it
	after  string // from the code on, likewise
	intro  string // the line that introduces the list which the code stands in
	title  bool   // it stands in a heading
	apart  bool   // a comma or a bracket parts it from what is before: after one, another
}

// wording is how text mentions a command as a thing rather than asking for
// it, told by the words directly before and after.
type wording struct {
	denied      *regexp.Regexp // before: it is not to be run
	object      *regexp.Regexp // before: something is done with the command, or is to exist
	advised     *regexp.Regexp // before: somebody is told to run it
	exchanged   *regexp.Regexp // before: it takes the place of something
	quoted      *regexp.Regexp // before: it is replaced, printed, expected, or the value of a flag
	none        *regexp.Regexp // before what quoted finds: "no errors" is a result, not a quotation
	shown       *regexp.Regexp // before: what it prints holds something
	faultless   *regexp.Regexp // unless that is that there is nothing wrong
	occasion    *regexp.Regexp // before: it is when something else happens
	means       *regexp.Regexp // before: it is the means to something, which purpose names
	purpose     *regexp.Regexp // after
	noun        *regexp.Regexp // after: it is a name for something
	described   *regexp.Regexp // after: what it does is told, as in a list of commands
	gone        *regexp.Regexp // after: it is not to be run, or no more
	treated     *regexp.Regexp // after: it exists, or something is done with it
	failing     *regexp.Regexp // after: it is meant to fail, so its passing would not say so
	passing     *regexp.Regexp // after: it is meant to pass, in words that look like the opposite
	nothing     *regexp.Regexp // after: a search is to find nothing
	nowhere     *regexp.Regexp // before: likewise
	decided     *regexp.Regexp // after: what becomes of it, as in a table of inputs
	asked       *regexp.Regexp // before: it is to be run
	succeeds    *regexp.Regexp // after: it is to succeed
	introducing *regexp.Regexp // in the line above a list: its items are things
	inviting    *regexp.Regexp // there: they are to be run all the same
	checking    *regexp.Regexp // after: it is used to check

	blockBreak *regexp.Regexp // where another paragraph or list item begins
	itemStart  *regexp.Regexp // what stands before the text of a list item
	// enumerated and enumerates are code that stands in a list before and after
	// a place: what is said of one is said of all.
	enumerated *regexp.Regexp
	enumerates *regexp.Regexp
	marks      *strings.Replacer // removes emphasis and quotes
}

// Pieces of the expressions below.
const (
	// fillers stand between a word and the code that it is about.
	fillers = `(?:\s+(?:to|be|ever|existing|explicit|by|via|through|the|a|an|any|all|only|both|new|raw|plain|bare|direct|directly|` +
		`run|runs|running|use|uses|using|call|calls?|calling|invokes?|invoking|executes?|executing|needs? for|needs?|needing|` +
		`requires?|requiring|type|typing|try|` +
		`(?:[\w-]+\s+){0,2}(?:commands?|subcommands?|invocations?|forms?|variants?|inputs?|patterns?|strings?|flags?|options?|operations?)` +
		`(?:\s+(?:like|such as|including|for|of))?))*[\s:]*$`
	// aux and adverbs stand before what is said of the code.
	aux     = `(?:(?:is|are|was|were|has been|have been|must be|should be|shall be|will be|can be|may be|gets?|got|being|be)\s+)?`
	adverbs = `(?:(?:now|also|still|already|fully|properly|correctly|always|all|both|never|no longer|not)\s+)*`
	// place is where or how the command stands.
	place = `(?:with|without|on|for|in|inside|within|outside|against|from|behind)\s+(?:[^\s,;.]+\s+){1,5}?`
	// handled is what is done with a command that is a thing.
	handled = `(?:added|available|implemented|documented|defined|created|supported|registered|present|removed|deprecated|replaced|` +
		`renamed|allowed|blocked|denied|detected|matched|parsed|handled|recogni[sz]ed|flagged|classified|accepted|intercepted|` +
		`caught|permitted|rejected|refused|forbidden|prohibited|banned|deleted|gone|rewritten|normali[sz]ed|called|invoked|executed|` +
		`used|recommended|preferred|suggested|wired|exposed|executable|listed|mentioned|displayed|whitelisted|allowlisted|safe|unsafe|dangerous|unchanged|unaffected|preserved|exists?)\b`
)

var phrases = sync.OnceValue(func() wording {
	return wording{
		denied: regexp.MustCompile(`(?i)\b(never|not|no|nor|cannot|\w+n['’]t|no longer|without|avoid(?:s|ed|ing)?|instead of|rather than|unlike|` +
			`forbid(?:s|den)?|refus(?:es?|ed|ing)|reject(?:s|ed|ing)?|block(?:s|ed|ing)?|prevent(?:s|ed|ing)?|den(?:y|ies|ied|ying)|bann?(?:s|ed)?|prohibit(?:s|ed)?|` +
			`skip(?:s|ped|ping)?|ignor(?:es?|ed|ing)|omit(?:s|ted)?|disabl(?:es?|ed)|exclud(?:es?|ed|ing)|drop(?:s|ped)?)` +
			fillers),
		object: regexp.MustCompile(`(?i)\b(detect(?:s|ed|ing)?|recogni[sz](?:es?|ed|ing)|match(?:es|ing)|pars(?:es?|ed|ing)|handl(?:es?|ed|ing)|` +
			`classif(?:y|ies|ied)|flag(?:s|ged)|intercept(?:s|ed|ing)?|catch(?:es)?|allow(?:s|ed|ing)?|permit(?:s|ted)?|accept(?:s|ed)?|` +
			`(?:white|allow|black|deny)list(?:s|ed)?|support(?:s|ed|ing)?|add(?:s|ed|ing)?|implement(?:s|ed|ing)?|introduc(?:es?|ed|ing)|creat(?:es?|ed|ing)|how to|` +
			`provid(?:es?|ed|ing)|expos(?:es?|ed|ing)|document(?:s|ed|ing)?|describ(?:es?|ed|ing)|defin(?:es?|ed|ing)|register(?:s|ed)?|` +
			`renam(?:es?|ed|ing)|remov(?:es?|ed|ing)|deprecat(?:es?|ed|ing)|wrap(?:s|ped|ping)?|calls|invokes|executes|runs|uses|used|called|` +
			`spawn(?:s|ed|ing)?|shell(?:s|ing)? out to|delegat(?:es?|ing) to|mirror(?:s|ing)?|emulat(?:es?|ing)|mimic(?:s|king)?|` +
			`includ(?:es?|ed|ing)|rewrit(?:es?|ing)|strip(?:s|ped)|simulat(?:es?|ed|ing)|mock(?:s|ed|ing)?|stub(?:s|bed)?|trigger(?:s|ed)?|` +
			`cover(?:s|ed|ing)?|update|extend(?:s|ed)?|enhanc(?:es?|ed|ing)|fix(?:es|ed|ing)?|refactor(?:s|ed|ing)?|mov(?:es?|ed|ing)|consolidat(?:es?|ed|ing)|modif(?:y|ies|ied)|` +
			`chang(?:es|ed|ing)|improv(?:es?|ed|ing)|requir(?:es?|ed|ing)|(?:flags?|options?|checks?|subcommands?|hooks?|support) to|equivalent (?:to|of)|similar to|same as|identical to|compatible with|parity with|compar(?:es?|ed|able) (?:to|with)|` +
			`consistent with|vs\.?|versus|alias(?:es)?(?: for| of| to)?|shorthand for|wrapper (?:for|around)|` +
			`(?:tests?|rules?|patterns?|coverage|docs?|documentation|help|help text|support|usage|examples?|completions?|handling|handlers?) (?:for|of)|` +
			`(?:created|produced|generated|triggered|managed|run|started|emitted|written) by|false positives? (?:on|for|with|from)|` +
			`(?:implemented|resolved|computed|detected|obtained|fetched|determined|derived|collected|retrieved|queried|spawned|read|parsed) (?:by|via|with|using|through|from)|` +
			`resolve via|new|slash)` + fillers),
		advised: regexp.MustCompile(`(?i)\b((?:suggest|hint|prompt|tell|instruct|advis|recommend|ask|say|mention|point)(?:s|es?|ed|ing)?|told|said)\b` +
			`[^.;]{0,50}\b(?:to (?:run|use|try|type)|running|using|try)[\s:]*$`),
		exchanged: regexp.MustCompile(`(?i)\b((?:replac|chang|renam|mov|convert|migrat|switch|substitut|prefer)(?:s|es?|ed|ing|red)?)\b[^.;]{1,80}\b(?:with|by|to|for|over|from)$|` +
			`\b((?:updat|configur|wir|chang|extend|modif|add|set)(?:s|es?|ed|ing|y|ies|ied)?)\b[^.;,]{0,40}\b(?:(?:to|that) runs?|(?:steps?|jobs?|stages?|targets?|hooks?)(?: (?:for|with))?:?)$`),
		quoted: regexp.MustCompile(`(?i)(?:\b(?:` +
			`replac(?:e|es|ed|ing)|supersedes?|formerly|previously|used to be|renamed(?: from)?|` +
			`output (?:of|from)|outputs?|prints?|printed|printing|displays?|shows?|showing|returns?|says?|saying|contains?|containing|` +
			`reads|emits?|logs?|reports?|mentions?|mentioning|suggests?|suggesting|hints?|named|titled|such as|like|e\.g\.|for example|` +
			`out of scope|non-goals?|future|deferred|expected(?: output)?|error message|error:|message|text|string|example|input|stdin|stdout|stderr|usage|invocations? of|` +
			`labell?ed|matching|equals?|set to|flag|value|defaults?(?:\s+\w+)?(?:\s+(?:to|is))?|instances? of|occurrences? of|references? to|calls? to|uses? of` +
			`)[\s:,]*|(?:→|=>|->|=|--[\w-]+)\s*)$`),
		none: regexp.MustCompile(`(?i)\b(?:no|without|zero|0|any|nothing)(?:\s+[\w-]+)?\s*$`),
		shown: regexp.MustCompile(`(?i)\b((?:appear(?:s|ing)?|show(?:s|n)?|visible|listed|present|included|excluded|hidden|filtered|absent|missing|displayed|surfaced?|surfaces|seen|omitted)` +
			`(?:\s+(?:up|out))?\s+(?:in|from))(?:\s+(?:the|both|all))?$`),
		faultless: regexp.MustCompile(`(?i)\b(?:no|zero|0|without)\s+(?:[\w-]+\s+){0,2}(?:errors?|warnings?|failures?|issues?|problems?|regressions?|findings?|violations?|diffs?|changes?)\b[^.;]*$`),
		occasion:  regexp.MustCompile(`(?i)(?:\b(?:after|before|during|when|while|until|once|if|unless|upon|given)(?:\s+(?:the|a|an|each|every|any|user|users))?|^on|[,;] on)$`),
		means:     regexp.MustCompile(`(?i)\b(?:use|using|via|with|by|through)$`),
		purpose:   regexp.MustCompile(`(?i)^(?:to|for|internally|under the hood|behind the scenes)\b`),
		noun: regexp.MustCompile(`(?i)^(?:-\s*)?(?:call|invocations?|pattern|string|syntax|snippets?|examples?|flag|options?|usages?|documentation|docs|` +
			`help|help text|support|implementation|parity|equivalents?|alias|output|error|message|style|semantics|workflow|structure|format|response|subcommands|new flags?|instructions?|behaviou?r|logic|handler)\b`),
		described: regexp.MustCompile(`(?i)^(?:[^-–—:]{0,30}\s)?[-–—:]+\s*(?:show|list|display|generate|create|output|print|add|remove|update|delete|get|set|return|` +
			`install|export|import|start|stop|launch|open|edit|view|wrapper|alias|quer(?:y|ies)|read|write|fetch|parse|force|assign)\b`),
		gone: regexp.MustCompile(`(?i)^(?:(?:commands?|targets?|scripts?)\s+)?(?:` + place + `)?(?:` +
			`(?:is|are|was|has been|must be)\s+(?:never|not|no longer|removed|gone|deprecated|forbidden|banned|blocked|refused|rejected|replaced|deleted|denied)\b|` +
			`(?:must|should|shall|will|may|can)\s*(?:not|never|n['’]t)\s+(?:be|exist|run)\b|` +
			`no longer\s+(?:\w+ed|exists?|works|runs)\b|` +
			`do(?:es)?\s*(?:not|n['’]t)\s+(?:exist|appear|run|work|trigger|match|fire|count)\b)`),
		treated: regexp.MustCompile(`(?i)^(?:(?:(?:sub)?commands?|targets?|scripts?|recipes?|tasks?|steps?|jobs?|entry|entries|lines?)\s+)?` +
			`(?:` + aux + adverbs + handled + `|` + place + `(?:is|are|gets)\s+` + adverbs + handled + `)`),
		failing: regexp.MustCompile(`(?i)^(?:(?:commands?|targets?|scripts?)\s+)?(?:` + place + `)?` +
			`(?:(?:now|still|must|should|will|also|then|to|correctly|gracefully)\s+)*` +
			`(?:fail(?:s|ed|ing)?\b|errors?(?:\s+out)?\b|refuses?\b|rejects?\b|raises?\b|throws?\b|crash(?:es)?\b|panics?\b|` +
			`(?:(?:exit(?:s|ed)?|returns?|produces?|gives?|prints?|shows?|reports?|yields?|emits?)\s+)(?:with\s+)?(?:an?\s+|the\s+)?` +
			`(?:(?:exit\s+)?(?:code|status)\s*:?\s*(?:[1-9]\b|non-?zero)|[12]\s+(?:when|if|on)\b|non-?zero|(?:[\w-]+\s+){0,3}errors?\b(?:\s+(?:message|if|when))?)|exit(?:s|ed)?\s+(?:with\s+)?(?:code\s+)?(?:[1-9]|non-?zero))`),
		passing: regexp.MustCompile(`(?i)^(?:(?:must|should|shall|will|can|may|does|do)\s*(?:not|never|n['’]t)\s+(?:fail|error|crash|panic|hang|break|regress|` +
			`warn|report|show|produce|print|emit|return|throw|raise|time|leave|change|modify)|` +
			`(?:exits?|returns?|reports?|shows?|gives?|produces?|prints?|yields?|emits?)\s+(?:(?:with|code|status|exit)\s+)*(?:no|zero|0|without)\b)`),
		nothing: regexp.MustCompile(`(?i)\b(?:no|nothing|none|empty)\b|\b(?:0|zero)\s+(?:[\w-]+\s+)?(?:results?|match(?:es)?|hits?|lines?|occurrences?|references?|usages?|instances?|files?)\b|` +
			`^(?:is|are|prints|outputs|shows|returns?|gives|yields|=+)\s*(?:0|zero)\b`),
		nowhere: regexp.MustCompile(`(?i)\b(?:no|zero|0)\s+(?:[\w-]+\s+){0,3}(?:results?|match(?:es)?|hits?|occurrences?|references?|usages?|uses?|instances?|calls?|imports?)\b[^.;]*$`),
		decided: regexp.MustCompile(`(?i)^[:=–—-]*(?:→|=>|->|\|)\s*(?:den(?:y|ies)|blocks?|allows?|rejects?|refuses?|flags?|match(?:es)?|no match|safe|warns?|asks?)\b`),
		asked: regexp.MustCompile(`(?i)\b(?:run|runs? with|running|check|checks|checked|verif(?:y|ies|ied|ication)|confirm(?:s|ed)?|ensure|execute|validate|tests?|tested|passes|passed|pass|command|inline)` +
			`(?:\s+(?:with|by|via|using|that|the|commands?|command|it|this|inline|running|and|also))*[\s:(]*$`),
		succeeds: regexp.MustCompile(`(?i)^(?:(?:now|still|must|should|will|also|all)\s+)*(?:pass(?:es|ed)?|succeeds?|works?|completes?|(?:is )?(?:ok|clean|green)|validates|compiles|builds|exits? (?:with )?(?:code )?(?:0|zero)|returns? 0|runs? (?:clean|without|successfully))\b`),
		introducing: regexp.MustCompile(`(?i)\b(?:never|not|don['’]t|block(?:s|ed)?|den(?:y|ies|ied)|reject(?:s|ed)?|forbidden|refused?|allow(?:s|ed)|` +
			`permit(?:s|ted)|detect(?:s|ed)?|match(?:es|ed)|inputs?|test cases?|examples?|removed|deprecated|replaced|out of scope|non-goals?|anti-?patterns?|` +
			`subcommands|new commands|supported commands|implemented|supports?|usage|outputs?|safe|unsafe|dangerous|destructive)\b`),
		inviting:   regexp.MustCompile(`(?i)\b(?:pass|succeed|work|run|execute|exit|not (?:fail|error|break|crash)|verif|validat|verification|checks?)`),
		checking:   regexp.MustCompile(`(?i)^to (?:verify|check|confirm|test|validate|ensure|prove|see)\b`),
		blockBreak: regexp.MustCompile(`\n[ \t>]*\n|\n[ \t>]*(?:[-*+]|\d+[.)])[ \t]|\n[ \t>]*#`),
		itemStart:  regexp.MustCompile(`^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?`),
		enumerated: regexp.MustCompile("(?:`[^`]*`\\s*(?:,?\\s*(?:and|or|nor|&)|,|/|\\|)?\\s*)+$"),
		enumerates: regexp.MustCompile("^(?:\\s*(?:,|/|\\||&|,?\\s*(?:and|or|nor)\\b)\\s*(?:and\\s+|or\\s+)?`[^`]*`)+"),
		marks:      strings.NewReplacer("**", "", "__", "", "*", "", `"`, "", "(", "", ")", "", "“", "", "”", "", "✅", "", "❌", ""),
	}
})

// reach is how far text before and after is read, in bytes: sentences are
// shorter, and a text of many spans is read in linear time.
const reach = 600

// around is the text around the code at text[start:end], backticks included.
func around(text string, start, end int) surroundings {
	return surroundings{
		before: leading(text[max(0, start-reach):start]),
		after:  trailing(text[end:min(len(text), end+reach)]),
		intro:  introduction(text[max(0, start-2*reach):start]),
		title:  strings.HasPrefix(text[strings.LastIndexByte(text[:start], '\n')+1:], "#"),
		apart:  strings.HasSuffix(strings.TrimRight(text[:start], " \n"), ",") || strings.HasSuffix(text[:start], "("),
	}
}

// asks tells whether the text asks for the command in so many words.
func (c surroundings) asks() bool {
	return phrases().asked.MatchString(c.before) || phrases().succeeds.MatchString(c.after)
}

// mention says why code is mentioned rather than asked for; "" when it is not.
// searching tells that it is a search, which fails when there is nothing.
func (c surroundings) mention(searching bool) string {
	if c.title {
		return "names what a heading is about"
	}
	if why := c.toldBefore(); why != "" {
		return why
	}
	return c.toldAfter(searching)
}

// toldBefore is what the text before the code says against running it.
func (c surroundings) toldBefore() string {
	p := phrases()
	if match := p.denied.FindStringSubmatch(c.before); match != nil {
		return "mentioned after " + quote(match[1])
	}
	for _, told := range []*regexp.Regexp{p.advised, p.exchanged} {
		match := told.FindStringSubmatch(c.before)
		if match != nil && !(told == p.exchanged && match[1] != "" && p.asked.MatchString(c.before)) {
			return "mentioned after " + quote(strings.Join(match[1:], ""))
		}
	}
	if at := p.object.FindStringSubmatchIndex(c.before); at != nil && !p.none.MatchString(c.before[:at[0]]) {
		if verb := c.before[at[2]:at[3]]; !c.wanted(verb) {
			return "mentioned after " + quote(verb)
		}
	}
	if match := p.shown.FindStringSubmatch(c.before); match != nil && !p.faultless.MatchString(c.before) {
		return "mentioned after " + quote(match[1])
	}
	if at := p.quoted.FindStringIndex(c.before); at != nil && !p.none.MatchString(c.before[:at[0]]) && !c.announced() {
		return "mentioned after " + quote(strings.Trim(c.before[at[0]:], " :,"))
	}
	if match := p.occasion.FindString(c.before); match != "" && !c.apart {
		return "mentioned after " + quote(strings.Trim(match, " ,;"))
	}
	if p.means.MatchString(c.before) && p.purpose.MatchString(c.after) && !p.checking.MatchString(c.after) && !p.asked.MatchString(c.before) {
		return "mentioned as the means " + quote(p.purpose.FindString(c.after))
	}
	return ""
}

// toldAfter is what the text behind the code says against running it, or the
// line above its list.
func (c surroundings) toldAfter(searching bool) string {
	p := phrases()
	if match := p.described.FindString(c.after); match != "" {
		return "described: " + quote(strings.TrimLeft(match, " :–—-"))
	}
	said := strings.TrimLeft(c.after, " :→|=>—–-")
	if match := p.decided.FindString(c.after); match != "" {
		return "mentioned before " + quote(match)
	}
	if searching && (p.nothing.MatchString(firstClause(said)) || p.nowhere.MatchString(c.before)) {
		return `a search that is to find nothing fails: write it with "!" before`
	}
	if !p.passing.MatchString(said) {
		for _, told := range []*regexp.Regexp{p.noun, p.gone, p.treated} {
			if match := told.FindString(said); match != "" {
				return "mentioned before " + quote(strings.TrimSpace(match))
			}
		}
		if match := p.failing.FindString(said); match != "" {
			return "expected to fail: " + quote(strings.TrimSpace(match))
		}
	}
	if match := p.introducing.FindString(c.intro); match != "" && !p.inviting.MatchString(c.intro) && !p.succeeds.MatchString(said) {
		return "listed under " + quote(match)
	}
	return ""
}

// wanted tells whether a command is asked for all the same where something is
// done with it: used to check, "a new one works", "the migration runs: it".
func (c surroundings) wanted(verb string) bool {
	p := phrases()
	return p.checking.MatchString(c.after) || p.succeeds.MatchString(c.after) ||
		strings.HasSuffix(c.before, ":") && slices.Contains(telling, strings.ToLower(verb))
}

// telling are verbs that end a statement of their own before a colon.
var telling = []string{"runs", "improves", "moves", "changes", "requires", "covers"}

// announced tells whether a colon leads to a command that is to succeed.
func (c surroundings) announced() bool {
	return strings.HasSuffix(c.before, ":") && phrases().succeeds.MatchString(c.after)
}

// firstClause is the text up to the end of the clause.
func firstClause(text string) string {
	if i := strings.IndexAny(text, ";.`"); i >= 0 {
		return text[:i]
	}
	return text
}

func quote(words string) string { return `"` + words + `"` }

// leading is the prose of the same paragraph or list item before a place.
func leading(text string) string {
	if all := phrases().blockBreak.FindAllStringIndex(text, -1); all != nil {
		text = text[all[len(all)-1][0]:]
	}
	text = phrases().itemStart.ReplaceAllString(strings.TrimLeft(text, "\n"), "")
	return sentence(phrases().enumerated.ReplaceAllString(text, ""))
}

// trailing is the prose of the same paragraph or list item behind a place.
func trailing(text string) string {
	if at := phrases().blockBreak.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	return sentence(phrases().enumerates.ReplaceAllString(text, ""))
}

// introduction is the line that introduces the list in which a place stands:
// the last one that ends with a colon and is no item, if only items follow it.
func introduction(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimRight(lines[i], " \t\r")
		switch mark := phrases().itemStart.FindString(lines[i]); {
		case i == len(lines)-1 && strings.TrimSpace(mark) == "" && line != "":
			return "" // in a paragraph
		case i == len(lines)-1, line == "", strings.TrimSpace(mark) != "", strings.HasPrefix(line, " "):
			continue
		case strings.HasSuffix(strings.TrimRight(line, "*_ "), ":"):
			return sentence(line)
		}
		return ""
	}
	return ""
}

// sentence is text on one line without emphasis.
func sentence(text string) string {
	return strings.Join(strings.Fields(phrases().marks.Replace(text)), " ")
}
