package guard

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// valueOptions tells which options of a program are followed by their value, by
// their names without hyphens.
type valueOptions func(name string) bool

// valued are options of these names, separated by blanks.
func valued(names string) valueOptions {
	list := strings.Fields(names)
	return func(name string) bool { return slices.Contains(list, name) }
}

// allBut are all long options but those of these names, and the short ones that
// are among these letters.
func allBut(flags, letters string) valueOptions {
	list := strings.Fields(flags)
	return func(name string) bool {
		if len(name) == 1 {
			return strings.Contains(letters, name)
		}
		return !slices.Contains(list, name)
	}
}

// commandLine is the words after a program, taken apart.
type commandLine struct {
	operands []string
	given    map[string][]string // values by option; "" for one without
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

// takeApart takes words apart: --name value, --name=value, -n value, -nvalue.
func takeApart(words []string, takes valueOptions) commandLine {
	l := commandLine{given: map[string][]string{}}
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
			if !attached && takes(name) {
				value, words = cutFirst(words)
			}
			l.give(name, value)
		case len(word) > 1 && word[0] == '-':
			words = l.giveLetters(word[1:], words, takes)
		default:
			l.operands = append(l.operands, word)
		}
	}
	return l
}

func (l commandLine) give(name, value string) { l.given[name] = append(l.given[name], value) }

// giveLetters takes options of one letter apart; the value of the last may be the
// first of the words behind them. It gives those that are left.
func (l commandLine) giveLetters(letters string, behind []string, takes valueOptions) []string {
	for i := range len(letters) {
		name, value := letters[i:i+1], ""
		if !takes(name) {
			l.give(name, "")
			continue
		}
		if value = strings.TrimPrefix(letters[i+1:], "="); value == "" {
			value, behind = cutFirst(behind)
		}
		l.give(name, value)
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
func skipOptions(words []string, takes valueOptions) []string {
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "--":
			return words[1:]
		case strings.HasPrefix(word, "-") && len(word) > 1:
			name := strings.TrimLeft(word, "-")
			words = words[1:]
			if !strings.Contains(name, "=") && takes(name) {
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

// cutWords cuts words at one of them.
func cutWords(words []string, at string) (before, after []string, found bool) {
	if i := slices.Index(words, at); i >= 0 {
		return words[:i], words[i+1:], true
	}
	return words, nil, false
}

// fileWords are the words that are no options.
func fileWords(words []string) (files []string) {
	for _, word := range words {
		if !strings.HasPrefix(word, "-") {
			files = append(files, word)
		}
	}
	return files
}
