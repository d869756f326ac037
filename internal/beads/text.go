package beads

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// appendText decodes the raw inside of a valid JSON string. Unpaired surrogates and bytes that
// are not UTF-8 become U+FFFD each, as in encoding/json.
func appendText(dst, raw []byte) []byte {
	valid := utf8.Valid(raw) // nearly always true; one check here costs far less than one a line
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			n = len(raw)
		}
		if valid {
			dst = append(dst, raw[:n]...)
		} else {
			dst = appendValid(dst, raw[:n])
		}
		raw = raw[n:]
		if len(raw) > 0 {
			r, n := unescape(raw)
			dst = utf8.AppendRune(dst, r)
			raw = raw[n:]
		}
	}
	return dst
}

// longText is appendText returning a string, with a single copy.
func longText(raw []byte) string {
	var text strings.Builder
	text.Grow(len(raw)) // an escaped text is rarely shorter than its meaning
	valid, usual := utf8.Valid(raw), [4096]byte{}
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			n = len(raw)
		}
		if valid {
			text.Write(raw[:n])
		} else {
			text.Write(appendValid(usual[:0], raw[:n]))
		}
		if raw = raw[n:]; len(raw) > 0 {
			r, n := unescape(raw)
			text.WriteRune(r)
			raw = raw[n:]
		}
	}
	return text.String()
}

func appendValid(dst, run []byte) []byte {
	if utf8.Valid(run) {
		return append(dst, run...)
	}
	for len(run) > 0 {
		r, n := utf8.DecodeRune(run)
		dst = utf8.AppendRune(dst, r)
		run = run[n:]
	}
	return dst
}

// unescape decodes the escape at the start of raw and returns its length.
func unescape(raw []byte) (rune, int) {
	switch raw[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(raw[2:])
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(raw[8:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return rune(raw[1]), 2
}

func hex4(b []byte) (r rune) {
	for _, c := range b[:4] {
		r = r<<4 | rune(hexDigit(c))
	}
	return r
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// style is how the writer of a line encodes strings.
type style struct {
	rawMarkup bool // writes < > & U+2028 U+2029 unescaped (serde), unlike Go
	onlyASCII bool // escapes everything outside ASCII (Python's json)
}

func styleOf(line []byte) style {
	return style{
		rawMarkup: bytes.ContainsAny(line, "<>&"),
		onlyASCII: !slices.ContainsFunc(line, func(c byte) bool { return c >= utf8.RuneSelf }) && escapesForeign(line),
	}
}

// escapesForeign reports whether the line escapes a character outside ASCII that Go's encoder
// would not.
func escapesForeign(line []byte) bool {
	for i := 0; i < len(line); {
		n := bytes.IndexByte(line[i:], '\\')
		if n < 0 {
			return false
		}
		r, size := unescape(line[i+n:])
		if r >= utf8.RuneSelf && r != '\u2028' && r != '\u2029' && r != utf8.RuneError {
			return true
		}
		i += n + size
	}
	return false
}

// appendString appends the raw inside of a JSON string for text, which must be valid UTF-8.
func (st style) appendString(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	unit := func(u rune) {
		dst = append(dst, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20:
			if i := strings.IndexByte("\b\f\n\r\t", byte(r)); i >= 0 {
				dst = append(dst, '\\', "bfnrt"[i])
			} else {
				unit(r)
			}
		case !st.rawMarkup && (r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029'):
			unit(r)
		case st.onlyASCII && r > 0xffff:
			high, low := utf16.EncodeRune(r)
			unit(high)
			unit(low)
		case st.onlyASCII && r > '~':
			unit(r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// textLine is one line of a decoded string and the raw bytes it came from.
type textLine struct {
	text    string // without its newline
	raw     []byte
	newline []byte // the raw newline; nil for the last line
}

// textLines splits the raw inside of a string at its encoded newlines.
func textLines(raw []byte) (lines []textLine) {
	start := 0
	for i := 0; i < len(raw); {
		n := bytes.IndexByte(raw[i:], '\\')
		if n < 0 {
			break
		}
		i += n
		r, size := unescape(raw[i:])
		if r == '\n' {
			lines = append(lines, lineOf(raw[start:i], raw[i:i+size]))
			start = i + size
		}
		i += size
	}
	return append(lines, lineOf(raw[start:], nil))
}

func lineOf(raw, newline []byte) textLine {
	return textLine{string(appendText(nil, raw)), raw, newline}
}

// respell appends the raw inside of a string for text: lines shared with the old value keep
// their bytes, however unusual, the others are encoded anew.
func (st style) respell(dst []byte, text string, old []textLine) []byte {
	lines := strings.Split(text, "\n")
	reused := reuse(lines, old)
	for i, line := range lines {
		newline := []byte(`\n`)
		if k := reused[i]; k < 0 {
			dst = st.appendString(dst, line)
		} else {
			dst = append(dst, old[k].raw...)
			if old[k].newline != nil {
				newline = old[k].newline
			}
		}
		if i < len(lines)-1 {
			dst = append(dst, newline...)
		}
	}
	return dst
}

// reuse returns for each line the index of the old line whose bytes it keeps, or -1: first the
// common beginning and end, then in order what is between.
func reuse(lines []string, old []textLine) []int {
	reused := make([]int, len(lines))
	head, tail := 0, 0
	for head < min(len(lines), len(old)) && lines[head] == old[head].text {
		reused[head] = head
		head++
	}
	for tail < min(len(lines), len(old))-head && lines[len(lines)-1-tail] == old[len(old)-1-tail].text {
		tail++
		reused[len(lines)-tail] = len(old) - tail
	}
	at := map[string][]int{} // ascending indices of the remaining old lines
	for k := head; k < len(old)-tail; k++ {
		at[old[k].text] = append(at[old[k].text], k)
	}
	next := head
	for i := head; i < len(lines)-tail; i++ {
		places := at[lines[i]]
		if len(places) == 0 {
			reused[i] = -1
			continue
		}
		n, _ := slices.BinarySearch(places, next)
		if n == len(places) {
			n = 0 // moved up: its bytes fit here too
		}
		reused[i] = places[n]
		next = max(next, places[n]+1)
	}
	return reused
}
