package visible

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Clipped is a text of so many characters at most. The last one of a text that was longer
// is "…".
func Clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// ClippedBytes is Clipped by the bytes of the text, to which "…" is added.
func ClippedBytes(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// ClippedColumns is Clipped by the columns of a terminal.
func ClippedColumns(text string, most int) string {
	if Columns(text) <= most {
		return text
	}
	return strings.TrimRight(Fitting(text, most-1), " ") + "…"
}

// Fitting is the beginning of a text that has at most so many columns, and at least one
// character.
func Fitting(text string, most int) string {
	taken := 0
	for i, r := range text {
		taken += runeColumns(r)
		if taken > most && i > 0 {
			return text[:i]
		}
	}
	return text
}

// Columns is how wide a text is on a terminal.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// runeColumns is 2 for the wide characters of East Asia and most pictures, 0
// for what combines with the character before it.
func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
