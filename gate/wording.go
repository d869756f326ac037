package gate

import (
	"regexp"
	"strings"
	"sync"
)

// phrase is an expression that is compiled when it is first needed: together
// they take a millisecond, and most criteria need few of them.
type phrase func() *regexp.Regexp

func written(expression string) phrase {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
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
	success = `pass(?:es|ed|ing)?|succeeds?|succeeded|success(?:ful|fully)?|works?|working|builds?|built|compile[sd]?|complet(?:es?|ed)|validates?|runs?|` +
		`clean(?:ly)?|green|ok(?:ay)?|happy|fine|valid|exit(?:s|ed)?(?: with)?(?: code| status)?(?: 0| zero)|returns? (?:0|zero)`
	adverbs = `(?:(?:now|also|still|already|fully|properly|correctly|always|all|both|then|each|never|no longer|not|\w+ly)\s+)*`
	modals  = `(?:must|should|shall|will|would|can|could|may|might|has to|have to|needs? to|do|does|did)`
)

var phrases = sync.OnceValue(func() wording {
	return wording{
		boundary: written(`(?i)[.!?;|]\s|[:(,–—→]|\s-+\s|\s[-=]>|\b(?:and|or|but|so|then|that|whereas|plus|also)\s`),
		opening: written(`(?i)^(?:(?:the|a|this|command|script|check|following|now|finally|first|next|again|afterwards|please|manually|locally|both|` +
			`either|all of|existing|current|usual|full|whole|same)\s*)*$`),
		asked: written(`(?i)^(?:(?:please|manually|now|finally|first|next|again|afterwards|locally|always|to|i|we|you|just|by|after|must|` +
			`should|` + adverbs + `)\s*)*` +
			`(?:(?:re-?)?run(?:ning)?|execut(?:e|ing)|invok(?:e|ing)|try|tests?|checks?|make sure|see that|verif(?:y|ied|ies|ication)|confirm(?:s|ed)?|` +
			`ensure|validate|prove|compare)(?:\s+(?:with|by|via|using|that|the|commands?|command|it|this|inline|run|running|also))*$|` +
			`^when (?:i|we|you|(?:the|an?) \w+) (?:runs?|executes?|types?)$|^(?:an?|the|any|new|every|\s)*(?:contributor|developer|maintainer|reviewer|user|` +
			`operator|anyone|everyone|one)s? can (?:now |still |also )?(?:run|execute)$|\b(?:verified|reviewed|inspected|audited|linted|checked|tested|confirmed|validated|covered|shown|` +
			`proved|proven|measured) (?:with|by|via|using)(?: running)?$|` +
			`\b(?:pass(?:es|ed|ing)?)$|\b(?:evidence|validation|verification|checks?|gates?) includes?$|` +
			`\b(?:no|zero|nothing)\b.*\bafter(?: running)?$`),
		running: written(`(?i)\b(?:run(?:ning)?|execut(?:e|ing))$`),
		by:      written(`(?i)\b(?:with|using|via|per|according to|under|in|from|through|running)(?: the)?$`),
		claim: written(`(?i)\b(?:` + success + `|tests?|tested|testing|lint(?:s|ed|ing)?|formatted|verif\w+|check(?:s|ed)?|confirm\w*|no|zero|none|0|` +
			`without|coverage|type-?check\w*|` +
			`benchmarks?|smoke|unchanged|reproduc\w+|acceptance)\b|[<>≤≥=%✓✅]`),
		verifying: written(`(?i)\b(?:verif\w+|validation|checks?|lint|smoke)\b`),
		state:     written(`(?i)\b(?:is|are|has|have|must|should|stays?|remains?|holds?|shows?|exists?)\b`),
		making: written(`(?i)^(?:(?:to|we|must|should|` + adverbs + `)\s*)*(?:add|implement|creat|support|document|updat|replac|renam|remov|introduc|` +
			`us(?:e|es|ing)\b|provid|expos|defin|wrap|extend|fix|refactor|mov|chang|detect|handl|pars|allow|block|reject|den(?:y|ies)|match|` +
			`configur|wire|install|write|new\b|roll\s?back|restart|deploy|releas|publish|start|launch|set up|clean up|undo|` +
			`such as|like|out of scope|non-goal|future|deferred|never|not\b|given|when|while|users?\b|before|after|from\b)|` +
			`^(?:\w+\s+)?(?:(?:example|input|output|print|error|command|message|label|title|branch|alternative|workaround|shortcut|alias|entry\s?point|` +
			`key)(?:e?s)?|` +
			`usage|expected|default|config|commit|old|was|setup|cleanup)(?:\s+(?:is|was|command|message|output|value|name|text|file|line|flag|result|plan|title))?$|` +
			`\b(?:for|of) (?:each|every|all|both|these)\b[^.;]*$|\bruns?\s+(?:in|under|from)$|` +
			`\b(?:removed|added|created|generated|installed|moved|excluded|included|deleted|replaced|fetched|downloaded|made|written|started)\s+` +
			`(?:with|using|via|from|by|in|under|through)$`),
		occasion:     written(`(?i)\b(?:after|before|once|when|while|if|given|with|on)$`),
		checking:     written(`(?i)^to (?:verify|check|confirm|test|validate|ensure|prove|see)\b`),
		executed:     written(`(?i)^(?:(?:is|are|gets) (?:run|executed|invoked)|runs|executes)\b`),
		outcome:      written(`(?im)^[ \t>*-]*then\b\s+(?:(?:it|that|this|the(?: \w+){1,3})\s+)?(?:(?:is|are|must be)\s+)?`),
		elsewhere:    written(`(?i)\b(?:in|by|as part of) (?:(?:the|a|an|each|every|same|release|build|ci)\s+)*(?:ci|job|workflow|pipeline)\b`),
		circumstance: written(`(?i)^(?:in|on|at|after|from|once|inside|under|with|without|for)\s[^,]*$`),
		denied: written(`(?i)\b(never|not|nor|cannot|not (?:\w+ ){0,3}that|\w+n['’]t|no longer|no need (?:to|for)|without|avoid\w*|instead of|rather than|` +
			`unlike|stop|forbid\w*|refus\w+|reject\w*|block(?:s|ed|ing)?|` +
			`prevent\w*|den(?:y|ies|ied|ying)|bann?(?:s|ed)?|prohibit\w*|skip\w*|ignor\w+|omit\w*|disabl\w+|exclud\w+|drop\w*)(?:\s+(?:to|be|ever|by|via|the|` +
			`a|an|any|all|only|need(?:s|ing)?|allowed|having))*` +
			`(?:\s+(?:run|runs|running|use|uses|using|call|calls|calling|invok(?:e|es|ing)|execut(?:e|es|ing)|requir(?:e|es|ing)|typing|try|for|of|from|with))*$`),
		follows: written(`(?i)^(?:$|[.,;)&+/<>=≤≥!✓✅0-9\x60]|` + adverbs + `(?:$|` + success + `|` + modals + `\b|(?:is|are|was|were|has|have|takes?|` +
			`gives?)\b|` +
			`(?:outputs?|results?) (?:is|are|has|have|shows?|includes?|contains?|lists?|matches|equals|stays?|remains?|unchanged|must|should)\b|` +
			`[a-z-]+s\b|commands?\b|(?:on|in|at|by|to|of|with|without|from|for|under|over|against|across|within|inside|outside|after|before|until|as|when|if|` +
			`where|while|which|that|and|or|but|so|then|once|twice|again|locally|too|via|using|per|both|because|since|between|during|it|the|no|zero|three times)\b))`),
		aside: written(`^\([^()]*\)`),
		noun:  written(`(?i)^(?:\w+(?:ss|us|is|ias)\b|[a-z]+s\s+(?:is|are|was|were|has|have|can|will|must|should)\b)`),
		failing: written(`(?i)^(?:commands?\s+)?(?:(?:with|without|on|for|in|inside|against|from)\s+(?:[^\s,;.]+\s+){1,5}?)?` +
			`(?:(?:` + modals + `|now|still|also|then|to|\w+ly)\s+)*` +
			`(?:fail(?:s|ed|ing|ure)?\b|errors?(?:\s+out)?\b|refuse[sd]?\b|reject(?:s|ed)?\b|denied\b|blocked\b|raises?\b|throws?\b|crash(?:es)?\b|panics?\b|aborts?\b|dies?\b|says? no\b|` +
			`(?:exit(?:s|ed)?|returns?|produces?|gives?|prints?|shows?|reports?|yields?|emits?)\s+(?:with\s+)?(?:an?\s+|the\s+)?` +
			`(?:(?:exit\s+)?(?:code|status)\s*:?\s*(?:[1-9]|non-?zero)|[12]\s+(?:when|if|on)\b|non-?zero|(?:[\w-]+\s+){0,3}errors?\b)|exit(?:s|` +
			`ed)?\s+(?:with\s+)?[1-9])`),
		passing: written(`(?i)^(?:(?:must|should|shall|will|can|may|does|do)\s*(?:not|never|n['’]t)\s+(?:fail|error|crash|panic|hang|break|regress|` +
			`warn|report|show|produce|print|emit|return|throw|raise|time|leave|change|modify)|(?:is|are) (?:a )?no-?op\b|(?:never|no longer)\s+(?:fail|error|` +
			`crash|panic|hang|break|warn|kill|print|show|report)s?\b|` +
			`(?:exits?|returns?|reports?|shows?|gives?|produces?|prints?|yields?|emits?|has|with)\s+(?:(?:with|code|status|exit)\s+)*(?:no|zero|0|without|only)\b)`),
		treated: written(`(?i)^(?:(?:(?:sub)?commands?|targets?|scripts?|recipes?|tasks?|steps?|jobs?|entry|entries|lines?|options?|flags?)\s+)?` +
			`(?:(?:with|without|on|for|in|inside|within|outside|against|from|behind)\s+(?:[^\s,;.]+\s+){1,5}?)?(?:` +
			`(?:(?:is|are|was|were|has been|have been|` + modals + ` (?:still |also |now )?be|gets?|got|being|be)\s+)?` + adverbs +
			`(?:added|available|implemented|documented|defined|created|supported|registered|present|removed|deprecated|replaced|` +
			`renamed|allowed|blocked|denied|detected|matched|parsed|handled|recogni[sz]ed|flagged|classified|accepted|intercepted|` +
			`caught|permitted|rejected|refused|forbidden|prohibited|banned|deleted|gone|rewritten|normali[sz]ed|called|invoked|executed|` +
			`used|recommended|preferred|suggested|wired|exposed|executable|listed|mentioned|displayed|whitelisted|allowlisted|safe|unsafe|dangerous|` +
			`unchanged|unaffected|preserved|unnecessary|done|run by|optional|needed|required|evaluated|considered|inspected|scanned|exists?|appears?|completes to|reaches|gains?|learns?|supports?)\b|` +
			`(?:is|are|was|has been|must be)\s+(?:never|not|no longer)\s+(?:\w+ed|run|part|necessary|an?|the|in)\b|(?:must|should|shall|will|may|` +
			`can)\s*(?:not|never|n['’]t)\s+(?:be|exist|run)\b|` +
			`runs?\s+(?:automatically\b|(?:in|on|for|as part of|during)\s+(?:(?:the|an?|every|each|all)\s+)*(?:ci|prs?|pull|push|merge|` +
			`commit|release|pipeline|workflow|job|linux|macos|windows)\b)|` +
			`(?:provides?|offers?) \x60c\x60|(?:is|are|was) (?:an?|equivalent|identical|(?:the )?same as)\b|no longer\s+(?:\w+ed|exists?|works|runs)\b|do(?:es)?\s*(?:not|n['’]t)\s+(?:exist|` +
			`appear|run|work|trigger|match|fire|count)\b|` +
			`(?:allows?|den(?:y|ies)|blocks?|(?:no )?match(?:es)?|flags?|warns?|asks?|safe)\s*(?:$|[.,;|()]))`),
		besides: written(`(?i)^\s*and\s+(?:works?|runs?|pass(?:es)?|succeeds?|shows?|lists?|prints?|reports?|outputs?|displays?|returns?)\b`),
		nothing: written(`(?i)\b(?:no|nothing|none|empty)\b|\b(?:0|zero)\s+(?:[\w-]+\s+)?(?:results?|match(?:es)?|hits?|lines?|occurrences?|references?|` +
			`usages?|instances?|files?)\b|` +
			`^(?:is|are|prints|outputs|shows|returns?|gives|yields|=+)\s*(?:0|zero)\b`),
		nowhere: written(`(?i)\b(?:no|zero|0)\s+(?:[\w-]+\s+){0,3}(?:results?|match(?:es)?|hits?|occurrences?|references?|usages?|uses?|instances?|` +
			`calls?|imports?)\b[^.;]*$`),
		succeeds: written(`(?i)^(?:` + modals + `\s+)?(?:(?:is|are|be|stays?|remains?)\s+)?` + adverbs + `(?:` + success + `|no (?:errors?|warnings?|` +
			`findings?|issues?|failures?)|0 |all |verify|verifies|tests?\b)`),
		results: written(`(?i)^` + adverbs + `(?:shows?|lists?|prints?|reports?|outputs?|displays?|returns?|exits?|produces?|emits?|yields?|confirms?)\b`),
		foreign: written(`(?i)[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Cyrillic}\p{Arabic}\p{Greek}äöüßéèêçñ]|` +
			`\b(?:der|die|das|ist|sind|wird|muss|und|mit|ohne|auf|le|les|la|une?|est|avec|sans|et|el|los|las|del|con|sin|que|debe|não|com|sem)\b`),
		english: written(`(?i)\b(?:the|is|are|to|of|and|with|for|not|must|should|when|passes|shows)\b`),
		negated: written(`(?i)\b(?:nicht|nie|niemals|kein\w*|statt|anstelle|ausgabe von|erwähnt|pas|plus|jamais|au lieu|nunca|ya no|não)\b|\bno (?:se|` +
			`debe|ejecut)|` +
			`ない|せず|ません|不|没|別|勿|不要|(?:^| )(?:не|нет|вместо|нельзя)(?:$| )`),
		things: written(`(?i)\b(?:never|not|don['’]t|block(?:s|ed)?|den(?:y|ies|ied)|reject(?:s|ed)?|forbidden|refused?|allow(?:s|ed)|` +
			`permit(?:s|ted)|detect(?:s|ed)?|match(?:es|ed)|inputs?|test cases?|examples?|removed|deprecated|replaced|out of scope|non-goals?|anti-?patterns?|` +
			`subcommands|new commands|supported commands|implemented|supports?|usage|outputs?|safe|unsafe|dangerous|destructive)\b`),
		inviting: written(`(?i)\b(?:pass|succeed|work|run|execute|exit|not (?:fail|error|break|crash)|verif|validat|verification|checks?)`),
		telling:  written(`(?i)\b(outputs?|prints?|shows?|displays?|looks like|reads|contains?|example|expected|logs?|messages?)\b[^.]*:[*_]*\s*$`),
		blockBreak: written(`\n[ \t>]*\n|\n[ \t>]*(?:~~~|[\x60]{3})[^\n]*|\n[ \t>*]*(?:Given|When|Then|And)\b|\n[ \t>]*(?:[-*+]|\d+[.)])[ \t]|\n[ \t>]*#|` +
			`\n[ \t>]*\|`),
		itemStart:  written(`^[ \t>]*(?:(?:[-*+]|\d+[.)]|\|)[ \t]+)?(?:\[[ xX]\][ \t]+)?`),
		enumerated: written("(?:`[^`]*`\\s*(?:,?\\s*(?:and|or|nor|&&?)|,|/|\\||\\+)?\\s*)+$"),
		enumerates: written("^(?:\\s*(?:,|/|\\||&&?|\\+|,?\\s*(?:and|or|nor)\\b)\\s*(?:and\\s+|or\\s+)?`[^`]*`)+"),
		code:       written("`[^`]*`"),
		marks: strings.NewReplacer("**", "", "__", "", "*", "", `"`, "", "“", "", "”", "", "❌", "",
			"e.g.,", "such as", "e.g.", "such as", "for example,", "such as", "for instance,", "such as", "i.e.", "namely", "vs.", "versus"),
	}
})
