package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Check is a command in criteria, or something that looks like one.
type Check struct {
	Text   string `json:"text"`            // the shell script; of prose the words that read like one
	Origin string `json:"origin"`          // Fence, Span or Prose
	Class  string `json:"class"`           // one of the constants below
	Reason string `json:"reason"`          // why it is not run; "" when it is
	Line   int    `json:"line"`            // 1-based line in the criteria where Text begins; of Criteria.Plan in Field
	Field  string `json:"field,omitempty"` // where it stands: FieldAcceptance, FieldDescription or FieldDesign
	// Expect is the output that the text expects; exit code 0 alone is not enough.
	Expect Expect `json:"expect,omitzero"`
	// CannotFail says why running it proves nothing: it always exits with 0. "" if it can fail.
	CannotFail string `json:"cannot_fail,omitempty"`
	// Instead is what to write into a fence marked verify if the text cannot run as it is:
	// prose, and checks judged by their output.
	Instead string `json:"instead,omitempty"`
	// Verify reports that the fence is marked "verify": only then can a destructive command be
	// allowed at all.
	Verify bool `json:"-"`
	// Held reports that the fence is marked "verify held": it should be green before the work
	// too.
	Held bool `json:"held,omitempty"`
	// Broken reports that the fence is marked as shell to run and does not parse: somebody
	// meant it to run, so nothing passes until it is fixed.
	Broken bool `json:"-"`
}

// Values of Check.Origin.
const (
	Fence = "fence" // a fenced block, run whole as one script
	Span  = "span"  // inline code
	Prose = "prose" // no code at all, never run
)

// Values of Check.Class.
const (
	Runnable = "run"     // a command that the criteria ask for
	Manual   = "manual"  // what a person has to read: prose, a result that cannot be compared, a server
	Refused  = "refused" // what destroys, and what is meant to run and cannot be read: it fails
	Mention  = "mention" // code that is no command, or that the text only speaks of
)

// Asks reports whether criteria with these checks require anything to run: otherwise a verdict
// would prove nothing.
func Asks(checks []Check) bool {
	return slices.ContainsFunc(checks, Check.Asked)
}

// NotRun lists the checks that a person must read, since no verdict covers them: each text
// once, unless a check with the same text runs.
func NotRun(checks []Check) []Check {
	rest := []Check{}
	seen := map[string]bool{}
	for _, c := range checks {
		seen[c.Text] = seen[c.Text] || c.Asked()
	}
	for _, c := range checks {
		if c.Class == Manual && !seen[c.Text] {
			rest = append(rest, c)
			seen[c.Text] = true
		}
	}
	return rest
}

// Asked reports whether the criteria require this check: it decides whether they pass, even if
// it cannot run.
func (c Check) Asked() bool { return c.Class == Runnable || c.Class == Refused }

// Expect is the output that criteria expect from a check besides exit code 0; the zero value
// expects none.
type Expect struct {
	How  string `json:"how"`            // Equals, Contains, or "" for whatever it prints
	Text string `json:"text"`           // with Equals, "" is an output without any text
	Exit string `json:"exit,omitempty"` // the exit code that passes: "" for 0, or a number, or NonZero
}

// NonZero as the passing exit code means any other than 0, except those of a missing program or
// a signal.
const NonZero = "non-zero"

// Ends reports whether an exit code is as expected.
func (e Expect) Ends(exit int) bool {
	switch e.Exit {
	case "":
		return exit == 0
	case NonZero:
		return exit > 0 && exit < 126
	}
	return strconv.Itoa(exit) == e.Exit
}

// Values of Expect.How.
const (
	Equals   = "equals"   // the output, without blanks around it, is the text
	Contains = "contains" // the text stands in the output, not within a longer word or number
)

// Met reports whether an output is as expected, ignoring colours.
func (e Expect) Met(output string) bool {
	output = uncoloured(output)
	switch e.How {
	case "":
		return true
	case Equals:
		return strings.TrimSpace(output) == strings.TrimSpace(e.Text)
	}
	for at := 0; ; {
		i := strings.Index(output[at:], e.Text)
		if i < 0 {
			return false
		}
		at += i
		if !joined(output[:at], e.Text) && !joined(e.Text, output[at+len(e.Text):]) {
			return true
		}
		at++
	}
}

// joined reports whether two texts meet inside a word or a number.
func joined(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLetter(last) && unicode.IsLetter(first) || unicode.IsDigit(last) && unicode.IsDigit(first)
}

// String formats the expectation for plans and failures.
func (e Expect) String() string {
	switch {
	case e.Exit != "":
		and := Expect{How: e.How, Text: e.Text}.String()
		if and != "" {
			and = ", " + and
		}
		return "exit code " + e.Exit + and
	case e.How == "":
		return ""
	case e.Text == "":
		return "no output"
	case e.How == Equals:
		return fmt.Sprintf("the output %q", e.Text)
	}
	return fmt.Sprintf("%q in the output", e.Text)
}

// uncoloured removes terminal colour sequences: ESC, [, numbers and a letter.
func uncoloured(text string) string {
	var plain strings.Builder
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		plain.WriteString(before)
		if !found {
			return plain.String()
		}
		text = strings.TrimLeft(after, "0123456789;:")
		if text != "" && isLetter(text[0]) {
			text = text[1:]
		}
	}
}
