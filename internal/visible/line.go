package visible

import (
	"strings"
	"unicode"
)

// OneLine folds white space: a text on one line, with one blank between its words, which
// cannot break the line it stands in.
func OneLine(text string) string {
	var line strings.Builder
	line.Grow(len(text))
	for word := range strings.FieldsSeq(text) {
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(word)
	}
	return line.String()
}

// Unspaced reports letters of the scripts that put no blanks between words.
func Unspaced(r rune) bool {
	const first = '\u0e00' // Thai, the first of them
	return r >= first && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// LF is a text whose lines all end with "\n".
func LF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
