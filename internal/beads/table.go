package beads

import "hash/maphash"

// idTable finds issues by their ids. Instead of ids it holds places in the
// list of issues, so that building it for a large store takes little time and
// memory, and nothing in it is looked at by the garbage collector.
type idTable struct {
	seed  maphash.Seed
	slots []idSlot // as many as a power of two, half of them free at least
}

type idSlot struct {
	sum   uint32 // of the id
	after int32  // the place + 1; 0 where there is none
}

func newIDTable(seed maphash.Seed, issues int) idTable {
	size := 2
	for size < 2*issues {
		size *= 2
	}
	return idTable{seed: seed, slots: make([]idSlot, size)}
}

// put adds the issue at a place, instead of one with the same id, whose place
// it gives; else -1.
func (t *idTable) put(issues []*Issue, place int) (before int) {
	s := t.find(issues, issues[place].ID, issues[place].sum)
	before = int(s.after) - 1
	*s = idSlot{sum: issues[place].sum, after: int32(place) + 1}
	return before
}

// place is the place of the issue with that id, or -1.
func (t *idTable) place(issues []*Issue, id string) int {
	return int(t.find(issues, id, sumOf(t.seed, id)).after) - 1
}

// find gives the slot of an id, or the free one where it would be put.
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
