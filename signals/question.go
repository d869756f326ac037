package signals

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"stig/internal/visible"
)

// Question is what a part of the escalation section asks. In the notes it is text that anybody
// can read and write: the question, then numbered options, then the default if nobody answers.
//
//	Which quay first?
//
//	1. north
//	2. south, which the ferry needs
//
//	Default: 2 after 24h (2026-11-21T09:00Z)
type Question struct {
	Text    string        // without options and default, trimmed
	Options []string      // one line each
	Default int           // 1-based number of an option; 0 for no default
	After   time.Duration // how long to wait for an answer; 0 if not given
	Due     time.Time     // UTC, whole minutes; zero if not given
}

// dueLayout is the time format of a default, in UTC.
const dueLayout = "2006-01-02T15:04Z"

var (
	optionLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}(\d{1,3})[.)] +(\S.*)$`) })
	defaultLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^Default: (\d{1,3})(?: after (\S+))?(?: \((\S+)\))?$`)
	})
)

// String formats the question as the text of a part; ReadQuestion reverses it.
func (q Question) String() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(q.Text))
	for i, option := range q.Options {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "\n%d. %s", i+1, visible.OneLine(option))
	}
	if q.Default > 0 {
		fmt.Fprintf(&b, "\n\nDefault: %d after %s (%s)", q.Default, Span(q.After), q.Due.UTC().Format(dueLayout))
	}
	return b.String()
}

// ReadQuestion parses the text of a part. A numbered list at its end, counted from 1, is the
// options, whoever wrote it.
func ReadQuestion(text string) Question {
	lines := strings.Split(visible.LF(strings.TrimSpace(text)), "\n")
	var q Question
	rest := q.readDefault(lines)
	options, rest := readOptions(rest)
	if q.Default > len(options) {
		q, rest = Question{}, lines
		options, rest = readOptions(rest)
	}
	q.Options, q.Text = options, strings.TrimSpace(strings.Join(rest, "\n"))
	return q
}

// readDefault removes the default from the end of the lines.
func (q *Question) readDefault(lines []string) []string {
	last := len(lines) - 1
	found := defaultLine().FindStringSubmatch(strings.TrimSpace(lines[last]))
	if found == nil {
		return lines
	}
	q.Default, _ = strconv.Atoi(found[1])     // digits
	q.After, _ = time.ParseDuration(found[2]) // free text is not a default
	q.Due, _ = time.Parse(dueLayout, strings.TrimSuffix(found[3], "Z")+"Z")
	return trimLines(lines[:last])
}

// readOptions removes the numbered list from the end of the lines.
func readOptions(lines []string) (options, rest []string) {
	for at := len(lines) - 1; at >= 0; at-- {
		found := optionLine().FindStringSubmatch(lines[at])
		if found == nil {
			return nil, lines
		}
		options = append([]string{visible.OneLine(found[2])}, options...)
		if found[1] != "1" {
			continue
		}
		for n := range options {
			if number := optionLine().FindStringSubmatch(lines[at+n])[1]; number != strconv.Itoa(n+1) {
				return nil, lines
			}
		}
		return options, trimLines(lines[:at])
	}
	return nil, lines
}

// trimLines drops trailing blank lines.
func trimLines(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Overdue reports whether the default applies by now.
func (q Question) Overdue(now time.Time) bool {
	return q.Default > 0 && !q.Due.IsZero() && !now.Before(q.Due)
}

// Span formats a duration of whole minutes as typed: 24h, 90m.
func Span(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}
