package guard

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// commandLine is the words after a program, taken apart.
type commandLine struct {
	operands []string
	given    map[string][]string // values by option, without hyphens; "" for one without
}

// has reports whether any of the options is given.
func (l commandLine) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return l.given[name] != nil })
}

// values lists the values of these options.
func (l commandLine) values(names ...string) (list []string) {
	for _, name := range names {
		list = append(list, l.given[name]...)
	}
	return list
}

// takeApart takes words apart: --name value, --name=value, -n value, -nvalue. valued
// are the options that are followed by a value, separated by blanks.
func takeApart(words []string, valued string) commandLine {
	l := commandLine{given: map[string][]string{}}
	takes := strings.Fields(valued)
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		long, isLong := strings.CutPrefix(word, "--")
		switch {
		case word == "--":
			l.operands = append(l.operands, words...)
			return l
		case isLong:
			name, value, attached := strings.Cut(long, "=")
			if !attached && slices.Contains(takes, name) {
				value, words = cutFirst(words)
			}
			l.given[name] = append(l.given[name], value)
		case len(word) > 1 && word[0] == '-':
			words = l.takeLetters(word[1:], words, takes)
		default:
			l.operands = append(l.operands, word)
		}
	}
	return l
}

// takeLetters takes options of one letter apart; the value of the last may be the
// first of the words behind them. It gives those that are left.
func (l commandLine) takeLetters(letters string, behind, takes []string) []string {
	for i := range len(letters) {
		name, value := letters[i:i+1], ""
		if !slices.Contains(takes, name) {
			l.given[name] = append(l.given[name], "")
			continue
		}
		if value = strings.TrimPrefix(letters[i+1:], "="); value == "" {
			value, behind = cutFirst(behind)
		}
		l.given[name] = append(l.given[name], value)
		break
	}
	return behind
}

// cutFirst cuts off the first word; "" when there is none.
func cutFirst(words []string) (first string, rest []string) {
	if len(words) == 0 {
		return "", nil
	}
	return words[0], words[1:]
}

// skipOptions skips the options at the beginning of words, and assignments.
func skipOptions(words []string, valued string) []string {
	takes := strings.Fields(valued)
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "--":
			return words[1:]
		case strings.HasPrefix(word, "-") && len(word) > 1:
			words = words[1:]
			if slices.Contains(takes, strings.TrimLeft(word, "-")) {
				_, words = cutFirst(words)
			}
		case assignment().MatchString(word):
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

var assignment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`) })

// until gives the words before one of these.
func until(words []string, ends ...string) []string {
	if i := slices.IndexFunc(words, func(word string) bool { return slices.Contains(ends, word) }); i >= 0 {
		return words[:i]
	}
	return words
}
