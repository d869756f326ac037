package merge

import (
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
)

func merged(base, ours, theirs string) Result { return Options{}.Stores(base, ours, theirs) }

// checkLaws checks on three texts what must be true of every merge.
func checkLaws(t *testing.T, base, ours, theirs string) {
	t.Helper()
	for _, x := range []string{base, ours, theirs} {
		unchanged(t, "merge(x,x,x)", merged(x, x, x), x)
	}
	for _, x := range []string{ours, theirs} {
		if f := split(x, map[string]key{}); !f.marked && len(f.twins) > 0 {
			continue // differing lines about one issue are a question
		}
		unchanged(t, "merge(b,x,b)", merged(base, x, base), x)
		unchanged(t, "merge(b,b,x)", merged(base, base, x), x)
		unchanged(t, "merge(b,x,x)", merged(base, x, x), x)
	}
	r, turned := merged(base, ours, theirs), merged(base, theirs, ours)
	if a, b := conflictIDs(r), conflictIDs(turned); !slices.Equal(a, b) {
		t.Fatalf("conflicts %v, turned round %v", r.Conflicts, turned.Conflicts)
	}
	nothingLost(t, base, ours, theirs, r)
	nothingLost(t, base, theirs, ours, turned)
	if len(r.Conflicts) == 0 {
		// Merging the result again changes nothing.
		again := merged(theirs, r.Text, theirs)
		unchanged(t, "merge(t,merged,t)", again, r.Text)
	}
}

func unchanged(t *testing.T, law string, r Result, want string) {
	t.Helper()
	if r.Text != withoutTwins(want) || len(r.Conflicts) > 0 {
		t.Fatalf("%s\n got %q\nwant %q\nconflicts %v", law, r.Text, want, r.Conflicts)
	}
}

// withoutTwins is a store without lines that a later line repeats.
func withoutTwins(text string) string {
	f := split(text, map[string]key{})
	if len(f.united) == 0 {
		return text
	}
	out := f.mark
	for _, l := range f.lines {
		out += l.text + l.end
	}
	return out
}

func conflictIDs(r Result) (ids []string) {
	for _, c := range r.Conflicts {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

// nothingLost: a line that only ours has is in the result, and so is every issue that either
// side has and the other did not delete.
func nothingLost(t *testing.T, base, ours, theirs string, r Result) {
	t.Helper()
	m := Options{}.merger(base, ours, theirs)
	b, o, th := m.base, m.ours, m.theirs
	out := split(r.Text, map[string]key{})
	texts := map[string]bool{}
	for _, l := range out.lines {
		texts[bare(l)] = true
	}
	for _, l := range o.lines {
		if !b.has(l.name) && !th.has(l.name) && !texts[bare(l)] {
			t.Fatalf("lost the line %q\nof %q", l.text, r.Text)
		}
		deleted := b.has(l.name) && !th.has(l.name)
		// A repeated id may have another number in the result; its line is there.
		if !deleted && l.id != "" && !out.has(l.name) && !texts[bare(l)] && len(r.Conflicts) == 0 {
			t.Fatalf("lost the issue %s\nof %q", l.id, r.Text)
		}
	}
}

func (f *file) has(name string) bool { return f.line(name) != nil }

func TestLawsOfCases(t *testing.T) {
	for _, c := range mergeCases() {
		t.Run(c.name, func(t *testing.T) { checkLaws(t, c.base, c.ours, c.theirs) })
	}
}

// bare is a line without a carriage return at its end, which at the end of a text becomes part
// of the line ending when a line follows. Comments lose their numbers, which the merge may
// change.
func bare(l line) string {
	text := strings.TrimSuffix(l.text, "\r")
	r, err := beads.ParseRecord([]byte(text))
	if err != nil {
		return text
	}
	elements := slices.Clone(r.Elements(beads.Comments))
	for i, number := range r.CommentNumbers() {
		if c, err := beads.ParseRecord(elements[i]); err == nil && number != "" {
			if c, err = c.PutRaw(beads.ID, []byte("0")); err == nil {
				elements[i] = c.Bytes()
			}
		}
	}
	if r, err = r.PutElements(beads.Comments, elements); err != nil || len(elements) == 0 {
		return text
	}
	return string(r.Bytes())
}

func FuzzMerge(f *testing.F) {
	for _, c := range mergeCases() {
		f.Add(c.base, c.ours, c.theirs)
	}
	f.Add("\xef\xbb\xbf{\"id\":\"a\"}\r\n\n\n", "{\"id\":\"a\"}", "{\"id\":\"a\"}\n{\"id\":\"a\"}\n")
	f.Add("{}\n{\"id\":\"a\"}", "{\"id\":\"b\"}\n{}", "x\n\n{\"id\":\"a\"}") // a final blank line
	f.Add("0", "\r", "\n")                                                   // a final carriage return
	f.Add("{\"id\":\"e\"}\n", "{\"id\":\"e.1\",\"created_at\":\"1\"}\n{\"id\":\"e.1.1\",\"title\":\"e.1\"}\n",
		"{\"id\":\"e.1\",\"created_at\":\"2\"}\n{\"id\":\"e.1.1\",\"dependencies\":[{\"depends_on_id\":\"e.1\"}]}\n") // one id for two issues, with children
	f.Add("<<<<<<< ours\n=======\n", "=======\n=======\n", ">>>>>>> theirs\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) { checkLaws(t, base, ours, theirs) })
}

// FuzzNotes merges the notes of one issue.
func FuzzNotes(f *testing.F) {
	for _, c := range noteCases() {
		f.Add(c[0], c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		var lines [3]string
		for i, text := range []string{base, ours, theirs} {
			lines[i] = describe("x", i, text)
		}
		checkLaws(t, lines[0], lines[1], lines[2])
		sectionsKept(t, base, ours, theirs, merged(lines[0], lines[1], lines[2]))
	})
}

func noteCases() (cases [][3]string) {
	for _, c := range mergeCases() {
		var texts [3]string
		for i, store := range []string{c.base, c.ours, c.theirs} {
			first, _, _ := strings.Cut(store, "\n")
			texts[i] = notesOf(first)
		}
		cases = append(cases, texts)
	}
	return cases
}
