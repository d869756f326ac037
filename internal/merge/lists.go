package merge

import (
	"slices"
	"strconv"
	"strings"

	"stig/internal/beads"
)

// element is one element of a list.
type element struct {
	raw    []byte
	name   string // its identity: elements with one name are versions of each other
	date   string // creation time, if it has one
	remark remark // of a comment
}

// isList reports whether all present values of a key are lists.
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

// list merges a list as a set: removals of one side are removed, additions added.
func (v versions) list(k beads.Key) value {
	b, o, t := v.base.Raw(k), v.ours.Raw(k), v.theirs.Raw(k)
	switch {
	case equal(o, t), equal(b, t):
		return value{raw: o}
	case equal(b, o):
		return value{raw: t}
	}
	named := elements(k, v.base, v.ours, v.theirs)
	var list [][]byte
	for _, e := range unite(named[0], named[1], named[2]) {
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

// elements lists the elements of a key in three versions, some of which may be nil.
func elements(k beads.Key, records ...*beads.Record) (lists [3][]element) {
	for i, r := range records {
		if r != nil {
			lists[i] = elementsOf(k, r)
		}
	}
	if k == beads.Comments {
		nameRemarks(lists[0], lists[1], lists[2])
	}
	return lists
}

func elementsOf(k beads.Key, r *beads.Record) (list []element) {
	times := map[string]int{}
	for _, raw := range r.Elements(k) {
		e := element{raw: raw, name: beads.Meaning(raw)}
		if member, err := beads.ParseRecord(raw); err == nil {
			e.date, e.remark = member.Text(beads.CreatedAt), remarkOf(member)
			if on := member.Text("depends_on_id"); k == beads.Dependencies && on != "" {
				e.name = on + "\x00" + member.Text("type")
			}
		} else {
			e.remark.said = string(raw)
		}
		times[e.name]++
		e.name += "\x00" + strconv.Itoa(times[e.name])
		list = append(list, e)
	}
	return list
}

// byName returns the first element of each name.
func byName(list []element) map[string]*element {
	first := make(map[string]*element, len(list))
	for i := range list {
		if first[list[i].name] == nil {
			first[list[i].name] = &list[i]
		}
	}
	return first
}

// unite merges three lists as sets, in the order of ours; additions of both sides are sorted by
// date. What one side removed goes, unless the other changed it.
func unite(base, ours, theirs []element) []element {
	was, mine, their := byName(base), byName(ours), byName(theirs)
	var kept, added, yours []element
	inside := false // something new precedes something old
	for _, e := range ours {
		b, t := was[e.name], their[e.name]
		switch {
		case b == nil && t == nil:
		case b == nil:
			e.raw = united(nil, e.raw, t.raw)
		case t == nil && equal(b.raw, e.raw):
			continue
		case t != nil:
			e.raw = united(b.raw, e.raw, t.raw)
		}
		if b == nil {
			added = append(added, e)
			continue
		}
		inside = inside || len(added) > 0
		kept = append(kept, e)
	}
	for _, e := range theirs {
		if b := was[e.name]; mine[e.name] == nil && (b == nil || !equal(b.raw, e.raw)) {
			yours = append(yours, e)
		}
	}
	if ascending(ours) && ascending(theirs) {
		all := slices.Concat(kept, added, yours)
		slices.SortStableFunc(all, func(a, b element) int { return strings.Compare(a.name, b.name) })
		return all
	}
	if inside {
		stays := byName(slices.Concat(kept, added))
		var all []element
		for _, e := range ours {
			if s := stays[e.name]; s != nil {
				all = append(all, *s)
			}
		}
		return append(all, yours...)
	}
	return append(kept, woven(added, yours)...)
}

// ascending reports whether a list is kept sorted, such as labels.
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
