package merge

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"stig/internal/beads"
)

// numbered is a comment with a number, and who has it under that number.
type numbered struct {
	number             string
	line, at           int // the index of its line's name, and its position there
	base, ours, theirs bool
	date, said         string
}

// renumber changes the numbers of comments whose number another comment has, on any issue, if
// the two come from different sides. bd has one table for all comments, and some versions
// reject a store that repeats a number. Repetitions within one side stay: check reports them.
func (m *merger) renumber(names []string, decided []decision) {
	of := map[string][]numbered{}
	for i, k := range names {
		if d := decided[i]; d.reason == "" && d.keep && !m.alike(k) {
			for _, n := range m.numbered(i, k, d.text) {
				of[n.number] = append(of[n.number], n)
			}
		}
	}
	again := map[int]map[int]bool{} // the comments that get another number, by line and position
	var twice []string
	for number, all := range of {
		mine := slices.ContainsFunc(all, func(n numbered) bool { return !n.theirs })
		yours := slices.ContainsFunc(all, func(n numbered) bool { return !n.ours })
		if len(all) > 1 && mine && yours {
			twice = append(twice, number)
		}
	}
	if len(twice) == 0 {
		return
	}
	taken, elsewhere := m.numbers(names, decided)
	for _, number := range twice {
		all := of[number]
		slices.SortFunc(all, numbered.compare)
		if !elsewhere[number] {
			all = all[1:] // the first keeps it
		}
		for _, n := range all {
			if again[n.line] == nil {
				again[n.line] = map[int]bool{}
			}
			again[n.line][n.at] = true
		}
	}
	for i := range names {
		if again[i] == nil {
			continue
		}
		record, err := beads.ParseRecord([]byte(decided[i].text))
		if err != nil {
			continue // it was read before
		}
		record = record.RenumberComments(func(at int, _ string) bool { return again[i][at] }, taken)
		decided[i].text = string(record.Bytes())
	}
}

// compare puts first the comment that others know by the number already, then the oldest.
func (n numbered) compare(o numbered) int {
	known := func(n numbered) int {
		switch {
		case n.base:
			return 0
		case n.ours && n.theirs:
			return 1
		}
		return 2
	}
	return cmp.Or(known(n)-known(o), strings.Compare(n.date, o.date), strings.Compare(n.said, o.said), n.at-o.at)
}

// numbered lists the numbered comments of a merged line.
func (m *merger) numbered(line int, name, text string) (list []numbered) {
	var has [3]map[string]int
	for v, f := range m.files() {
		has[v] = map[string]int{}
		if l := f.line(name); l != nil {
			for _, n := range numbersIn(l.text) {
				has[v][n.number+n.said]++
			}
		}
	}
	for _, n := range numbersIn(text) {
		n.line = line
		for v, there := range []*bool{&n.base, &n.ours, &n.theirs} {
			if *there = has[v][n.number+n.said] > 0; *there {
				has[v][n.number+n.said]--
			}
		}
		list = append(list, n)
	}
	return list
}

// numbersIn lists the numbered comments in an issue's line.
func numbersIn(text string) (list []numbered) {
	if !strings.Contains(text, `"`+string(beads.Comments)+`"`) {
		return nil
	}
	r, err := beads.ParseRecord([]byte(text))
	if err != nil {
		return nil
	}
	elements := r.Elements(beads.Comments)
	for i, number := range r.CommentNumbers() {
		if number == "" {
			continue
		}
		n := numbered{number: number, at: i}
		if c, err := beads.ParseRecord(elements[i]); err == nil {
			n.date = c.Text(beads.CreatedAt)
			n.said = "\x00" + r.Text(beads.ID) + "\x00" + c.Text("author") + "\x00" + strings.TrimSpace(c.Text("text"))
		}
		list = append(list, n)
	}
	return list
}

// numbers returns all numbers of comments in the merged store, and those in lines that are
// never renumbered: lines equal in all versions, and those in conflict.
func (m *merger) numbers(names []string, decided []decision) (taken, elsewhere map[string]bool) {
	taken, elsewhere = map[string]bool{}, map[string]bool{}
	for i, k := range names {
		texts, still := []string{decided[i].text}, m.alike(k)
		if decided[i].reason != "" {
			texts, still = nil, true
			for _, f := range m.files() {
				if l := f.line(k); l != nil {
					texts = append(texts, l.text)
				}
			}
		}
		for _, text := range texts {
			for _, n := range numbersIn(text) {
				taken[n.number] = true
				elsewhere[n.number] = elsewhere[n.number] || still
			}
		}
	}
	return taken, elsewhere
}

// outside returns the numbers of comments in a store outside its conflict markers.
func outside(text string) map[string]bool {
	taken := map[string]bool{}
	at := 0
	for _, b := range append(blocks(text, Origin{}), block{start: len(text), end: len(text)}) {
		for line := range strings.Lines(text[at:b.start]) {
			for _, n := range numbersIn(strings.TrimRight(line, "\r\n")) {
				taken[n.number] = true
			}
		}
		at = b.end
	}
	return taken
}

// renumbered gives comments of lines numbers that are not taken.
func renumbered(text string, taken map[string]bool) string {
	var b strings.Builder
	for whole := range strings.Lines(text) {
		line := strings.TrimRight(whole, "\r\n")
		if len(numbersIn(line)) > 0 {
			if r, err := beads.ParseRecord([]byte(line)); err == nil {
				before := maps.Clone(taken)
				r = r.RenumberComments(func(_ int, number string) bool { return before[number] }, taken)
				b.Write(r.Bytes())
				b.WriteString(whole[len(line):])
				continue
			}
		}
		b.WriteString(whole)
	}
	return b.String()
}
