package beads

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CreatedBy is the key that holds an issue's creator.
const CreatedBy Key = "created_by"

// Origin is when and by whom an issue was created, and its title. It tells apart issues that
// got the same id in two clones.
type Origin struct{ At, By, Title string } // At and By are "" if the line lacks them

// Origin reads the origin from the line. Its title is the current one, since the line does not
// keep the original.
func (r *Record) Origin() Origin {
	return Origin{At: r.Text(CreatedAt), By: r.Text(CreatedBy), Title: r.Text(Title)}
}

// Together reports whether two issues with one id were created in the same second by the same
// person. If either lacks a time, it assumes so. Some programs round to whole seconds, so the
// next second counts too.
func (b Origin) Together(o Origin) bool {
	if b.At == "" || o.At == "" {
		return true
	}
	return b.By == o.By && (b.second() == o.second() || rounded(b.At, o.At))
}

// rounded reports whether one time may be the other rounded up to a whole second.
func rounded(a, b string) bool {
	x, readable := parseTime([]byte(a))
	y, alsoReadable := parseTime([]byte(b))
	if !readable || !alsoReadable || (x.Nanosecond() == 0) == (y.Nanosecond() == 0) {
		return false
	}
	return x.Sub(y).Abs() < time.Second
}

// Same reports whether two lines with one id are one issue: created together, with the same
// title. If either lacks a time, it assumes so.
func (b Origin) Same(o Origin) bool {
	return b.At == "" || o.At == "" || b.Together(o) && b.Title == o.Title
}

// Compare orders origins by time in full precision, then by title and creator. Unreadable times
// sort last.
func (b Origin) Compare(o Origin) int {
	at, readable := parseTime([]byte(b.At))
	other, alsoReadable := parseTime([]byte(o.At))
	order := 0
	switch {
	case readable && alsoReadable:
		order = at.Compare(other)
	case readable:
		order = -1
	case alsoReadable:
		order = 1
	}
	return cmp.Or(order, strings.Compare(b.Title, o.Title), strings.Compare(b.By, o.By), strings.Compare(b.At, o.At))
}

// second returns the time truncated to the second, in UTC. A text that is not a time is
// returned unchanged.
func (b Origin) second() string {
	at, ok := parseTime([]byte(b.At))
	if !ok {
		return b.At
	}
	return at.UTC().Truncate(time.Second).Format(time.RFC3339)
}

// renamedLength is the number of hash characters in an id made by Rename.
const renamedLength = 6

// Rename returns a new id for an issue whose id another issue keeps. It replaces the last part
// of the old id (after the last hyphen, or the last dot behind that) by a hash of the origin
// and of that part, so that every clone computes the same id, even if the parent was renamed
// first. The hash starts with a letter, unlike a child number, and holds a digit, like every id
// from NewID. Taken ids are skipped.
func (b Origin) Rename(old string, taken func(id string) bool) string {
	start, part := cutLast(old)
	for nonce := 0; ; nonce++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %d", b.second(), b.By, b.Title, part, nonce))
		text := strings.Repeat("0", renamedLength) + strconv.FormatUint(binary.BigEndian.Uint64(sum[:]), 36)
		id := start + text[len(text)-renamedLength:]
		if IsRenamed(id) && !taken(id) {
			return id
		}
	}
}

// IsRenamed reports whether an id has the form that Rename produces. Other ids may have it too.
func IsRenamed(id string) bool {
	start, part := cutLast(id)
	if start == "" || len(part) != renamedLength || !isLetter(part[0]) {
		return false
	}
	digit := false
	for _, c := range []byte(part) {
		if !isDigit(c) && (c < 'a' || c > 'z') {
			return false
		}
		digit = digit || isDigit(c)
	}
	return digit
}

// OldIDMark precedes the old id in the notes of every issue that Rename gave a new one; see
// OldIDNote.
const OldIDMark = " until branches were merged."

// OldIDNote returns the line of the notes that records an issue's former id.
func OldIDNote(id string) string { return "Was " + id + OldIDMark }

// IsOldIDNote reports whether a line records a former id.
func IsOldIDNote(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "Was ") && strings.HasSuffix(line, OldIDMark)
}

// ReplaceIDs replaces ids in a text where they are whole words: not inside longer ids, and not
// in OldIDNote lines. to gets each word that may be an id, with its line, and returns the
// replacement.
func ReplaceIDs(text string, to func(line, id string) string) string {
	var result strings.Builder
	for line := range strings.Lines(text) {
		if IsOldIDNote(line) {
			result.WriteString(line)
			continue
		}
		for rest := line; rest != ""; {
			other := rest[:until(rest, true)]
			word := rest[len(other):]
			word = word[:until(word, false)]
			rest = rest[len(other)+len(word):]
			result.WriteString(other)
			if id := strings.Trim(word, "._-"); id != "" {
				word = strings.Replace(word, id, to(line, id), 1)
			}
			result.WriteString(word)
		}
	}
	return result.String()
}

// until returns the length of the text before the first character that may be part of an id, or
// before the first that may not.
func until(text string, holds bool) int {
	for i, c := range []byte(text) {
		if (isLetter(c) || isDigit(c) || c == '.' || c == '_' || c == '-') == holds {
			return i
		}
	}
	return len(text)
}

// cutLast splits off the last part of an id: a child number, else the hash. An id without parts
// counts as a prefix, to which a part can be added.
func cutLast(id string) (start, part string) {
	hyphen := strings.LastIndexByte(id, '-')
	if dot := strings.LastIndexByte(id, '.'); dot > hyphen {
		return id[:dot+1], id[dot+1:]
	}
	if hyphen < 0 {
		return id + "-", ""
	}
	return id[:hyphen+1], id[hyphen+1:]
}

// ParentID returns the id that a child's id begins with: "a-1.2" for "a-1.2.3", and "" for an
// id not of the form PARENT.PART.
func ParentID(id string) string {
	if start, _ := cutLast(id); strings.HasSuffix(start, ".") && len(start) > 1 {
		return start[:len(start)-1]
	}
	return ""
}
