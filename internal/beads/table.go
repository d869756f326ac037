package beads

import "hash/maphash"

// idTable finds issues by id. It stores indices instead of ids, so that building it for a large
// store is fast and small, and the garbage collector has nothing to scan.
type idTable struct {
	seed  maphash.Seed
	slots []idSlot // a power of two, at least half of them free
}

type idSlot struct {
	sum   uint32 // hash of the id
	after int32  // the index + 1; 0 for none
}

func newIDTable(seed maphash.Seed, issues int) idTable {
	size := 2
	for size < 2*issues {
		size *= 2
	}
	return idTable{seed: seed, slots: make([]idSlot, size)}
}

// put adds the issue at an index and returns the index of the one with the same id that it
// replaces, else -1.
func (t *idTable) put(issues []*Issue, place int) (before int) {
	s := t.find(issues, issues[place].ID, issues[place].sum)
	before = int(s.after) - 1
	*s = idSlot{sum: issues[place].sum, after: int32(place) + 1}
	return before
}

// place returns the index of the issue with that id, or -1.
func (t *idTable) place(issues []*Issue, id string) int {
	return int(t.find(issues, id, sumOf(t.seed, id)).after) - 1
}

// find returns the slot of an id, or the free one where it belongs.
func (t *idTable) find(issues []*Issue, id string, sum uint32) *idSlot {
	mask := len(t.slots) - 1
	for at := int(sum) & mask; ; at = (at + 1) & mask {
		s := &t.slots[at]
		if s.after == 0 || s.sum == sum && issues[s.after-1].ID == id {
			return s
		}
	}
}

func sumOf(seed maphash.Seed, id string) uint32 { return uint32(maphash.String(seed, id)) }
