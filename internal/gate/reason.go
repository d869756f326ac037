package gate

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"stig/internal/visible"
)

// Verified and Unverified begin the reason of an issue that was closed through
// the gate: "Verified: WHAT. All acceptance criteria pass: …", or
// "Unverified: WHAT. Waived: WHY".
const (
	Verified   = "Verified:"
	Unverified = "Unverified:"
	waived     = ". Waived: "
	waivedBy   = ". By "
	tried      = ". Tried: "
	notTried   = ". Not tried: "
)

// How a close reason tells of results: "All acceptance criteria pass: 2/2 [X; Y]"
// when all of them ran, else "1 of 3 checked; not run: A; B [X]". A check in the
// brackets is its text and how long it took; behind the place stands which of them
// cannot fail, and which ran no test.
const (
	passing    = "All acceptance criteria pass: "
	cannotFail = "; cannot fail: "
	noTest     = "; no test ran: "
)

// Waived is the reason of a waiver: what exists now, why nothing shows it, and who waives,
// "" for nobody.
func Waived(what, why, who string) string {
	said := Unverified + " " + what + waived + strings.TrimRight(why, ".")
	if who != "" {
		said += waivedBy + who
	}
	return said
}

// ParseWaived takes the why, and who waives, from such a reason; ok is false for a reason
// that does not say why.
func ParseWaived(reason string) (why string, ok bool) {
	rest, unverified := strings.CutPrefix(reason, Unverified)
	what, why, _ := strings.Cut(rest, waived)
	why = strings.TrimSpace(why)
	return why, unverified && strings.TrimSpace(what) != "" && why != ""
}

// waiverWords is how many words a waiver needs to say why.
const waiverWords = 3

// explains reports whether a text is long enough to say why something is waived.
func explains(why string) bool { return wordsIn(why) >= waiverWords }

// ExplainsWaiver reports whether the reason of a waiver says why, as Waive asks for it.
func ExplainsWaiver(reason string) bool {
	why, ok := ParseWaived(reason)
	why, _, _ = strings.Cut(why, waivedBy)
	return ok && explains(why)
}

// CutTried takes what came of the checks off the reason of a waiver; tried is "" where
// it does not say.
func CutTried(reason string) (said, outcome string) {
	for _, mark := range []string{tried, notTried} {
		if said, outcome, ok := strings.Cut(reason, mark); ok {
			return said, outcome
		}
	}
	return reason, ""
}

// NamesWho reports whether the reason of a waiver says who waived.
func NamesWho(reason string) bool {
	why, ok := ParseWaived(reason)
	_, who, named := strings.Cut(why, waivedBy)
	return ok && named && strings.Trim(who, " .") != ""
}

// TellsOfResults reports whether a text has words that Verdict.Passing begins with.
func TellsOfResults(text string) bool { return strings.Contains(text, strings.TrimSpace(passing)) }

// SaysNoTestRan reports whether a close reason names checks that ran no test.
func SaysNoTestRan(reason string) bool { return strings.Contains(reason, noTest) }

// SaysGreenBefore reports whether a close reason says that its checks passed before the work
// was begun, too: "3/3 (3 held)", none of them turned by the work, or in words.
func SaysGreenBefore(reason string) bool {
	if strings.Contains(reason, " held)") {
		found := counted().FindStringSubmatch(reason)
		return found != nil && !strings.Contains(found[1], "turned")
	}
	if !strings.Contains(reason, "before") {
		return false
	}
	reason = strings.ToLower(reason)
	return slices.ContainsFunc([]string{"green before", "passed before", "pass before", "held before"},
		func(words string) bool { return strings.Contains(reason, words) })
}

// counted is what a reason says of the checks that passed: how many the work turned, and how
// many held before it too.
var counted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(passing) + `\d+/\d+ \(([^()]*)\)`)
})

// wordsIn counts the words of a text. In scripts that put no blanks between words, two
// letters are one.
func wordsIn(text string) int {
	words, unspaced := 0, 0
	for w := range strings.FieldsSeq(text) {
		letters := 0
		for _, r := range w {
			if visible.Unspaced(r) {
				letters++
			}
		}
		unspaced += letters
		if letters == 0 && strings.ContainsFunc(w, unicode.IsLetter) {
			words++
		}
	}
	return words + unspaced/2
}

// enoughWords is how many words a close reason needs to say something by
// itself.
const enoughWords = 4

// IsInformative reports whether a close reason says something to those who build on
// the issue. It is generous: a short reason passes when it points at something,
// such as a commit, a release, a file, or another issue.
func IsInformative(reason string, isIssue func(word string) bool) bool {
	if strings.ContainsAny(reason, "0123456789/#`") {
		return true
	}
	if wordsIn(reason) >= enoughWords {
		return true
	}
	for w := range strings.FieldsSeq(reason) {
		if isIssue(strings.Trim(w, ".,;:()")) {
			return true
		}
	}
	return false
}
