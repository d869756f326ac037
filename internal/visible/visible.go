// Package visible makes texts safe and short enough to show: characters that act on a
// terminal, or that hide or move the text around them, become escapes, since people must
// see what would run before they trust a command; texts are clipped to the room there is,
// quoted for a shell, and searched for credentials. What is only mentioned (a prefix
// alone, a placeholder, a variable) is no credential.
//
// It does not know where a text comes from or where it is shown.
//
//	fmt.Println(visible.Text(criteria))
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text gives a text in which every hidden character and every byte that is no UTF-8
// is an escape as Go and bash write it: \x1b, \u200b, \U000e0041. Ends of lines are
// "\n". A text of visible characters is given as it is.
func Text(text string) string {
	text = LF(text)
	if utf8.ValidString(text) && !strings.ContainsFunc(text, Hidden) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !Hidden(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// Hidden reports whether Text escapes a character: control characters except tab and
// line feed, characters of no width and of direction (Cf, the tags among them), every
// blank and end of line but the ASCII ones, and what fonts draw as nothing. The
// selectors that give an emoji its look (U+FE0E, U+FE0F) stay.
func Hidden(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7f:
		return false
	case r == 0xfe0e || r == 0xfe0f:
		return false
	case r == brailleBlank || r&0xfffe == 0xfffe: // the last two of a plane are no characters, and XML takes none
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Z, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// brailleBlank is a symbol without a dot.
const brailleBlank = 0x2800
