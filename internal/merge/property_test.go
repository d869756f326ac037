package merge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/testkit/sample"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// item is an issue in these tests, so that the outcome of edits is known without merging.
type item struct {
	title, description, status, reason string
	labels                             map[string]bool
	edges, comments                    map[int]string // by the second of creation
	rows                               map[string]string
	sections                           []string // "name\nbody", in order
	updated                            int
}

type store map[string]*item

func (s store) clone() store {
	c := store{}
	for id, i := range s {
		j := *i
		j.labels, j.edges, j.comments, j.rows = maps.Clone(i.labels), maps.Clone(i.edges), maps.Clone(i.comments), maps.Clone(i.rows)
		j.sections = slices.Clone(i.sections)
		c[id] = &j
	}
	return c
}

func second(n int) string { return fmt.Sprintf("2026-11-01T%02d:%02d:%02dZ", n/3600, n/60%60, n%60) }

func (s store) text(t *testing.T) string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(s)) {
		b.Write(s[id].line(t, id))
		b.WriteByte('\n')
	}
	return b.String()
}

func (i *item) line(t *testing.T, id string) []byte {
	type made struct {
		On      string `json:"depends_on_id,omitempty"`
		Type    string `json:"type,omitempty"`
		Author  string `json:"author,omitempty"`
		Text    string `json:"text,omitempty"`
		Created string `json:"created_at"`
	}
	line := struct {
		ID          string   `json:"id"`
		Title       string   `json:"title"`
		Description string   `json:"description,omitempty"`
		Notes       string   `json:"notes,omitempty"`
		Status      string   `json:"status"`
		Created     string   `json:"created_at"`
		Updated     string   `json:"updated_at"`
		Reason      string   `json:"close_reason,omitempty"`
		Labels      []string `json:"labels,omitempty"`
		Edges       []made   `json:"dependencies,omitempty"`
		Comments    []made   `json:"comments,omitempty"`
	}{id, i.title, i.description, i.notes(), i.status, second(0), second(i.updated), i.reason, slices.Sorted(maps.Keys(i.labels)), nil, nil}
	for _, n := range slices.Sorted(maps.Keys(i.edges)) {
		line.Edges = append(line.Edges, made{On: i.edges[n], Type: "blocks", Created: second(n)})
	}
	for _, n := range slices.Sorted(maps.Keys(i.comments)) {
		line.Comments = append(line.Comments, made{Author: "ann", Text: i.comments[n], Created: second(n)})
	}
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (i *item) notes() string {
	var parts []string
	var rows []string
	for _, s := range signals.All() {
		if cells, ok := i.rows[s.String()]; ok {
			rows = append(rows, s.String()+" "+cells)
		}
	}
	if len(rows) > 0 {
		parts = append(parts, table(rows...))
	}
	parts = append(parts, "what everybody knows")
	for _, s := range i.sections {
		name, body, _ := strings.Cut(s, "\n")
		parts = append(parts, sectionText(name, body))
	}
	return strings.Join(parts, "\n\n")
}

// edit changes one aspect of one issue; n is unique.
type edit func(s store, id string, n int)

// aspects are independent edits.
func aspects() []edit {
	row := func(name string, values ...string) edit {
		return func(s store, id string, n int) {
			s[id].rows[name] = values[n%len(values)] + fmt.Sprintf(" 2026-11-%02d", 2+n%20)
		}
	}
	return []edit{
		func(s store, id string, n int) { s[id].title = fmt.Sprint("title ", n) },
		func(s store, id string, n int) { s[id].description = fmt.Sprint("a\nb ", n) },
		func(s store, id string, n int) { s[id].status, s[id].reason = "closed", fmt.Sprint("done ", n) },
		func(s store, id string, n int) { s[id].labels[fmt.Sprint("label-", n)] = true },
		func(s store, id string, n int) { delete(s[id].labels, "wet") },
		func(s store, id string, n int) { s[id].edges[n] = fmt.Sprint("p-", n) },
		func(s store, id string, n int) { delete(s[id].edges, 1) },
		func(s store, id string, n int) { s[id].comments[n] = fmt.Sprint("seen ", n) },
		row("cynefin", "clear", "complex"), row("surprise", "0.1", "0.5"), row("progress", "exploring", "blocked"),
		row("confidence", "prototype", "regressed"),
		func(s store, id string, n int) {
			for k, text := range s[id].sections {
				if strings.HasPrefix(text, "checkpoint-context\n") {
					s[id].sections[k] = fmt.Sprintf("checkpoint-context\n## State estimate (2026-11-09)\n\nnow %d", n)
				}
			}
		},
		func(s store, id string, n int) {
			s[id].sections = slices.DeleteFunc(s[id].sections, func(text string) bool { return strings.HasPrefix(text, "old\n") })
		},
		func(s store, id string, n int) {
			at := len(s[id].sections)
			for at > 0 && strings.HasPrefix(s[id].sections[at-1], "new-") && s[id].sections[at-1] > fmt.Sprintf("new-%05d\n", n) {
				at--
			}
			s[id].sections = slices.Insert(s[id].sections, at, fmt.Sprintf("new-%05d\nfound %d", n, n))
		},
		func(s store, id string, n int) {
			s[fmt.Sprintf("p-%05d", n)] = newItem(n)
		},
	}
}

func newItem(n int) *item {
	return &item{
		title: fmt.Sprint("made ", n), status: "open", updated: n,
		labels: map[string]bool{"wet": true, "loud": true}, edges: map[int]string{1: "p-1", 2: "p-2"},
		comments: map[int]string{}, rows: map[string]string{},
		sections: []string{"old\nnews", "checkpoint-context\n## State estimate (2026-11-01)\n\nbegun"},
	}
}

// TestIndependentEdits: merging independent edits equals making all of them, whichever side is
// ours.
func TestIndependentEdits(t *testing.T) {
	for seed := range uint64(sample.Rounds(50)) {
		r := rand.New(rand.NewPCG(seed, 1))
		base := store{}
		for n := range 4 {
			id := fmt.Sprintf("p-%c", 'a'+n)
			base[id] = newItem(n)
			if r.IntN(2) == 0 {
				base[id].rows = map[string]string{"cynefin": "complicated 2026-11-01", "progress": "not-started 2026-11-01"}
			}
		}
		sides := []store{base.clone(), base.clone()}
		both := base.clone()
		n := 100
		for _, id := range slices.Sorted(maps.Keys(base)) {
			for _, change := range aspects() {
				side := r.IntN(4)
				if side > 1 {
					continue // neither side
				}
				n++
				for _, s := range []store{sides[side], both} {
					change(s, id, n)
					s[id].updated = n
				}
			}
		}
		before, ours, theirs, want := base.text(t), sides[0].text(t), sides[1].text(t), both.text(t)
		for _, got := range []Result{merged(before, ours, theirs), merged(before, theirs, ours)} {
			if len(got.Conflicts) > 0 || !sameStores(t, got.Text, want) {
				t.Fatalf("seed %d\nbase\n%s\nours\n%s\ntheirs\n%s\ngot\n%s\nwant\n%s\nconflicts %v", seed, before, ours, theirs, got.Text, want, got.Conflicts)
			}
		}
		if got := resolved(t, byLines(t, before, ours, theirs), Origin{before, ours, theirs}); !sameStores(t, got, want) {
			t.Fatalf("seed %d, merged by lines\nbase\n%s\nours\n%s\ntheirs\n%s\ngot\n%s\nwant\n%s", seed, before, ours, theirs, got, want)
		}
		checkLaws(t, before, ours, theirs)
	}
}

// byLines merges as git does without a driver.
func byLines(t *testing.T, base, ours, theirs string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"base": base, "ours": ours, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	merge := exec.Command("git", "merge-file", "--stdout", "ours", "base", "theirs")
	merge.Dir = dir
	text, err := merge.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || failed.ExitCode() > 127) { // otherwise it is the number of conflicts
		t.Fatal(err)
	}
	return string(text)
}

