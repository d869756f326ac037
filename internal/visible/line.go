package visible

import (
	"strings"
	"unicode"
)

// OneLine collapses white space to single blanks, so that the text cannot break its line.
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

// Unspaced reports letters of scripts that put no blanks between words.
func Unspaced(r rune) bool {
	const first = '\u0e00' // Thai, the first of them
	return r >= first && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// LF converts all line endings to "\n".
func LF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
