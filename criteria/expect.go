package criteria

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Expect is the output that criteria expect of a check besides exit code 0; the
// zero value expects nothing of it.
type Expect struct {
	How  string `json:"how"`  // Equals or Contains
	Text string `json:"text"` // with Equals, "" is an output without any text
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
	case e.How == "":
		return ""
	case e.Text == "":
		return "no output"
	case e.How == Equals:
		return fmt.Sprintf("the output %q", e.Text)
	}
	return fmt.Sprintf("%q in the output", e.Text)
}

var colours = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[[0-9;:]*[A-Za-z]`)
})

// uncoloured is text without what sets the colours of a terminal.
func uncoloured(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	return colours().ReplaceAllString(text, "")
}
