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
	deepest           = 3    // how often children may be nested
)

// Prefix is what the ids of new issues begin with: what the configuration of
// the store says, else what most of its ids begin with, else what it was made
// with, else the name of the directory that holds it.
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

// commonPrefix is the prefix that most issues have, of several the first by
// its bytes; "" when no id has one. The records that bd keeps of its molecules
// and wisps, named prefix-mol-… and prefix-wisp-…, are not asked.
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

// CheckPrefix says why ids cannot begin so: a prefix is a letter, then
// letters, digits, "_" and "-", and does not end in "-".
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

// PrefixOf makes a prefix of the name of the directory that holds a .beads.
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

// Seed is what the hash of a new id is made from.
type Seed struct {
	Title, Description, By string
	Now                    time.Time
}

// NewID makes an id that no issue of the store has: the prefix, a hyphen, and
// 3 to 8 characters of a hash of the seed in base 36, as many as keep
// collisions between stores of this size rare. The same seed in the same store
// gives the same id. Each hash holds a digit: some programs take one without
// for a word of the prefix.
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

// hashLength is the least length at which the chance that among so many
// issues any two hashes are equal stays under a quarter, as bd has it.
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
	// The last digits are as good as evenly spread; a number that is too short has zeros in front.
	return (strings.Repeat("0", longest) + text)[longest+len(text)-length:]
}

// ChildID makes the id of the next child of an issue, PARENT.N. N is one more
// than the greatest so far, so that the number of a deleted child is not used
// again, or what next makes of that one: nil stands for no change. Children can be nested three deep.
func (f *Snapshot) ChildID(parent string, next func(greatest int) (int, error)) (string, error) {
	depth := 0
	_, hash, _ := cutHash(parent)
	for _, part := range strings.Split(hash, ".")[1:] {
		if _, ok := childNumber(part); ok {
			depth++
		}
	}
	if depth >= deepest {
		return "", fmt.Errorf("%s: is %d deep already, and ids of children go no deeper", parent, depth)
	}
	greatest := f.ChildNumbers()[parent]
	if next == nil {
		return fmt.Sprintf("%s.%d", parent, greatest+1), nil
	}
	n, err := next(greatest)
	return fmt.Sprintf("%s.%d", parent, n), err
}

// ChildNumbers gives the greatest number of a child for each id that has some, or to one
// of which a dependency points.
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

// ChildNumbersIn is ChildNumbers of the text of a store that is not on disk.
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

// ChildNumbersOf is ChildNumbers of ids.
func ChildNumbersOf(ids iter.Seq[string]) map[string]int {
	numbers := map[string]int{}
	for id := range ids {
		countChild(numbers, id)
	}
	return numbers
}

// countChild counts an id, and the ids above it: of a child of a child.
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

// NumberedParent is PARENT of an id PARENT.N, N a number; "" of any other.
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
