package beads

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth is the deepest nesting accepted, the limit of encoding/json.
const maxDepth = 10000

// span is a half-open range of byte offsets.
type span struct{ start, end int }

func (s span) of(b []byte) []byte { return b[s.start:s.end] }

// member is one key and value of an object.
type member struct {
	key     span // between the quotes
	val     span // the whole value, including quotes
	escaped bool // the key contains a backslash
}

// syntaxError is the first position at which a line is not JSON.
type syntaxError struct {
	offset  int // 0-based
	message string
	sound   bool // it is JSON, but not an issue
}

// scanner checks JSON without building values. Every method takes the offset where its element
// starts and returns the offset after it, or -1 with err set.
type scanner struct {
	b       []byte
	err     *syntaxError
	escaped bool // the last string contains a backslash
}

func (s *scanner) fail(i int, expected string) int {
	found := "the end of the line"
	if i < len(s.b) {
		found = fmt.Sprintf("%q", s.b[i:i+1])
	}
	s.err = &syntaxError{offset: i, message: fmt.Sprintf("expected %s, found %s", expected, found)}
	return -1
}

func (s *scanner) at(i int) byte {
	if i < len(s.b) {
		return s.b[i]
	}
	return 0
}

func (s *scanner) blanks(i int) int {
	for i < len(s.b) && isBlank(s.b[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// value skips one value; depth counts the objects and arrays around it.
func (s *scanner) value(i, depth int) int {
	switch c := s.at(i); {
	case c == '"':
		return s.str(i)
	case c == '{':
		return s.object(i, depth+1)
	case c == '[':
		return s.array(i, depth+1)
	case c == '-' || isDigit(c):
		return s.number(i)
	case c == 't':
		return s.literal(i, "true")
	case c == 'f':
		return s.literal(i, "false")
	case c == 'n':
		return s.literal(i, "null")
	}
	return s.fail(i, "a value")
}

func (s *scanner) tooDeep(i, depth int) bool {
	if depth <= maxDepth {
		return false
	}
	s.err = &syntaxError{offset: i, message: fmt.Sprintf("nested deeper than %d", maxDepth)}
	return true
}

func (s *scanner) object(i, depth int) int {
	if s.tooDeep(i, depth) {
		return -1
	}
	i = s.blanks(i + 1)
	if s.at(i) == '}' {
		return i + 1
	}
	for {
		var m member
		if i = s.member(i, depth, &m); i < 0 {
			return -1
		}
		i = s.blanks(i)
		switch s.at(i) {
		case ',':
			i = s.blanks(i + 1)
		case '}':
			return i + 1
		default:
			return s.fail(i, `"," or "}"`)
		}
	}
}

// member skips a key, its colon and its value.
func (s *scanner) member(i, depth int, m *member) int {
	if s.at(i) != '"' {
		return s.fail(i, "a key in quotes")
	}
	end := s.str(i)
	if end < 0 {
		return -1
	}
	m.key = span{i + 1, end - 1}
	m.escaped = s.escaped
	i = s.blanks(end)
	if s.at(i) != ':' {
		return s.fail(i, `":" after the key`)
	}
	i = s.blanks(i + 1)
	end = s.value(i, depth)
	m.val = span{i, end}
	return end
}

func (s *scanner) array(i, depth int) int {
	if s.tooDeep(i, depth) {
		return -1
	}
	i = s.blanks(i + 1)
	if s.at(i) == ']' {
		return i + 1
	}
	for {
		if i = s.value(i, depth); i < 0 {
			return -1
		}
		i = s.blanks(i)
		switch s.at(i) {
		case ',':
			i = s.blanks(i + 1)
		case ']':
			return i + 1
		default:
			return s.fail(i, `"," or "]"`)
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, in the high bit of each byte, quotes, backslashes and control characters in w.
// The lowest mark is exact; a borrow can only cause false marks above it.
func special(w uint64) uint64 {
	q := w ^ ones*('"'^0x20) // turns the quote into a blank and leaves only control characters below "!"
	e := w ^ ones*'\\'
	return ((q-ones*0x21)&^q | (e-ones)&^e) & highs
}

// simple marks the characters that may follow a backslash alone.
var simple = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// str skips a string from its opening quote, eight bytes at a time.
func (s *scanner) str(i int) int {
	b := s.b
	s.escaped = false
	i++
	for {
		for i+8 <= len(b) {
			if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return s.fail(len(b), "the closing quote of a string")
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			s.escaped = true
			if i+1 < len(b) && simple[b[i+1]] {
				i += 2
			} else if i = s.escape(i); i < 0 {
				return -1
			}
		case c < 0x20:
			return s.fail(i, "no control character in a string")
		default:
			i++
		}
	}
}

// escape skips one escape, starting at its backslash.
func (s *scanner) escape(i int) int {
	switch s.at(i + 1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if hexDigit(s.at(k)) < 0 {
				return s.fail(k, "four hexadecimal digits after \\u")
			}
		}
		return i + 6
	}
	return s.fail(i+1, `one of "\/bfnrtu after a backslash`)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) digits(i int) int {
	if !isDigit(s.at(i)) {
		return s.fail(i, "a digit")
	}
	for isDigit(s.at(i)) {
		i++
	}
	return i
}

func (s *scanner) number(i int) int {
	if s.at(i) == '-' {
		i++
	}
	if s.at(i) == '0' {
		i++
	} else if i = s.digits(i); i < 0 {
		return -1
	}
	if s.at(i) == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if c := s.at(i); c == 'e' || c == 'E' {
		i++
		if c := s.at(i); c == '+' || c == '-' {
			i++
		}
		i = s.digits(i)
	}
	return i
}

func (s *scanner) literal(i int, word string) int {
	for k := range len(word) {
		if s.at(i+k) != word[k] {
			return s.fail(i+k, word)
		}
	}
	return i + len(word)
}

// walker iterates over the members of one object that must span the whole text.
//
//	w := walker{scanner: scanner{b: line}}
//	for w.next(&m) { … }
//	if w.err != nil { … }
type walker struct {
	scanner
	pos    int
	inside bool
}

func (w *walker) next(m *member) bool {
	i := w.blanks(w.pos)
	switch c := w.at(i); {
	case !w.inside && c != '{':
		w.fail(i, `an object ("{")`)
		return false
	case !w.inside:
		w.inside = true
		i = w.blanks(i + 1)
		if w.at(i) == '}' {
			return w.finish(i + 1)
		}
	case c == ',':
		i = w.blanks(i + 1)
	case c == '}':
		return w.finish(i + 1)
	default:
		w.fail(i, `"," or "}"`)
		return false
	}
	w.pos = w.member(i, 1, m)
	return w.pos >= 0
}

func (w *walker) finish(i int) bool {
	if i = w.blanks(i); i < len(w.b) {
		w.fail(i, "nothing after the object")
	}
	return false
}

// element returns the next element of a well-formed array: i is the offset of its "[" or the
// one after the previous element.
func (s *scanner) element(i int) (span, bool) {
	i = s.blanks(i)
	if c := s.at(i); c == '[' || c == ',' {
		i = s.blanks(i + 1)
	}
	if i >= len(s.b) || s.b[i] == ']' {
		return span{}, false
	}
	return span{i, s.value(i, 0)}, true
}

// nextElement advances from the offset after an element or member of a well-formed value to the
// next one, or to the closing bracket.
func (s *scanner) nextElement(i int) int {
	if i = s.blanks(i); s.b[i] == ',' {
		i = s.blanks(i + 1)
	}
	return i
}
