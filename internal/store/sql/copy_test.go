package sql

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
)

// version is a version of a store with the notes of its issues.
type version struct {
	store  string
	number int64
	notes  map[string]string
}

// with returns the next version, in which some issues have other notes.
func (v version) with(notes string, ids ...string) version {
	next := version{v.store, v.number + 1, maps.Clone(v.notes)}
	for _, id := range ids {
		next.notes[id] = notes
	}
	return next
}

func (v version) line(id string) string {
	return fmt.Sprintf(`{"id":%q,"notes":%q}`+"\n", id, v.notes[id])
}

// news returns the changes since a version that had other notes.
func (v version) news(old version) *news {
	n := &news{store: []byte(v.store), version: v.number, shape: hasBOM | isUnended, marks: map[int64][]string{v.number: {fmt.Sprint("mark", v.number)}}}
	for pos, id := range slices.Sorted(maps.Keys(v.notes)) {
		if text := v.line(id); v.notes[id] != old.notes[id] {
			n.lines = append(n.lines, line{row: row{pos: int64(pos), id: id, size: len(text)}, text: []byte(text)})
		}
	}
	return n
}

func (v version) text() string {
	text := byteOrderMark
	for _, id := range slices.Sorted(maps.Keys(v.notes)) {
		text += v.line(id)
	}
	return strings.TrimSuffix(text, "\n")
}

// TestKeep: the copy is the newest version that was kept, complete.
func TestKeep(t *testing.T) {
	s := Open(beads.Place{Path: "x"}, Options{Cache: t.TempDir()})
	read := func(h *held, old, now version) *held {
		t.Helper()
		next := h.with(now.news(old))
		var err error
		if next.snapshot, err = next.read(s.place); err != nil {
			t.Fatal(err)
		}
		return next
	}
	check := func(name string, want version) {
		t.Helper()
		h, sum := s.copied()
		text, err := h.text().bytes()
		if err != nil || h.Store != want.store || h.Version != want.number || h.Mark != fmt.Sprint("mark", want.number) || string(text) != want.text() {
			t.Errorf("%s: version %d of %s, want %d: %v\n%s", name, h.Version, h.Store, want.number, err, text)
		} else if got, err := h.read(s.place); err != nil || got.Sum().String() != sum {
			t.Errorf("%s: sum %s, %v", name, sum, err)
		}
	}
	files := func(want ...string) {
		t.Helper()
		entries, err := os.ReadDir(s.copies())
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("files %v, want %v, %v", names, want, err)
		}
	}
	none := version{"one", 0, map[string]string{}}
	one := none.with("first", "d-1", "d-2", "d-3", "d-4", "d-5")
	two := one.with("second", "d-1", "d-3")
	three := two.with("third", "d-3", "d-35", "d-5")
	four := three.with("fourth", "d-2")
	cold := read(nothing(), none, one)
	h1 := s.keep(cold)
	check("a base", one)
	h2 := s.keep(read(h1, one, two))
	h3 := s.keep(read(h2, two, three))
	check("base and recent", three)
	s.keep(cold)
	s.keep(h2)
	check("older versions", three)
	recent := readFile(t, s, recentName)
	h4 := s.keep(read(nothing(), none, four))
	check("another base", four)
	five := four.with("fifth", "d-4")
	s.keep(read(read(h3, three, four), four, five))
	check("changes of a base that was replaced", four)
	files(baseName, lockName)
	writeFile(t, s, recentName, recent)
	check("recent of a base that was replaced", four)
	five = four.with(strings.Repeat("long", mostRecent/4), "d-2")
	s.keep(read(h4, four, five))
	check("large changes", five)
	files(baseName, lockName)

	base := readFile(t, s, baseName)
	for at := range len(base) - len(five.text()) {
		damaged := slices.Clone(base)
		damaged[at] ^= 0x10
		writeFile(t, s, baseName, damaged)
		if h, _ := s.copied(); h.Version != -1 {
			t.Errorf("a base is used with byte %d damaged", at)
		}
	}
	damaged := slices.Clone(base)
	damaged[len(base)-10] ^= 0x10
	writeFile(t, s, baseName, damaged)
	s.keep(read(nothing(), none, five))
	check("the same version after damage", five)
	writeFile(t, s, baseName, base[:100])
	s.keep(read(nothing(), none, four))
	check("an older version after damage", four)
	other := version{"two", 0, map[string]string{}}.with("other", "d-1")
	s.keep(read(nothing(), none, other))
	check("another store", other)
}

func readFile(t *testing.T, s *Store, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.copies(), name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func writeFile(t *testing.T, s *Store, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.copies(), name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMerged: newer rows replace those of their issues, and the order is kept.
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

// TestText reads from each offset of a text whose parts are in memory and in a file.
func TestText(t *testing.T) {
	text, want := &text{file: strings.NewReader("abcdefgh")}, "XabefghYZc"
	text.add(row{text: []byte("X"), size: 1}, row{off: 0, size: 2}, row{off: 4, size: 3}, row{off: 7, size: 1}, row{text: []byte("YZ"), size: 2}, row{off: 2, size: 1})
	if len(text.parts) != 5 || text.size() != int64(len(want)) {
		t.Errorf("%d parts, %d bytes", len(text.parts), text.size())
	}
	for off := range len(want) + 1 {
		for size := range len(want) + 2 - off {
			b := make([]byte, size)
			n, err := text.ReadAt(b, int64(off))
			if end := min(off+size, len(want)); string(b[:n]) != want[off:end] || (err == nil) != (n == size) {
				t.Errorf("%d bytes at %d: %q, %v", size, off, b[:n], err)
			}
		}
	}
}