// resolved is a store after everything that needs no answer was resolved.
func resolved(t *testing.T, text string, from Origin) string {
	t.Helper()
	for _, c := range Open(text, from) {
		done, err := Resolve(text, from, c.ID, nil)
		if err != nil || len(done.Open) > 0 {
			t.Fatalf("%s: %v, %v\n%s", c.ID, err, done.Open, text)
		}
		text = text[:done.Start] + done.Text + text[done.End:]
	}
	return text
}

// sameStores compares the content of keys line by line: a key new to a line may be elsewhere in
// it.
func sameStores(t *testing.T, a, b string) bool {
	t.Helper()
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	return slices.EqualFunc(x, y, func(a, b string) bool { return beads.Meaning([]byte(a)) == beads.Meaning([]byte(b)) })
}

// describe is a line with these notes.
func describe(id string, hour int, text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return is(id, hour, `"notes":`+string(raw))
}

func notesOf(line string) string {
	r, err := beads.ParseRecord([]byte(line))
	if err != nil {
		return ""
	}
	return r.Text(beads.Notes)
}

// sectionsKept: without a conflict, every section that a side has and the other did not remove
// is there by name, and one that only one side changed is as in that side.
func sectionsKept(t *testing.T, base, ours, theirs string, r Result) {
	t.Helper()
	if len(r.Conflicts) > 0 {
		return
	}
	// What does not survive JSON encoding was not merged.
	text := func(s string) map[string][]string {
		return bodies(notes.Parse(notesOf(strings.TrimSuffix(describe("x", 0, s), "\n"))))
	}
	b, o, th := text(base), text(ours), text(theirs)
	got := bodies(notes.Parse(notesOf(strings.TrimSuffix(r.Text, "\n"))))
	for _, side := range []struct{ mine, other map[string][]string }{{o, th}, {th, o}} {
		for name, list := range side.mine {
			removed := len(b[name]) > 0 && len(side.other[name]) == 0
			if !removed && len(got[name]) == 0 {
				t.Fatalf("lost the section %s in %q", name, r.Text)
			}
			for _, one := range []string{signals.EstimateSection, signals.EvidenceSection} {
				if name == one && len(list) == 1 && !slices.Equal(b[name], list) && !hasWords(got, list[0]) {
					t.Fatalf("lost %q of %s in %q", list[0], name, r.Text)
				}
			}
			alone := slices.Equal(b[name], side.other[name]) && !slices.Equal(b[name], list)
			if alone && len(list) == 1 && name != signals.Section && visible.OneLine(strings.Join(got[name], "\n")) != visible.OneLine(list[0]) {
				t.Fatalf("the section %s is %q, want %q", name, got[name], list)
			}
		}
	}
}

// hasWords reports whether a section contains this text.
func hasWords(sections map[string][]string, text string) bool {
	for _, list := range sections {
		if strings.Contains(visible.OneLine(strings.Join(list, "\n")), visible.OneLine(text)) {
			return true
		}
	}
	return false
}
