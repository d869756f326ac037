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

// CreatedBy is the key of who made an issue.
const CreatedBy Key = "created_by"

// Birth is when and by whom an issue was made, and with which title. It
// distinguishes issues that were given the same id in two clones.
type Birth struct{ At, By, Title string } // At and By are "" where the line has none

// Birth reads the birth from a line. The title is that of now: the line does
// not hold the one that the issue was made with.
func (r *Record) Birth() Birth {
	return Birth{At: r.Text(CreatedAt), By: r.Text(CreatedBy), Title: r.Text(Title)}
}

// Together reports whether two issues of one id were made in the same second
// by the same creator. Where one of them has no time that is assumed. Some
// programs keep whole seconds only, and round: then the next second counts too.
func (b Birth) Together(o Birth) bool {
	if b.At == "" || o.At == "" {
		return true
	}
	return b.By == o.By && (b.second() == o.second() || rounded(b.At, o.At))
}

// rounded reports whether one of two times may be the other one, rounded up to
// a whole second.
func rounded(a, b string) bool {
	x, readable := parseTime([]byte(a))
	y, alsoReadable := parseTime([]byte(b))
	if !readable || !alsoReadable || (x.Nanosecond() == 0) == (y.Nanosecond() == 0) {
		return false
	}
	return x.Sub(y).Abs() < time.Second
}

// Same reports whether two issues of one id are one issue: made together, with
// the same title. Where one of them has no time that is assumed.
func (b Birth) Same(o Birth) bool {
	return b.At == "" || o.At == "" || b.Together(o) && b.Title == o.Title
}

// Compare orders births by time, in its full precision, then by title and creator.
// Times that cannot be read come last.
func (b Birth) Compare(o Birth) int {
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

// second is the time of a birth to the second, in UTC. What is no time is
// returned as it stands.
func (b Birth) second() string {
	at, ok := parseTime([]byte(b.At))
	if !ok {
		return b.At
	}
	return at.UTC().Truncate(time.Second).Format(time.RFC3339)
}

// renamedLength is the number of characters of the hash in an id of Rename.
const renamedLength = 6

// Rename makes the id of an issue whose own id another issue keeps. It is the
// old one with its last part, after the last hyphen or the last dot behind
// that, replaced by a hash of the birth and of that part. So every clone gives
// the issue the same id, also if the parent was renamed there before.
// The hash begins with a letter, which no number of a child does, and holds a
// digit, as every id of NewID does. Ids that are taken are skipped.
func (b Birth) Rename(old string, taken func(id string) bool) string {
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

// IsRenamed reports whether an id looks like one of Rename. Others may, too.
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

// OldIDMark stands in the notes of every issue that has an id of Rename, behind
// the old id; see OldIDNote.
const OldIDMark = " until branches were merged."

// OldIDNote is the line of the notes that says what the id of an issue was.
func OldIDNote(id string) string { return "Was " + id + OldIDMark }

// IsOldIDNote reports whether a line says what the id of an issue was.
func IsOldIDNote(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "Was ") && strings.HasSuffix(line, OldIDMark)
}

// ReplaceIDs exchanges ids in a text, where they stand as words: not within
// longer ids, and not in lines of OldIDNote. to is called with each word that
// might be an id and its line, and returns what to put in its place.
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

// until is the length of a text before the first character that an id may
// hold, or before the first that it may not.
func until(text string, holds bool) int {
	for i, c := range []byte(text) {
		if (isLetter(c) || isDigit(c) || c == '.' || c == '_' || c == '-') == holds {
			return i
		}
	}
	return len(text)
}

// cutLast splits an id before its last part: the number of a child, else the
// hash. An id without parts counts as a prefix, to which a part can be added.
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

// ParentID is the id that a child's id begins with: "a-1.2" of "a-1.2.3", and
// "" of an id that is not of the form PARENT.PART.
func ParentID(id string) string {
	if start, _ := cutLast(id); strings.HasSuffix(start, ".") && len(start) > 1 {
		return start[:len(start)-1]
	}
	return ""
}
