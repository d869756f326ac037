package traces

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"stig/internal/clone"
	"stig/notes"
)

// mentioned reports whether a text, outside of code, mentions the actor or its kind with an @.
func (a Owner) mentioned(markdown string) bool {
	if !calls([]byte(markdown), a.called()) {
		return false
	}
	for _, line := range notes.Prose(markdown) {
		for rest := line.Text; ; {
			before, after, ok := strings.Cut(rest, "@")
			if !ok {
				break
			}
			last, _ := utf8.DecodeLastRuneInString(before)
			if !unicode.IsLetter(last) && !unicode.IsDigit(last) && last != '_' && last != '/' && a.named(after) {
				return true
			}
			rest = after
		}
	}
	return false
}

// called returns the names, or their beginnings, that mean the actor after an @.
func (a Owner) called() [][]byte {
	list := [][]byte{[]byte(a.Name), []byte(a.group()[1:]), []byte("all")}
	if slug := clone.Slug(a.Name); slug != "" && !clone.IsSession(a.Name) {
		list = append(list, []byte(slug))
	}
	return list
}

// calls reports whether a text contains an @ followed by one of names, ignoring case.
func calls(text []byte, names [][]byte) bool {
	for {
		at := bytes.IndexByte(text, '@')
		if at < 0 {
			return false
		}
		text = text[at+1:]
		for _, name := range names {
			if len(text) >= len(name) && bytes.EqualFold(text[:len(name)], name) {
				return true
			}
		}
	}
}

// named reports whether a text begins with a name of the actor: its name as it is or with
// hyphens for spaces, ignoring case, that of one of its sessions, or all, agents or people.
func (a Owner) named(text string) bool {
	word := text
	if end := strings.IndexFunc(text, func(r rune) bool { return !isNameRune(r) }); end >= 0 {
		word = text[:end]
	}
	word = strings.TrimRight(word, "./-_")
	switch {
	case word == "":
		return false
	case "@"+word == a.group() || word == "all":
		return true
	case strings.EqualFold(word, a.Name) || a.mine(word):
		return true
	case !clone.IsSession(a.Name) && strings.EqualFold(word, clone.Slug(a.Name)):
		return true
	}
	whole := strings.ContainsAny(a.Name, " ") && len(text) >= len(a.Name) && strings.EqualFold(text[:len(a.Name)], a.Name)
	next, _ := utf8.DecodeRuneInString(text[min(len(a.Name), len(text)):])
	return whole && !isNameRune(next)
}

// isNameRune reports whether a character can continue a name. A dot may also end a sentence.
func isNameRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_/.", r)
}
