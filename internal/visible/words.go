package visible

import (
	"fmt"
	"strings"
)

// Counted formats a number of things: "1 issue", "2 issues".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Fenced formats a text as a code block whose fence nothing in it can end.
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
