package beads

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	shortest, longest = 3, 8 // characters of a hash
	deepest           = 3    // how deep children may nest
)

// Prefix returns the prefix of new ids: the one in the store's configuration, else the most
// common one, else the one the store was made with, else the name of the directory that
// contains it.
func (f *Snapshot) Prefix() (string, error) {
	kept := f.source.Prefix
	if kept == nil {
		kept = func(bool) (string, error) { return "", nil }
	}
	if prefix, err := kept(false); prefix != "" || err != nil {
		return prefix, err
	}
	if prefix := f.commonPrefix(); prefix != "" {
		return prefix, nil
	}
	if prefix, err := kept(true); prefix != "" || err != nil {
		return prefix, err
	}
	return PrefixOf(f.place.Dir)
}

// commonPrefix returns the prefix that most issues have, on a tie the first bytewise; "" if
// none has one. bd's records of molecules and wisps (prefix-mol-…, prefix-wisp-…) do not count.
func (f *Snapshot) commonPrefix() (best string) {
	counts := map[string]int{}
	for _, is := range f.issues {
		if is.Ephemeral || strings.Contains(is.ID, "-mol-") || strings.Contains(is.ID, "-wisp-") {
			continue
		}
		if prefix, _, ok := cutHash(is.ID); ok && prefix != "" {
			counts[prefix]++
			if n := counts[prefix]; n > counts[best] || n == counts[best] && prefix < best {
				best = prefix
			}
		}
	}
	return best
}

// cutHash splits an id at its last hyphen.
func cutHash(id string) (prefix, hash string, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return "", id, false
	}
	return id[:i], id[i+1:], true
}

// CheckPrefix explains why a prefix is invalid: a prefix is a letter, then letters, digits, "_"
// and "-", and does not end in "-".
func CheckPrefix(prefix string) error {
	sound := prefix != "" && isLetter(prefix[0]) && !strings.HasSuffix(prefix, "-")
	for _, c := range []byte(prefix) {
		sound = sound && (isLetter(c) || isDigit(c) || c == '_' || c == '-')
	}
	if sound {
		return nil
	}
	return fmt.Errorf(`prefix: must be a letter, then letters, digits, "_" and "-"; found %q`, prefix)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// PrefixOf derives a prefix from the name of the directory that holds .beads.
func PrefixOf(beadsDir string) (string, error) {
	dir, err := filepath.Abs(beadsDir)
	if err != nil {
		return "", Unreadable(beadsDir, err)
	}
	if filepath.Base(dir) == DirName {
		dir = filepath.Dir(dir)
	}
	prefix := strings.Map(func(r rune) rune {
		if r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r)) || r == '_') {
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Base(dir)))
	for strings.Contains(prefix, "--") {
		prefix = strings.ReplaceAll(prefix, "--", "-")
	}
	prefix = strings.TrimLeft(prefix, "-_0123456789")
	prefix = strings.TrimRight(prefix, "-")
	if prefix == "" {
		return "issue", nil
	}
	return prefix, nil
}

// Seed is the input of a new id's hash.
type Seed struct {
	Title, Description, By string
	Now                    time.Time
}

// NewID returns an unused id: the prefix, a hyphen, and 3 to 8 base-36 characters of a hash of
// the seed, as many as keep collisions rare between stores of this size. The same seed in the
// same store gives the same id. Each hash holds a digit, since some programs take a hash
// without one for a word of the prefix.
func (f *Snapshot) NewID(prefix string, seed Seed) (string, error) {
	const tries = 1000
	for length := hashLength(len(f.issues)); length <= longest; length++ {
		for nonce := range tries {
			id := prefix + "-" + seed.hash(nonce, length)
			if _, taken := f.Index(id); !taken && strings.ContainsAny(id[len(prefix):], "0123456789") {
				return id, nil
			}
		}
	}
	return "", fmt.Errorf("no free id begins with %q", prefix)
}

// hashLength returns the shortest length at which the chance that any two of so many hashes are
// equal stays below a quarter, as in bd.
func hashLength(issues int) int {
	n := float64(issues + 1)
	for length := shortest; length < longest; length++ {
		if 1-math.Exp(-n*n/(2*math.Pow(36, float64(length)))) <= 0.25 {
			return length
		}
	}
	return longest
}

func (s Seed) hash(nonce, length int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d", s.Title, s.Description, s.By, s.Now.UnixNano(), nonce))
	text := strconv.FormatUint(binary.BigEndian.Uint64(sum[:]), 36)
	// The last digits are uniform enough; short numbers are padded with zeros.
	return (strings.Repeat("0", longest) + text)[longest+len(text)-length:]
}

// ChildID returns the id of an issue's next child, PARENT.N. N is one more than the greatest
// used so far, so that the number of a deleted child is not reused; next, unless nil, may
// change it. Children nest three deep.
func (f *Snapshot) ChildID(parent string, next func(greatest int) (int, error)) (string, error) {
	depth := 0
	_, hash, _ := cutHash(parent)
	for _, part := range strings.Split(hash, ".")[1:] {
		if _, ok := childNumber(part); ok {
			depth++
		}
	}
	if depth >= deepest {
		return "", fmt.Errorf("%s: is %d levels deep already, the most that child ids allow", parent, depth)
	}
	greatest := f.ChildNumbers()[parent]
	if next == nil {
		return fmt.Sprintf("%s.%d", parent, greatest+1), nil
	}
	n, err := next(greatest)
	return fmt.Sprintf("%s.%d", parent, n), err
}

// ChildNumbers returns, for each id that has children or dependencies on children, the greatest
// child number.
func (f *Snapshot) ChildNumbers() map[string]int {
	numbers := map[string]int{}
	for _, is := range f.issues {
		countChild(numbers, is.ID)
		for _, dep := range is.Deps {
			countChild(numbers, dep.On)
		}
	}
	return numbers
}

// ChildNumbersIn is ChildNumbers for a store's text that is not on disk.
func ChildNumbersIn(text []byte) map[string]int {
	numbers := map[string]int{}
	for first := true; len(text) > 0; first = false {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		_, line = trimLine(line, first)
		countChild(numbers, firstID(line))
	}
	return numbers
}

// ChildNumbersOf is ChildNumbers for a list of ids.
func ChildNumbersOf(ids iter.Seq[string]) map[string]int {
	numbers := map[string]int{}
	for id := range ids {
		countChild(numbers, id)
	}
	return numbers
}

// countChild counts an id and its ancestors, for children of children.
func countChild(numbers map[string]int, id string) {
	for {
		at := strings.LastIndexByte(id, '.')
		if at < 0 {
			return
		}
		if n, ok := childNumber(id[at+1:]); ok {
			numbers[id[:at]] = max(numbers[id[:at]], n)
		}
		id = id[:at]
	}
}

// NumberedParent returns PARENT for an id PARENT.N with a number N, and "" for any other.
func NumberedParent(id string) string {
	dot := strings.LastIndexByte(id, '.')
	if dot <= 0 || dot == len(id)-1 || strings.Trim(id[dot+1:], "0123456789") != "" {
		return ""
	}
	return id[:dot]
}

func childNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == s
}
