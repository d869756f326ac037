package visible

import (
	"fmt"
	"strings"
	"time"
)

// Counted is a number of things: "1 issue", "2 issues", "2 children", "2 entries".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if before, ok := strings.CutSuffix(noun, "child"); ok {
		return fmt.Sprintf("%d %schildren", n, before)
	}
	if before, ok := strings.CutSuffix(noun, "y"); ok && !strings.HasSuffix(noun, "ay") {
		return fmt.Sprintf("%d %sies", n, before)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Some names the first few items of a list and counts the rest: "a, b and 3 more".
func Some(list []string, most int) string {
	text := strings.Join(list[:min(len(list), most)], ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Fenced is a text as a block of code, in which nothing of it is taken for
// anything else.
func Fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// FirstLine shortens a command to its first line.
func FirstLine(command string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(command), "\n")
	if rest != "" {
		return first + " …"
	}
	return first
}

// Moment is a time for a reader, in UTC: 2026-11-20 09:00 UTC. One that falls on midnight
// exactly is a day that somebody wrote without a time, and is shown as that day.
func Moment(t time.Time) string {
	if t = t.UTC(); t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04 UTC")
}

// Ago is how long ago something was, in its greatest unit: 5m ago, 3d ago.
func Ago(d time.Duration) string { return Span(max(d, 0)) + " ago" }

// Span is a span of time in its greatest unit.
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
