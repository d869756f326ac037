package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Verified, Unverified and NotPlanned begin the reason of an issue closed by stig: "Verified:
// WHAT. All acceptance criteria pass: …", "Unverified: WHAT. Waived: WHY", or "Not planned:
// WHY" if nobody will do it.
const (
	Verified   = "Verified:"
	Unverified = "Unverified:"
	NotPlanned = "Not planned:"
	waived     = ". Waived: "
	waivedBy   = ". By "
	tried      = ". Tried: "
	notTried   = ". Not tried: "
)

// How a close reason reports results: "All acceptance criteria pass: 2/2 [X; Y]" if all of them
// ran, else "1 of 3 checked; not run: A; B [X]". A check in the brackets is its text and
// duration; after the place follow those that cannot fail, and those that ran no test.
const (
	passing    = "All acceptance criteria pass: "
	cannotFail = "; cannot fail: "
	noTest     = "; no test ran: "
)

// ByStig reports whether a close reason begins like stig's own.
func ByStig(reason string) bool { return unopened(reason) != strings.TrimSpace(reason) }

// Bare returns a reason without the words that stig puts before it and the final full stop.
func Bare(reason string) string { return strings.TrimRight(unopened(reason), ".") }

func unopened(reason string) string {
	reason = strings.TrimSpace(reason)
	for _, word := range []string{Verified, Unverified, NotPlanned} {
		reason = strings.TrimSpace(strings.TrimPrefix(reason, word))
	}
	return reason
}

// Children counts the children of an epic by how they were closed. An epic without criteria of
// its own closes on them.
type Children struct {
	Verified, NotPlanned, Duplicate, Waived int
	Unshown                                 int // done, with a reason that is not stig's
	Failed                                  int
	Unread                                  int // their lines are unreadable now
}

// Done is how many children were done, verified or not.
func (c Children) Done() int { return c.Verified + c.Waived + c.Unshown }

// Reason formats the close reason of their epic, given what exists now; "" if there is nothing
// beyond its children. It is Verified if a child is, and none was closed without a verdict or a
// waiver.
func (c Children) Reason(what string) string {
	words := []string{Unverified}
	if c.Verified > 0 && c.Unshown == 0 {
		words[0] = Verified
	}
	if what != "" {
		words = append(words, what+".")
	}
	return strings.Join(append(words, c.String()), " ")
}

// String returns "12 children: 9 verified, 2 not planned, 1 waived".
func (c Children) String() string {
	total, words := 0, []string{}
	for _, of := range []struct {
		n    int
		word string
	}{{c.Verified, "verified"}, {c.NotPlanned, "not planned"}, {c.Duplicate, "duplicate"}, {c.Waived, "waived"},
		{c.Unshown, "closed without a verdict"}, {c.Failed, "failed"}, {c.Unread, "unreadable"}} {
		if total += of.n; of.n > 0 {
			words = append(words, fmt.Sprint(of.n, " ", of.word))
		}
	}
	if total == 0 {
		return "none"
	}
	noun := childrenWords[1]
	if total == 1 {
		noun = childrenWords[0]
	}
	return fmt.Sprint(total, noun, strings.Join(words, ", "))
}

// childrenWords follow the number of children.
var childrenWords = []string{" child: ", " children: "}

// ParseChildren parses the output of Children.String from a close reason; ok is false for none.
func ParseChildren(reason string) (said string, ok bool) {
	for _, noun := range childrenWords {
		before, after, found := strings.Cut(reason, noun)
		number := before[strings.LastIndex(before, " ")+1:]
		if found && number != "" && strings.Trim(number, "0123456789") == "" {
			after, _, _ = strings.Cut(after, ";")
			return number + noun + strings.TrimRight(after, "."), ByStig(reason)
		}
	}
	return "", false
}

// Waived formats the reason of a waiver: what exists now, why nothing verifies it, and who
// waives, "" for nobody.
func Waived(what, why, who string) string {
	said := Unverified + " " + what + waived + strings.TrimRight(why, ".")
	if who != "" {
		said += waivedBy + who
	}
	return said
}

// ParseWaived parses the why and the who from such a reason; ok is false if it does not say
// why.
func ParseWaived(reason string) (why string, ok bool) {
	rest, unverified := strings.CutPrefix(reason, Unverified)
	what, why, _ := strings.Cut(rest, waived)
	why = strings.TrimSpace(why)
	return why, unverified && strings.TrimSpace(what) != "" && why != ""
}

// ExplainsWaiver reports whether the reason of a waiver says why, as Waive requires.
func ExplainsWaiver(reason string) bool {
	why, ok := ParseWaived(reason)
	why, _, _ = strings.Cut(why, waivedBy)
	return ok && !SaysNothing(why)
}

// CutTried cuts the results of the checks off the reason of a waiver; tried is "" for none.
func CutTried(reason string) (said, outcome string) {
	for _, mark := range []string{tried, notTried} {
		if said, outcome, ok := strings.Cut(reason, mark); ok {
			return said, outcome
		}
	}
	return reason, ""
}

// WaivedBy returns who waived, as the reason of a waiver says; "" if it does not.
func WaivedBy(reason string) string {
	said, _ := CutTried(reason)
	why, _ := ParseWaived(said)
	_, who, _ := strings.Cut(why, waivedBy)
	return strings.Trim(who, " .")
}

// TellsOfResults reports whether a text contains words that begin Verdict.Passing.
func TellsOfResults(text string) bool { return strings.Contains(text, strings.TrimSpace(passing)) }

// SaysNoTestRan reports whether a close reason names checks that ran no test.
func SaysNoTestRan(reason string) bool { return strings.Contains(reason, noTest) }

// SaysGreenBefore reports whether a close reason says that its checks also passed before the
// work: "3/3 (3 held)", none turned by the work, or in words.
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

// DifferenceIn returns what a close reason says about the work's effect on the checks, such as
// "2 turned, 1 held"; "" for nothing.
func DifferenceIn(reason string) string {
	if found := counted().FindStringSubmatch(reason); found != nil {
		return found[1]
	}
	return ""
}

// counted is what a reason says about the passing checks: how many the work turned, and how
// many held before it too.
var counted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(passing) + `\d+/\d+ \(([^()]*)\)`)
})

// saysNothing are the words that alone, or before "as described", are not a reason.
var saysNothing = []string{"done", "fixed", "closed", "completed", "implemented"}

// NotAReason describes what SaysNothing refuses.
const NotAReason = "an empty reason, and nothing but done, fixed, closed, completed or implemented (as described), are refused"

// SaysNothing reports whether a reason, for a close or a waiver, is empty, or one of five words
// that only say that the issue is closed. It is the one rule for reasons; short reasons are
// fine.
func SaysNothing(reason string) bool {
	words := strings.FieldsFunc(strings.ToLower(reason), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	described := slices.Equal(words[min(1, len(words)):], []string{"as", "described"})
	return len(words) == 0 || (len(words) == 1 || described) && slices.Contains(saysNothing, words[0])
}
