package beads

import (
	"bytes"
	"fmt"
	"sync"

	"stig/internal/fault"
)

// Flaw is something in an issue's line that an edit would overwrite without stig seeing it;
// such an issue must not be written.
type Flaw struct {
	Key     Key
	Rule    string // WrongType or RepeatedKey
	Message string
}

// Flaws lists the flaws of a line, in order.
func (r *Record) Flaws() (flaws []Flaw) {
	first := r.firsts()
	for i, m := range r.members {
		raw := m.val.of(r.line)
		if wanted, ok := r.mayHoldValue(m, raw); !ok {
			flaws = append(flaws, r.flaw(m, WrongType, fmt.Sprintf("must be %s; found %s", wanted, shape(raw))))
		}
		if j := first(m, i); j < i && Meaning(r.members[j].val.of(r.line)) != Meaning(raw) {
			flaws = append(flaws, r.flaw(m, RepeatedKey, "is there twice, with different values"))
		}
	}
	return flaws
}

func (r *Record) flaw(m member, rule, message string) Flaw {
	key := memberKey(r.line, m)
	return Flaw{Key(key), rule, fmt.Sprintf("%q %s", key, message)}
}

// firsts returns firstOf, or for lines with many keys a function that takes constant time.
func (r *Record) firsts() func(m member, n int) int {
	const few = 100
	if len(r.members) <= few {
		return r.firstOf
	}
	first := make(map[string]int, len(r.members))
	for i, m := range r.members {
		if key := memberKey(r.line, m); !hasKey(first, key) {
			first[key] = i
		}
	}
	return func(m member, _ int) int { return first[memberKey(r.line, m)] }
}

func hasKey(m map[string]int, key string) bool {
	_, ok := m[key]
	return ok
}

// firstOf returns the index of the first member with the key of m, which is at index n.
func (r *Record) firstOf(m member, n int) int {
	key := m.key.of(r.line)
	for i, other := range r.members[:n] {
		if !m.escaped && !other.escaped {
			if bytes.Equal(other.key.of(r.line), key) {
				return i
			}
		} else if memberKey(r.line, other) == memberKey(r.line, m) {
			return i
		}
	}
	return n
}

// The types of the structured values that stig writes.
const (
	aText   = "a string"
	aNumber = "a number"
	aList   = "a list"

	aBoolean = "a boolean" // of what stig reads and does not write
)

// typeOf returns the type that a key's value must have; "" for keys that stig does not write.
func typeOf(key []byte) string {
	switch Key(key) {
	case Priority:
		return aNumber
	case "labels", Dependencies, Comments:
		return aList
	}
	if textKeys()[string(key)] {
		return aText
	}
	return ""
}

var textKeys = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, o := range order {
		all[string(o.key)] = o.kind.isText()
	}
	return all
})

// mayHoldValue reports whether a member has its key's type or null, and else which type it
// needs.
func (r *Record) mayHoldValue(m member, raw []byte) (wanted string, ok bool) {
	found := shape(raw)
	if found == "null" {
		return "", true
	}
	key := m.key.of(r.line)
	if m.escaped {
		key = []byte(memberKey(r.line, m))
	}
	wanted = typeOf(key)
	return wanted, wanted == "" || wanted == found
}

// shape names the JSON type of a value.
func shape(raw []byte) string {
	switch raw[0] {
	case '"':
		return aText
	case '[':
		return aList
	case '{':
		return "an object"
	case 't', 'f':
		return aBoolean
	case 'n':
		return "null"
	}
	return aNumber
}

// refuseFlaws refuses to write an issue whose line has a flaw.
func (tx *Tx) refuseFlaws(is *Issue, r *Record) error {
	flaws := r.Flaws()
	if len(flaws) == 0 {
		return nil
	}
	return &fault.Error{Code: fault.Refused,
		Path: tx.snapshot.place.Name(), Line: is.Line, Reason: is.ID + ": " + flaws[0].Message,
		Hint: fmt.Sprintf("fix %q in that line by hand, then retry; an edit would overwrite it", flaws[0].Key)}
}
