package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Digest is what was left on an issue since the last summary, as input for the next one.
type Digest struct {
	Since  string  // the newest trace that the last summary covers; "" without a summary
	Newest string  // the newest trace in the digest; "" for none
	Count  int     // traces up to that one, including those that summaries cover
	Total  int     // traces since then, including comments
	Bytes  int     // total length of their texts
	Groups []Group // by type, in the order of the types, others and comments last
}

// Group is the traces of one type, newest first. Repeated content is listed once.
type Group struct {
	Type string
	Said []Said
}

// Said is a trace, and how often it was left.
type Said struct {
	Left  Entry
	Times int
}

// DigestOf builds the digest of one issue's comments, oldest first.
func DigestOf(list []Entry) Digest {
	all := list
	list, since := Unsummarised(all)
	d := Digest{Since: since, Total: len(list)}
	groups := map[string][]Said{}
	said := map[string]int{}                  // the index in its group of a trace's content
	for _, l := range slices.Backward(list) { // newest first
		d.Bytes += len(l.text)
		if d.Newest == "" {
			d.Newest = l.Name
			d.Count = countTo(all, slices.IndexFunc(all, func(one Entry) bool { return one.Index == l.Index }), len(all))
		}
		if at, before := said[l.says()]; before {
			groups[l.Type][at].Times++
		} else {
			said[l.says()] = len(groups[l.Type])
			groups[l.Type] = append(groups[l.Type], Said{l, 1})
		}
	}
	for _, name := range typesOf(groups) {
		d.Groups = append(d.Groups, Group{name, groups[name]})
	}
	return d
}

// Unsummarised returns the traces of one issue that no summary covers yet, without summaries
// and swarm records, in order of time, and the name of the newest covered one. A summary covers
// nothing added to the issue after it: a writer whose clock is behind has an earlier time. If
// there are more traces up to its last one than it counted, a merge brought them, and it is
// unknown which ones its writer saw: it covers nothing.
func Unsummarised(list []Entry) (rest []Entry, covered string) {
	by, last := reached(list), -1
	for i, l := range slices.Backward(list) {
		if at, ends := by[i]; ends && at > last {
			if last < 0 {
				covered = l.Name
			}
			last = at
		}
		if l.Index > last && l.isDigested() {
			rest = append(rest, l)
		}
	}
	slices.Reverse(rest)
	return rest, covered
}

// reached returns the positions up to which summaries cover, each with the index of the last
// one that does.
func reached(list []Entry) map[int]int {
	first := map[string]int{}               // position of a name
	digested := make([]int, 1, len(list)+1) // how many traces a digest has before each position
	for i, l := range list {
		if _, known := first[l.Name]; !known {
			first[l.Name] = i
		}
		n := digested[i]
		if l.isDigested() {
			n++
		}
		digested = append(digested, n)
	}
	by := map[int]int{}
	for i, l := range list {
		if l.Type != Summary {
			continue
		}
		end := -1
		for _, name := range l.Values("covers") {
			if at, there := first[name]; there && list[at].Index < l.Index && (end < 0 || at < end) {
				end = at
			}
		}
		if end < 0 {
			end = i - 1 // a summary that names no trace here covers what is before it
		}
		count, err := strconv.Atoi(strings.Join(l.Values("count"), ""))
		if err != nil || digested[end+1] <= count || countTo(list, end, l.Index) <= count {
			by[end] = max(by[end], l.Index)
		}
	}
	return by
}

// isDigested reports whether a digest includes such a trace.
func (l Entry) isDigested() bool { return l.Type != Summary && l.Type != SwarmRound }

// countTo counts the digested traces up to a position that were added before the index.
func countTo(list []Entry, end, index int) (count int) {
	for _, l := range list[:end+1] {
		if l.isDigested() && l.Index < index {
			count++
		}
	}
	return count
}

// says is the content by which traces are equal.
func (l Entry) says() string { return l.Type + "\x00" + l.Summary + "\x00" + l.Body }

func typesOf(groups map[string][]Said) []string {
	types := slices.DeleteFunc(Types(), func(name string) bool { return groups[name] == nil })
	var others []string
	for name := range groups {
		if !slices.Contains(types, name) && name != Comment {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	types = append(types, others...)
	if groups[Comment] != nil {
		types = append(types, Comment)
	}
	return types
}

// Markdown formats the digest with at most budget characters, first lines before texts. The
// last line, which is always there, says what is omitted.
func (d Digest) Markdown(budget int) string {
	text, left := d.within(budget)
	if left > 0 {
		text, left = d.within(budget - len(leftOut(d.Total)))
		text += leftOut(left)
	}
	return text
}

func leftOut(n int) string { return fmt.Sprintf("\n%d more are omitted.\n", n) }

// within returns what fits into so many characters, and how much does not.
func (d Digest) within(budget int) (text string, left int) {
	var b strings.Builder
	size := 0
	for _, g := range d.Groups {
		heading := fmt.Sprintf("## %s (%d)\n", g.Type, len(g.Said))
		for i, s := range g.Said {
			text := s.markdown()
			if i == 0 {
				text = heading + "\n" + text
			}
			if b.Len() > 0 {
				text = "\n" + text
			}
			more := utf8.RuneCountInString(text)
			if size+more > budget {
				left++
				continue
			}
			size += more
			b.WriteString(text)
		}
	}
	return b.String(), left
}

// markdown formats a trace as a list item: when, who, what, and the text below.
func (s Said) markdown() string {
	l := s.Left
	words := []string{l.Name}
	if !l.At.IsZero() {
		words = append(words, l.At.Format(time.DateOnly))
	}
	words = append(words, l.Source)
	if s.Times > 1 {
		words = append(words, fmt.Sprintf("%d times", s.Times))
	}
	item := "- " + strings.Join(words, " ")
	if l.Summary != "" {
		item += ": " + l.Summary
	}
	item += "\n"
	for _, t := range l.Trailers {
		item += "  " + t.Key + ": " + t.Value + "\n"
	}
	if l.Body != "" {
		item += "\n  " + strings.ReplaceAll(l.Body, "\n", "\n  ") + "\n"
	}
	return item
}
