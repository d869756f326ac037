package assistant

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Order is a command of bd or br that a file of instructions or settings names, and that
// stig does in another way.
type Order struct {
	Lines   []int  // where it stands, from 1
	Text    string // of the first of these lines, where it stands
	Instead string // what stig does
}

// What stig does where a text names a command of bd or br.
const (
	insteadClose = "stig close ID runs the acceptance criteria first"
	insteadClaim = "stig claim ID claims it in all work trees"
	insteadNotes = "stig checkpoint ID keeps what others wrote in the notes"
	insteadSync  = "stig writes .beads/issues.jsonl; commit it with git"
	insteadBrief = "stig's hooks brief the session"
)

// Orders finds such commands in a text, by what stig does instead. It reads commands and no
// English: a line that forbids one is found too, and a person decides.
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

// farBehind is where in a line a quotation does not begin with the line any more.
const farBehind = 40

// quoteOf is what of a line to quote of what stands at an offset: the string, else the line
// without the mark of its item, or the rest of a long one.
func quoteOf(text string, at int) string {
	line, _, _ := strings.Cut(text, "\n")
	if open := strings.LastIndexByte(line[:at], '"'); open >= 0 {
		line, _, _ = strings.Cut(line[open+1:], `"`)
	} else if at > farBehind {
		line = "…" + line[at:]
	}
	return strings.TrimSpace(strings.TrimLeft(line, " \t-*>#"))
}

// trackerWord finds where bd or br stands as a word of its own.
var trackerWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?:^|[^\w.$-])(bd|br)(?:\s|$)`) })

// commandBehind gives the words behind a program, to the end of the line, or of the code span
// or string that the program stands in; a line that ends with a backslash goes on.
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

// insteadOf is what stig does where bd or br is followed by these words; "" for the same.
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
