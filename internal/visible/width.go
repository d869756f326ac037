package visible

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Clipped truncates a text to so many characters, of which the last is then "…".
func Clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// ClippedBytes is Clipped by bytes, with "…" appended.
func ClippedBytes(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// ClippedColumns is Clipped by terminal columns.
func ClippedColumns(text string, most int) string {
	if Columns(text) <= most {
		return text
	}
	return strings.TrimRight(Fitting(text, most-1), " ") + "…"
}

// Fitting returns the beginning of a text with at most so many columns and at least one
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

// Columns is the width of a text on a terminal.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// runeColumns is 2 for wide East Asian characters and most pictographs, 0 for combining
// characters.
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
