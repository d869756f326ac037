package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Verified, Unverified and NotPlanned begin the reason of an issue that was closed by stig:
// "Verified: WHAT. All acceptance criteria pass: …", "Unverified: WHAT. Waived: WHY", or
// "Not planned: WHY" of one that nobody will do.
const (
	Verified   = "Verified:"
	Unverified = "Unverified:"
	NotPlanned = "Not planned:"
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

// ByStig reports whether a close reason begins as those of stig do.
func ByStig(reason string) bool { return unopened(reason) != strings.TrimSpace(reason) }

// Bare is a reason without the words that stig puts before it, and without the full stop
// that it puts behind.
func Bare(reason string) string { return strings.TrimRight(unopened(reason), ".") }

func unopened(reason string) string {
	reason = strings.TrimSpace(reason)
	for _, word := range []string{Verified, Unverified, NotPlanned} {
		reason = strings.TrimSpace(strings.TrimPrefix(reason, word))
	}
	return reason
}

// Children counts the children of an epic by how they were closed. An epic without
// criteria of its own closes on them.
type Children struct {
	Verified, NotPlanned, Duplicate, Waived int
	Unshown                                 int // done, by a reason that is not one of stig's
	Failed                                  int
	Unread                                  int // their lines cannot be read any more
}

// Done is how many children were done, shown or not.
func (c Children) Done() int { return c.Verified + c.Waived + c.Unshown }

// Reason is the close reason of their epic, of which what exists now; "" for no more than
// its children say. It is Verified where a child is, and none was closed without a verdict
// or a waiver.
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

// String is "12 children: 9 verified, 2 not planned, 1 waived".
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

// childrenWords stand behind the number of children.
var childrenWords = []string{" child: ", " children: "}

// ParseChildren takes what Children.String wrote from a close reason; ok is false for none.
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

// ExplainsWaiver reports whether the reason of a waiver says why, as Waive asks for it.
func ExplainsWaiver(reason string) bool {
	why, ok := ParseWaived(reason)
	why, _, _ = strings.Cut(why, waivedBy)
	return ok && !SaysNothing(why)
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

// DifferenceIn gives what a close reason says that the work did to its checks, such as "2 turned,
// 1 held"; "" where it says nothing of that.
func DifferenceIn(reason string) string {
	if found := counted().FindStringSubmatch(reason); found != nil {
		return found[1]
	}
	return ""
}

// counted is what a reason says of the checks that passed: how many the work turned, and how
// many held before it too.
var counted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(passing) + `\d+/\d+ \(([^()]*)\)`)
})

// saysNothing are the words that alone, or before "as described", are no reason.
var saysNothing = []string{"done", "fixed", "closed", "completed", "implemented"}

// NotAReason is what SaysNothing refuses, in words.
const NotAReason = "an empty reason, and nothing but done, fixed, closed, completed or implemented (as described), are refused"

// SaysNothing reports whether a reason, of a close or of a waiver, is empty, or is one of
// five words that say no more than that the issue is closed. It is the one rule for reasons:
// what it lets pass may be short.
func SaysNothing(reason string) bool {
	words := strings.FieldsFunc(strings.ToLower(reason), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	described := slices.Equal(words[min(1, len(words)):], []string{"as", "described"})
	return len(words) == 0 || (len(words) == 1 || described) && slices.Contains(saysNothing, words[0])
}
