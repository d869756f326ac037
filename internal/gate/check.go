package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Check is a command that was found, or what could be taken for one.
type Check struct {
	Text   string `json:"text"`            // the shell script; of prose the words that read like one
	Origin string `json:"origin"`          // Fence, Span or Prose
	Class  string `json:"class"`           // one of the constants below
	Reason string `json:"reason"`          // why it is not run; "" when it is
	Line   int    `json:"line"`            // 1-based line in the criteria where Text begins; of Criteria.Plan in Field
	Field  string `json:"field,omitempty"` // where it stands: FieldAcceptance, FieldDescription or FieldDesign
	// Expect is the output that the text expects of it; exit code 0 alone does not pass it.
	Expect Expect `json:"expect,omitzero"`
	// CannotFail says why running it shows nothing: it exits with 0 whatever the
	// work does. "" where it can fail.
	CannotFail string `json:"cannot_fail,omitempty"`
	// Instead is what to write into a fence marked verify, where the text cannot be
	// run as it is: of prose and of what is judged by its output.
	Instead string `json:"instead,omitempty"`
	// Verify tells that the fence is marked "verify": only then can a
	// destructive command be allowed at all.
	Verify bool `json:"-"`
	// Held tells that the fence is marked "verify held": it is to be green before the
	// work too.
	Held bool `json:"held,omitempty"`
	// Broken tells that the fence is marked as shell to run and does not parse:
	// somebody meant it to be run, so nothing passes while it stands.
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

// Asks reports whether criteria with these checks ask for anything to be run: a
// verdict on others would show nothing.
func Asks(checks []Check) bool {
	return slices.ContainsFunc(checks, Check.Asked)
}

// NotRun lists what of these checks a person has to read, since no verdict is about
// it: each text once, unless a check with the same text runs.
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

// Asked reports whether the criteria ask for this check: it decides whether they
// pass, even where it cannot run.
func (c Check) Asked() bool { return c.Class == Runnable || c.Class == Refused }

// Expect is the output that criteria expect of a check besides exit code 0; the
// zero value expects nothing of it.
type Expect struct {
	How  string `json:"how"`            // Equals, Contains, or "" for whatever it prints
	Text string `json:"text"`           // with Equals, "" is an output without any text
	Exit string `json:"exit,omitempty"` // the exit code that passes: "" for 0, or a number, or NonZero
}

// NonZero as the exit code that passes is any with which a command ends by itself: not one
// of a program that is not there, or that a signal ended.
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

// Met reports whether an output is as expected. Colours in it do not count.
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

// joined reports whether two texts meet within a word or a number.
func joined(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLetter(last) && unicode.IsLetter(first) || unicode.IsDigit(last) && unicode.IsDigit(first)
}

// String is the expectation as plans and failures tell it.
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

// uncoloured is text without what sets the colours of a terminal: ESC, [, numbers and a letter.
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
