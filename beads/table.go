package beads

import "hash/maphash"

// idTable finds issues by their ids. Instead of ids it holds places in the
// list of issues, so that building it for a large store takes little time and
// memory, and nothing in it is looked at by the garbage collector.
type idTable struct {
	seed  maphash.Seed
	slots []int32 // a place + 1; 0 where there is none. A power of two, half empty at least
}

func newIDTable(seed maphash.Seed, issues int) idTable {
	size := 2
	for size < 2*issues {
		size *= 2
	}
	return idTable{seed: seed, slots: make([]int32, size)}
}

// put adds the issue at a place, instead of one with the same id, whose place
// it gives; else -1.
func (t *idTable) put(issues []*Issue, place int) (before int) {
	slot := t.find(issues, issues[place].ID, issues[place].sum)
	before = int(t.slots[slot]) - 1
	t.slots[slot] = int32(place) + 1
	return before
}

// place is the place of the issue with that id, or -1.
func (t *idTable) place(issues []*Issue, id string) int {
	return int(t.slots[t.find(issues, id, sumOf(t.seed, id))]) - 1
}

// find gives the slot of an id, or the free one where it would be put.
func (t *idTable) find(issues []*Issue, id string, sum uint32) int {
	mask := len(t.slots) - 1
	for slot := int(sum) & mask; ; slot = (slot + 1) & mask {
		place := int(t.slots[slot]) - 1
		if place < 0 || issues[place].sum == sum && issues[place].ID == id {
			return slot
		}
	}
}

func sumOf(seed maphash.Seed, id string) uint32 { return uint32(maphash.String(seed, id)) }
