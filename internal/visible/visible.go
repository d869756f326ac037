// Package visible makes text safe and short enough to display. It escapes characters that
// control a terminal, or that hide or move the text around them, because people must see what a
// command would run before they trust it. It also clips text to the available space, quotes it
// for a shell, and searches it for credentials. A mere mention (a prefix alone, a placeholder,
// a variable) is not a credential.
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

// Text escapes every hidden character and every byte that is not UTF-8, as Go and bash write
// it: \x1b, \u200b, \U000e0041. Line endings become "\n". A text of visible characters is
// unchanged.
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

// Hidden reports whether Text escapes a character: control characters except tab and line feed,
// zero-width and directional characters (Cf, including tags), all blanks and line ends but the
// ASCII ones, and what fonts draw as nothing. Emoji variation selectors (U+FE0E, U+FE0F) stay.
func Hidden(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7f:
		return false
	case r == 0xfe0e || r == 0xfe0f:
		return false
	case r == brailleBlank || r&0xfffe == 0xfffe: // the last two of a plane are noncharacters, which XML rejects
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Z, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// brailleBlank is a symbol without dots.
const brailleBlank = 0x2800
