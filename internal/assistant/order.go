package assistant

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Order is a command of bd or br in an instruction or settings file for which stig has another
// way.
type Order struct {
	Lines   []int  // where it appears, 1-based
	Text    string // the quoted part of the first of these lines
	Instead string // what stig does instead
}

// What stig does instead of a command of bd or br.
const (
	insteadClose = "stig close ID runs the acceptance criteria first"
	insteadClaim = "stig claim ID claims it in all work trees"
	insteadNotes = "stig checkpoint ID keeps what others wrote in the notes"
	insteadSync  = "stig writes .beads/issues.jsonl; commit it with git"
	insteadBrief = "stig's hooks brief the session"
)

// Orders returns such commands in a text, one Order for each thing that stig does instead. It
// parses commands, not English: a line that forbids a command is reported too, and a person
// decides.
func Orders(text string) (found []Order) {
	for _, at := range trackerWord().FindAllStringSubmatchIndex(text, -1) {
		start := strings.LastIndexByte(text[:at[2]], '\n') + 1
		instead := insteadOf(commandBehind(text[start:], at[3]-start))
		if instead == "" {
			continue
		}
		line := 1 + strings.Count(text[:start], "\n")
		if i := slices.IndexFunc(found, func(o Order) bool { return o.Instead == instead }); i < 0 {
			found = append(found, Order{[]int{line}, quoteOf(text[start:], at[2]-start), instead})
		} else if !slices.Contains(found[i].Lines, line) {
			found[i].Lines = append(found[i].Lines, line)
		}
	}
	return found
}

// farBehind is the offset in a line from which a quotation starts at the command, not at the
// start of the line.
const farBehind = 40

// quoteOf returns what to quote of the line with the command at an offset: the string around
// it, otherwise the line without its list marker, or the rest of a long line.
func quoteOf(text string, at int) string {
	line, _, _ := strings.Cut(text, "\n")
	if open := strings.LastIndexByte(line[:at], '"'); open >= 0 {
		line, _, _ = strings.Cut(line[open+1:], `"`)
	} else if at > farBehind {
		line = "…" + line[at:]
	}
	return strings.TrimSpace(strings.TrimLeft(line, " \t-*>#"))
}

// trackerWord matches bd or br as a separate word.
var trackerWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?:^|[^\w.$-])(bd|br)(?:\s|$)`) })

// commandBehind returns the words after a program, up to the end of the line, or of the code
// span or string that contains the program; a backslash at the end of a line continues it.
func commandBehind(line string, program int) []string {
	rest, end := strings.ReplaceAll(line[program:], "\\\n", " "), "`;|&\n"
	switch before := line[:program]; {
	case strings.Count(before, "`")%2 == 1:
		end = "`;|&"
	case strings.Count(before, `"`)%2 == 1:
		end += `"`
	}
	if at := strings.IndexAny(rest, end); at >= 0 {
		rest = rest[:at]
	}
	words := strings.Fields(rest)
	for i, word := range words {
		words[i] = strings.Trim(word, `"'.,:*()[]{}`)
	}
	return words
}

// insteadOf returns what stig does instead of bd or br with these words; "" for the same.
func insteadOf(words []string) string {
	verb, words, _ := afterOptions(words)
	has := func(options ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			name, _, _ := strings.Cut(word, "=")
			return slices.Contains(options, name)
		})
	}
	switch {
	case verb == "close" || verb == "done" || verb == "update" && setsStatus(words, closedStatus):
		return insteadClose
	case verb == "update" && (has("--claim") || setsStatus(words, func(s string) bool { return s == "in_progress" })):
		return insteadClaim
	case verb == "update" && has("--notes"):
		return insteadNotes
	case verb == "sync":
		return insteadSync
	case verb == "prime" || verb == "hook" || verb == "hooks":
		return insteadBrief
	}
	return ""
}
