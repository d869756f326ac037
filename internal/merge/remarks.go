package merge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
)

// remark is a comment as compared between versions: author, text and time. Its number does not
// count, since programs renumber comments.
type remark struct {
	said string    // author and text
	at   time.Time // zero if there is no readable one
	date string    // as written
}

func remarkOf(comment *beads.Record) remark {
	at, _ := comment.Time(beads.CreatedAt)
	return remark{said: comment.Text("author") + "\x00" + strings.TrimSpace(comment.Text("text")), at: at, date: comment.Text(beads.CreatedAt)}
}

// moment distinguishes times.
func (r remark) moment() string {
	if r.at.IsZero() {
		return r.date
	}
	return r.at.UTC().Format(time.RFC3339Nano)
}

// nameRemarks names the comments of three versions so that equal names mean one comment. The
// same text on another day is another comment. If a side has base's comment with another time,
// and no more often, it was redated there.
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

// number names elements by text and time, in order.
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

// match gives elements of one version the names of their counterparts in another: made at the
// same time, else within a second (programs truncate or round), else with one time missing.
// With redated, the remaining ones are paired in order.
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

// matchNear pairs elements made within a second of each other; both lists are sorted by time.
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

// zip pairs elements in order.
func zip(named, list []*element) {
	for i := range min(len(named), len(list)) {
		list[i].name = named[i].name
	}
}

// byTime lists the elements that have a time, sorted.
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
