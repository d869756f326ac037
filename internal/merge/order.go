package merge

import (
	"slices"
	"sort"
	"strings"
)

// order lists the names of the lines of both sides in the order of the result.
func (m *merger) order() []string {
	lead, other := &m.ours, &m.theirs
	if !moved(lead, &m.base) && (moved(other, &m.base) || sameNames(lead, &m.base)) {
		lead, other = other, lead
	}
	before := placed(lead, other)
	var names []string
	for i, l := range lead.lines {
		names = append(append(names, before[i]...), l.name)
	}
	return append(names, before[len(lead.lines)]...)
}

// moved reports whether two files have their common lines in different orders.
func moved(f, base *file) bool {
	last := -1
	for _, l := range f.lines {
		if at, ok := base.at[l.name]; ok {
			if at < last {
				return true
			}
			last = at
		}
	}
	return false
}

// sameNames reports whether two files are about the same things in the same order.
func sameNames(f, base *file) bool {
	return slices.EqualFunc(f.lines, base.lines, func(a, b line) bool { return a.name == b.name })
}

// placed returns, for each index of lead, the names of lines only in other that go before it.
func placed(lead, other *file) map[int][]string {
	ids, places, ascending := issues(lead)
	before := map[int][]string{}
	follows := 0
	for _, l := range other.lines {
		if at, ok := lead.at[l.name]; ok {
			follows = at + 1
			continue
		}
		at := follows
		if ascending && l.id != "" && len(ids) > 0 {
			at = places[len(places)-1] + 1
			if next := sort.Search(len(ids), func(i int) bool { return ids[i] > l.id }); next < len(ids) {
				at = places[next]
			}
		}
		before[at] = append(before[at], l.name)
	}
	if ascending {
		for _, names := range before {
			slices.SortStableFunc(names, other.byID)
		}
	}
	return before
}

// byID compares two lines by id; lines that are not issues keep their place.
func (f *file) byID(a, b string) int {
	x, y := f.line(a).id, f.line(b).id
	if x == "" || y == "" {
		return 0
	}
	return strings.Compare(x, y)
}

// issues lists the ids of a file with their positions, and reports whether they ascend.
func issues(f *file) (ids []string, places []int, ascending bool) {
	for i, l := range f.lines {
		if l.id != "" {
			ids, places = append(ids, l.id), append(places, i)
		}
	}
	return ids, places, sort.StringsAreSorted(ids)
}
