package merge

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"stig/internal/beads"
)

// element is one element of a list.
type element struct {
	raw  []byte
	name string // what it is: elements of one name are versions of each other
	date string // when it was made, where it says so
}

// isList reports whether a key holds lists where it is there at all.
func (v versions) isList(k beads.Key) bool {
	found := false
	for _, r := range []*beads.Record{v.base, v.ours, v.theirs} {
		raw := r.Raw(k)
		if r.Has(k) && raw[0] != '[' {
			return false
		}
		found = found || r.Has(k)
	}
	return found
}

// list merges a list as a set: what one side removed goes, what one side added
// comes.
func (v versions) list(k beads.Key) value {
	b, o, t := v.base.Raw(k), v.ours.Raw(k), v.theirs.Raw(k)
	switch {
	case equal(o, t), equal(b, t):
		return value{raw: o}
	case equal(b, o):
		return value{raw: t}
	}
	base, ours, theirs := elements(v.base, k), elements(v.ours, k), elements(v.theirs, k)
	var list [][]byte
	for _, e := range unite(base, ours, theirs) {
		list = append(list, e.raw)
	}
	united, err := v.ours.PutElements(k, list)
	if err != nil {
		return value{questions: []Question{v.asked(k)}}
	}
	if k == beads.Comments {
		before := map[string]bool{}
		united = united.RenumberComments(func(_ int, number string) bool {
			twice := before[number]
			before[number] = true
			return twice
		}, map[string]bool{})
	}
	return value{raw: united.Raw(k)}
}

func elements(r *beads.Record, k beads.Key) (list []element) {
	said := map[string]int{}
	for _, raw := range r.Elements(k) {
		e := element{raw: raw, name: beads.Meaning(raw)}
		if member, err := beads.ParseRecord(raw); err == nil {
			e.date = member.Text(beads.CreatedAt)
			switch k {
			case "dependencies":
				e.name = member.Text("depends_on_id") + "\x00" + member.Text("type")
			case "comments":
				// Not by its id, nor by its time: tools give new ones, and cut
				// fractions off. Who says the same words twice says them twice.
				e.name = member.Text("author") + "\x00" + strings.TrimSpace(member.Text("text"))
				said[e.name]++
				e.name += "\x00" + strconv.Itoa(said[e.name])
			}
		}
		list = append(list, e)
	}
	return list
}

// byName gives the first element of each name.
func byName(list []element) map[string]*element {
	first := make(map[string]*element, len(list))
	for i := range list {
		if first[list[i].name] == nil {
			first[list[i].name] = &list[i]
		}
	}
	return first
}

// unite merges three lists as sets, in the order of ours; what is new on both
// sides comes in the order of its dates.
func unite(base, ours, theirs []element) []element {
	was, their := byName(base), byName(theirs)
	var kept, mine, yours []element
	inside := false // something new stands before something old
	for _, e := range ours {
		if was[e.name] == nil {
			mine = append(mine, e)
			continue
		}
		inside = inside || len(mine) > 0
		if t := their[e.name]; t != nil {
			kept = append(kept, version(was, e, *t))
		}
	}
	for i, e := range mine {
		if t := their[e.name]; t != nil {
			mine[i] = version(was, e, *t)
		}
	}
	made, stays := byName(mine), byName(kept)
	for _, e := range theirs {
		if was[e.name] == nil && made[e.name] == nil {
			yours = append(yours, e)
		}
	}
	if ascending(ours) && ascending(theirs) {
		all := slices.Concat(kept, mine, yours)
		slices.SortStableFunc(all, func(a, b element) int { return strings.Compare(a.name, b.name) })
		return all
	}
	if inside {
		all := slices.DeleteFunc(slices.Clone(ours), func(e element) bool { return stays[e.name] == nil && made[e.name] == nil })
		return append(all, yours...)
	}
	return append(kept, woven(mine, yours)...)
}

// version is the version of an element that counts: the changed one; of two
// changed ones the same, whichever is ours.
func version(was map[string]*element, o, t element) element {
	b := was[o.name]
	switch {
	case b != nil && equal(b.raw, t.raw), equal(o.raw, t.raw):
		return o
	case b != nil && equal(b.raw, o.raw), bytes.Compare(t.raw, o.raw) > 0:
		return t
	}
	return o
}

// ascending reports whether a list is one that is kept in order, such as labels.
func ascending(list []element) bool {
	dated := slices.ContainsFunc(list, func(e element) bool { return e.date != "" })
	return !dated && slices.IsSortedFunc(list, func(a, b element) int { return strings.Compare(a.name, b.name) })
}

// woven merges two lists by date without changing the order within either.
func woven(a, b []element) []element {
	var all []element
	for len(a) > 0 && len(b) > 0 {
		first := strings.Compare(a[0].date+"\x00"+a[0].name, b[0].date+"\x00"+b[0].name) <= 0
		if first {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}
