package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/beads"
)

// stateAt returns the news of a version that set the notes of some of 9 issues to text.
func stateAt(version int64, text string, issues ...int) *news {
	n := &news{store: []byte("one"), version: version, shape: hasBOM | isUnended, marks: map[int64][]string{}}
	for v := range version + 1 {
		n.marks[v] = []string{fmt.Sprint("mark", v)}
	}
	for _, i := range issues {
		id := fmt.Sprint("d-", i)
		line := line{row: row{pos: int64(i), id: id}, text: fmt.Appendf(nil, `{"id":%q,"title":"a","notes":%q}`+"\n", id, text)}
		line.size = len(line.text)
		n.lines = append(n.lines, line)
	}
	return n
}

// TestKeep: the copy is what was kept last, unless that is older.
func TestKeep(t *testing.T) {
	s := Open(beads.Place{Path: "x"}, Options{Cache: t.TempDir()})
	after := func(h *held, n *news) *held {
		t.Helper()
		next := h.with(n)
		var err error
		if next.snapshot, err = next.read(s.place); err != nil {
			t.Fatal(err)
		}
		return next
	}
	check := func(name string, want *held) {
		t.Helper()
		got, sum := s.copied()
		text, err := got.text().bytes()
		wanted, _ := want.text().bytes()
		if err != nil || got.Version != want.Version || got.Mark != want.Mark || string(text) != string(wanted) || sum != want.snapshot.Sum().String() {
			t.Errorf("%s: version %d, sum %s, want %d, %s; %v\n%s", name, got.Version, sum, want.Version, want.snapshot.Sum(), err, text)
		}
	}
	all := []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	cold := after(nothing(), stateAt(1, "first", all...))
	first := s.keep(cold)
	check("the first", first)
	second := s.keep(after(first, stateAt(2, "second", 1, 5, 9)))
	check("one with changes", second)
	third := s.keep(after(second, stateAt(3, "third", 5, 6)))
	check("one with more changes", third)
	s.keep(cold)
	s.keep(second)
	check("older ones", third)
	fourth := s.keep(after(nothing(), stateAt(4, "fourth", all...)))
	check("a new base", fourth)
	s.keep(after(third, stateAt(5, "fifth", 1)))
	check("changes of a base that was replaced", fourth)
	if entries, err := os.ReadDir(s.copies()); err != nil || len(entries) != 2 { // base and lock
		t.Errorf("%v, %v", entries, err)
	}
	fifth := s.keep(after(fourth, stateAt(5, strings.Repeat("long", mostRecent/4), 2)))
	check("changes of a new base, too large for recent", fifth)
	path := filepath.Join(s.copies(), baseName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:headOff+10], 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.copied(); got.Version != -1 {
		t.Error("half a base is a copy")
	}
	again := after(nothing(), stateAt(5, "again", all...))
	s.keep(again)
	check("one of the same version after damage", again)
	other := stateAt(1, "other", all...)
	other.store = []byte("two")
	another := after(nothing(), other)
	s.keep(another)
	check("an older version of another store", another)
}

// TestMerged: newer rows replace those of their issues and stand in order.
func TestMerged(t *testing.T) {
	rows := func(ids ...string) (list []row) {
		for _, id := range ids {
			list = append(list, row{pos: int64(id[0]), id: id[1:]})
		}
		return list
	}
	for _, test := range []struct{ old, newer, want []row }{
		{nil, rows("1a"), rows("1a")},
		{rows("1a", "1c", "2"), nil, rows("1a", "1c", "2")},
		{rows("1a", "1c", "2", "3d"), rows("1a", "1b", "3e"), rows("1a", "1b", "1c", "2", "3d", "3e")},
		{rows("1a", "2b", "3c"), rows("1c", "4a"), rows("1c", "2b", "4a")}, // moved
	} {
		if got := merged(test.old, test.newer); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%v and %v make %v", test.old, test.newer, got)
		}
	}
}
