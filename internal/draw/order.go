package draw

import (
	"cmp"
	"math"
	"slices"
)

const (
	sweeps      = 3     // the last one goes the way of the edges: after one against it more of them cross
	manyItems   = 20000 // pictures beyond are not for reading: they keep the order in which they are listed
	alignSweeps = 2
)

// improve moves items up and down within their lanes, towards what they are
// linked to: in sweeps that may change their order, then in sweeps that only
// straighten the edges.
func (l *layout) improve() {
	for round := range sweeps + alignSweeps {
		reorders := round < sweeps
		columns, near := slices.All(l.groups), before
		if round%2 == 1 {
			columns, near = slices.Backward(l.groups), after
		}
		if !reorders {
			near = beside
		} else if len(l.items) > manyItems {
			continue
		}
		for _, column := range columns {
			for lane, group := range column {
				if wishes := l.wishes(group, near); len(group) > 0 {
					if reorders {
						l.reorder(group, wishes)
					}
					l.settle(group, wishes, l.tops[lane], l.bottoms[lane])
				}
			}
		}
	}
}

// What an item may wish to lie beside.
func before(it *item) []int { return it.before }
func after(it *item) []int  { return it.after }
func beside(it *item) []int { return slices.Concat(it.before, it.after) }

// reorder sorts a group by its wishes, and these with it.
func (l *layout) reorder(group, wishes []int) {
	at := make(map[int]int, len(group))
	for k, i := range group {
		at[i] = wishes[k]
	}
	slices.SortStableFunc(group, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.items[a].rank, l.items[b].rank), cmp.Compare(at[a], at[b]))
	})
	for k, i := range group {
		wishes[k] = at[i]
	}
}

// wishes is where items would lie best: at the mean of what is near to them.
func (l *layout) wishes(group []int, nearTo func(*item) []int) []int {
	wishes := make([]int, len(group))
	for k, i := range group {
		near := nearTo(&l.items[i])
		if len(near) == 0 {
			wishes[k] = l.items[i].y
			continue
		}
		sum := 0
		for _, b := range near {
			sum += l.items[b].y
		}
		wishes[k] = sum / len(near)
	}
	return wishes
}

// settle gives a group places in its order, as near to its wishes as the room
// allows: neighbours that would overlap are moved as one, to the mean of what
// they wish. Items that are fixed stay above the others, and below.
func (l *layout) settle(group, wish []int, top, bottom int) {
	first, end := 0, len(group)
	for first < end && l.items[group[first]].rank < 0 {
		top = l.put(group[first], top)
		first++
	}
	for end > first && l.items[group[end-1]].rank > 0 {
		end--
		bottom -= l.items[group[end]].height
	}
	if linked := group[first:end]; len(linked) > 0 {
		l.settleLinked(linked, wish[first:end], top, bottom)
		lowest := l.items[linked[len(linked)-1]]
		top = lowest.y + (lowest.height+1)/2
	}
	for _, i := range group[end:] {
		top = l.put(i, top)
	}
}

// settleLinked settles what is linked, by pooling adjacent violators: a pool is
// so many items that touch, and sum adds up where each would have the first item
// of the group, were all of the group to touch.
func (l *layout) settleLinked(group, wish []int, top, bottom int) {
	type pool struct{ sum, count int }
	var pools []pool
	height := 0 // of the items so far, if all touched
	offsets := make([]int, len(group))
	for k, i := range group {
		offsets[k] = height + l.items[i].height/2
		height += l.items[i].height
		pools = append(pools, pool{sum: wish[k] - offsets[k], count: 1})
		for n := len(pools); n > 1 && pools[n-2].sum*pools[n-1].count > pools[n-1].sum*pools[n-2].count; n = len(pools) {
			pools[n-2].sum += pools[n-1].sum
			pools[n-2].count += pools[n-1].count
			pools = pools[:n-1]
		}
	}
	k := 0
	for _, p := range pools {
		start := min(max(int(math.Floor(float64(p.sum)/float64(p.count))), top), bottom-height)
		for range p.count {
			l.items[group[k]].y = start + offsets[k]
			k++
		}
	}
}

// put lays an item below top and gives its lower end.
func (l *layout) put(i, top int) int {
	l.items[i].y = top + l.items[i].height/2
	return top + l.items[i].height
}
