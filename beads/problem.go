package beads

import "unicode/utf8"

// The rules of problems.
const (
	BadJSON        = "bad-json"        // no JSON object, or one without a usable id
	ConflictMarker = "conflict-marker" // left over from a merge
	CutShort       = "cut-short"       // the last line has no newline and is not JSON
	DuplicateID    = "duplicate-id"    // the id stands on an earlier line too
)

// The rules of flaws.
const (
	WrongType   = "value-type"   // a value of another type than the key has
	RepeatedKey = "key-repeated" // a key stands twice in a line, with different values
)

// Problem is one place that keeps the store, or for a duplicate id the issue,
// from being written.
type Problem struct {
	Line, Column int    // 1-based; the column counts bytes
	Rule         string // one of the rules above
	ID           string // of a duplicate
	Message      string

	marker byte // the character of a conflict marker
}

func (e *syntaxError) problem(number, skipped int, cut bool) Problem {
	p := Problem{Line: number, Column: skipped + e.offset + 1, Rule: BadJSON, Message: e.message}
	if cut && !e.sound {
		p.Rule = CutShort
		p.Message = "the last line is cut short: " + e.message
	}
	return p
}

// brief cuts a text that is quoted in a message to a length fit for it.
func brief(b []byte) string {
	const most = 40
	if len(b) <= most {
		return string(b)
	}
	n := most
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "…"
}
