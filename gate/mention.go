package gate

import (
	"regexp"
	"strings"
	"sync"
)

// wording is how text mentions a command as a thing rather than asking for
// it, told by the words directly before and after.
type wording struct {
	denied  *regexp.Regexp // before: it is not to be run
	quoted  *regexp.Regexp // before: it is replaced, printed, expected, or the value of a flag
	gone    *regexp.Regexp // after: it is not to be run, or no more
	failing *regexp.Regexp // after: it is meant to fail, so its passing would not say so

	blockBreak *regexp.Regexp // where another paragraph or list item begins
	listMark   *regexp.Regexp // what stands before the text of a list item
	// enumerated is code that stands in a list with what follows: what is
	// said of the first is said of all.
	enumerated *regexp.Regexp
	marks      *strings.Replacer // removes emphasis and quotes
}

var phrases = sync.OnceValue(func() wording {
	return wording{
		denied: regexp.MustCompile(`(?i)\b(never|not|cannot|\w+n't|no longer|without|avoid(?:s|ing)?|instead of|rather than|` +
			`forbid(?:s|den)?|refuses?|rejects?|blocks?|prevents?)` +
			`(?:\s+(?:to|be|ever|by|via|with|through|the|a|run|runs|running|use|uses|used|using|calls?|calling|` +
			`invokes?|invoking|executes?|executing|needs?|needing|requires?|requiring|type|try))*$`),
		quoted: regexp.MustCompile(`(?i)(?:\b(?:` +
			`replac(?:e|es|ed|ing)|supersedes?|formerly|previously|used to be|renamed(?: from)?|` +
			`output of|outputs?|prints?|printed|printing|displays?|shows?|showing|returns?|says?|saying|contains?|containing|` +
			`reads|emits?|logs?|reports?|mentions?|mentioning|suggests?|hints?|named|called|titled|such as|like|e\.g\.|for example` +
			`)[\s:,]*|\b(?:` +
			`messages?|errors?|strings?|texts?|words?|labell?ed|examples?|matches|matching|equals?|set to|` +
			`flags?|values?|defaults?(?: to)?|instances? of|occurrences? of|references? to|calls? to|uses of` +
			`)|(?:→|=>|->|=|--[\w-]+)\s*)$`),
		gone: regexp.MustCompile(`(?i)^\s*(?:(?:command|call|invocation)\s+)?` +
			`(?:is|are|was|has been|must be|must|should|may|can)\s+` +
			`(?:never|not|no longer|removed|gone|deprecated|forbidden|banned|blocked|refused|rejected|replaced|deleted|denied)\b(?:\s+be)?`),
		failing: regexp.MustCompile(`(?i)^\s*(?:(?:now|still|must|should|will|also)\s+)*(?:fail(?:s|ed)?\b|errors?\b|` +
			`(?:exit(?:s|ed)?|returns?)\s+(?:with\s+)?(?:(?:exit\s+)?(?:code|status)\s+)?(?:[1-9]|non-?zero))`),
		blockBreak: regexp.MustCompile(`\n[ \t>]*\n|\n[ \t>]*(?:[-*+]|\d+[.)])[ \t]|\n[ \t>]*#`),
		listMark:   regexp.MustCompile(`^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?`),
		enumerated: regexp.MustCompile("`[^`]*`\\s*(?:,|/|,?\\s*(?:and|or|nor))?\\s*$"),
		marks:      strings.NewReplacer("**", "", "__", "", "*", "", "_", " ", `"`, "", "(", "", ")", "", "“", "", "”", ""),
	}
})

// mentioned says why the code at text[start:end] (backticks included) is
// mentioned rather than asked for; "" when it is not.
func mentioned(text string, start, end int) string {
	before, after := leading(text[:start]), trailing(text[end:])
	if match := phrases().denied.FindStringSubmatch(before); match != nil {
		return "mentioned after " + quote(match[1])
	}
	if match := phrases().quoted.FindString(before); match != "" {
		return "mentioned after " + quote(strings.Trim(match, " :,"))
	}
	if match := phrases().gone.FindString(after); match != "" {
		return "mentioned before " + quote(strings.TrimSpace(match))
	}
	if match := phrases().failing.FindString(after); match != "" {
		return "expected to fail: " + quote(strings.TrimSpace(match))
	}
	return ""
}

func quote(words string) string { return `"` + words + `"` }

// leading is the prose of the same paragraph or list item before a place,
// without emphasis and without code that the place continues.
func leading(text string) string {
	if all := phrases().blockBreak.FindAllStringIndex(text, -1); all != nil {
		text = text[all[len(all)-1][0]:]
	}
	text = phrases().listMark.ReplaceAllString(strings.TrimLeft(text, "\n"), "")
	for {
		rest := phrases().enumerated.ReplaceAllString(text, "")
		if rest == text {
			break
		}
		text = rest
	}
	return strings.TrimRight(strings.Join(strings.Fields(phrases().marks.Replace(text)), " "), " ")
}

// trailing is the prose of the same paragraph or list item behind a place.
func trailing(text string) string {
	if at := phrases().blockBreak.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	return strings.Join(strings.Fields(phrases().marks.Replace(text)), " ")
}
