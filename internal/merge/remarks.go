package merge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
)

// remark is a comment as three versions are compared by: who said what and when. Its number
// tells nothing, for programs number comments anew.
type remark struct {
	said string    // author and text
	at   time.Time // zero where it has none that can be read
	date string    // as it stands
}

func remarkOf(comment *beads.Record) remark {
	at, _ := comment.Time(beads.CreatedAt)
	return remark{said: comment.Text("author") + "\x00" + strings.TrimSpace(comment.Text("text")), at: at, date: comment.Text(beads.CreatedAt)}
}

// moment tells two times apart that are not the same.
func (r remark) moment() string {
	if r.at.IsZero() {
		return r.date
	}
	return r.at.UTC().Format(time.RFC3339Nano)
}

// nameRemarks gives the comments of three versions their names: one name for one comment. Words
// that are said again on another day are another comment. What base has and a side has with
// another time, and no more often, was dated anew there.
func nameRemarks(base, ours, theirs []element) {
	by := func(list []element) map[string][]*element {
		said := map[string][]*element{}
		for i := range list {
			e := &list[i]
			e.name = ""
			said[e.remark.said] = append(said[e.remark.said], e)
		}
		return said
	}
	was := by(base)
	mine, yours := by(ours), by(theirs)
	for words, list := range was {
		number(list, words)
		match(list, mine[words], true)
		match(list, yours[words], true)
	}
	for words, list := range mine {
		own := unnamed(list)
		number(own, words+"\x00new")
		match(own, yours[words], false)
	}
	for words, list := range yours {
		number(unnamed(list), words+"\x00theirs")
	}
}

// number names elements by their words and their times, in their order.
func number(list []*element, words string) {
	times := map[string]int{}
	for _, e := range list {
		e.name = words + "\x00" + e.date
		times[e.name]++
		e.name = fmt.Sprintf("%s\x00%d", e.name, times[e.name])
	}
}

func unnamed(list []*element) (left []*element) {
	for _, e := range list {
		if e.name == "" {
			left = append(left, e)
		}
	}
	return left
}

// match gives elements of one version the names of those that they are in another: made at one
// time, else within a second of each other (programs cut fractions off, or round), else where
// one has no time. With redated, what is left of both is paired in its order.
func match(named, all []*element, redated bool) {
	at := map[string][]*element{}
	for _, e := range named {
		at[e.remark.moment()] = append(at[e.remark.moment()], e)
	}
	for _, e := range unnamed(all) {
		if same := at[e.remark.moment()]; len(same) > 0 {
			e.name = same[0].name
			at[e.remark.moment()] = same[1:]
		}
	}
	matchNear(byTime(ungiven(named, all)), byTime(unnamed(all)))
	dated := func(e *element) bool { return e.remark.date != "" }
	zip(slices.DeleteFunc(ungiven(named, all), dated), unnamed(all))
	rest := unnamed(all)
	if !redated {
		rest = slices.DeleteFunc(rest, dated)
	}
	zip(ungiven(named, all), rest)
}

// matchNear pairs elements that were made within a second of each other; both lists are in the
// order of their times.
func matchNear(named, list []*element) {
	for len(named) > 0 && len(list) > 0 {
		switch apart := list[0].remark.at.Sub(named[0].remark.at); {
		case apart > time.Second:
			named = named[1:]
		case apart < -time.Second:
			list = list[1:]
		default:
			list[0].name = named[0].name
			named, list = named[1:], list[1:]
		}
	}
}

// zip pairs elements one by one.
func zip(named, list []*element) {
	for i := range min(len(named), len(list)) {
		list[i].name = named[i].name
	}
}

// byTime lists the elements that have a time, in the order of those.
func byTime(list []*element) []*element {
	list = slices.DeleteFunc(list, func(e *element) bool { return e.remark.at.IsZero() })
	slices.SortStableFunc(list, func(a, b *element) int { return a.remark.at.Compare(b.remark.at) })
	return list
}

// ungiven lists the elements whose names no element of another version has.
func ungiven(named, all []*element) (left []*element) {
	given := map[string]bool{}
	for _, e := range all {
		given[e.name] = true
	}
	for _, e := range named {
		if !given[e.name] {
			left = append(left, e)
		}
	}
	return left
}
