package merge

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/testkit/sample"
	"stig/notes"
)

// fact is something that a clone did: it created the issue from, or recorded there that it
// depends on the issue to, or mentioned that in a text. Issues are distinguished by title,
// creator and second, whatever their ids.
type fact struct{ what, from, to string }

// commit is a version of the store in git.
type commit struct {
	text    string
	parents []*commit
	facts   map[fact]bool
}

// clones generates stores with a common origin, and merges them as git does.
type clones struct {
	*testing.T
	r    *rand.Rand
	seed uint64
	made map[string]bool
	n    int
}

// next is a unique number.
func (c *clones) next() int {
	c.n++
	return c.n
}

type testRow struct {
	Issue   string `json:"issue_id"`
	On      string `json:"depends_on_id"`
	Type    string `json:"type"`
	Created string `json:"created_at"`
}

type testComment struct {
	Issue   string `json:"issue_id"`
	Author  string `json:"author"`
	Text    string `json:"text"`
	Created string `json:"created_at"`
}

type testIssue struct {
	ID          string        `json:"id"`
	Title       string        `json:"title"`
	Description string        `json:"description,omitempty"`
	Notes       string        `json:"notes,omitempty"`
	Created     string        `json:"created_at"`
	By          string        `json:"created_by,omitempty"`
	Rows        []testRow     `json:"dependencies,omitempty"`
	Comments    []testComment `json:"comments,omitempty"`
}

// who distinguishes an issue from all others.
func (i testIssue) who() string { return i.Title + "|" + i.By + "|" + i.Created }

func (c *clones) read(text string) (list []testIssue) {
	c.Helper()
	for line := range strings.Lines(text) {
		var i testIssue
		if err := json.Unmarshal([]byte(line), &i); err != nil {
			c.Fatalf("seed %d: %v in %s", c.seed, err, text)
		}
		list = append(list, i)
	}
	return list
}

func (c *clones) write(list []testIssue) string {
	slices.SortFunc(list, func(a, b testIssue) int { return strings.Compare(a.ID, b.ID) })
	var text strings.Builder
	for _, i := range list {
		line, err := json.Marshal(i)
		if err != nil {
			c.Fatal(err)
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	return text.String()
}

// work adds a few issues, rows and comments to a store.
func (c *clones) work(on *commit, steps int) *commit {
	list := c.read(on.text)
	facts := maps.Clone(on.facts)
	for range steps {
		at, to := c.r.IntN(len(list)), c.r.IntN(len(list))
		from, target := &list[at], list[to]
		switch c.r.IntN(4) {
		case 0, 1:
			made := c.child(list, list[at], target)
			list = append(list, made)
			facts[fact{"made", made.who(), ""}] = true
			facts[fact{"row", made.who(), from.who()}] = true
			facts[fact{"text", made.who(), target.who()}] = true
		case 2:
			if !slices.ContainsFunc(from.Rows, func(r testRow) bool { return r.On == target.ID }) {
				from.Rows = append(from.Rows, testRow{from.ID, target.ID, "related", second(c.next())})
			}
			facts[fact{"row", from.who(), target.who()}] = true
		case 3:
			n := c.next()
			from.Comments = append(from.Comments, testComment{from.ID, "ann", fmt.Sprintf("%d: see %s.", n, target.ID), second(n)})
			facts[fact{"comment", from.who(), target.who()}] = true
		}
	}
	return &commit{c.write(list), []*commit{on}, facts}
}

// child creates the next child of an issue, with a text that mentions another one.
func (c *clones) child(list []testIssue, parent, named testIssue) testIssue {
	n := 0
	for _, i := range list {
		if beads.ParentID(i.ID) == parent.ID && !beads.IsRenamed(i.ID) {
			n++
		}
	}
	i := testIssue{
		ID:          fmt.Sprintf("%s.%d", parent.ID, n+1),
		Description: "after " + named.ID + ", not " + named.ID + "0",
		Notes:       table("surprise 0.1 2026-11-01") + "\n\n" + sectionText("propagated-from "+named.ID+" 2026-11-02", "found"),
	}
	i.Rows = []testRow{{i.ID, parent.ID, "parent-child", second(c.next())}}
	for {
		i.Title = fmt.Sprint("title ", c.r.IntN(40))
		i.By = []string{"ann", "ben", ""}[c.r.IntN(3)]
		i.Created = second(c.r.IntN(4))
		if !c.made[i.who()] {
			break
		}
	}
	c.made[i.who()] = true
	return i
}

// merge merges as git does: several bases are merged first.
func (c *clones) merge(ours, theirs *commit) *commit {
	c.Helper()
	bases := nearest(ours, theirs)
	base := bases[0]
	for _, other := range bases[1:] {
		base = c.merge(base, other)
	}
	facts := maps.Clone(ours.facts)
	maps.Copy(facts, theirs.facts)
	got, turned := merged(base.text, ours.text, theirs.text), merged(base.text, theirs.text, ours.text)
	failed := func(what string) {
		c.Helper()
		c.Fatalf("seed %d: %s\nbase\n%s\nours\n%s\ntheirs\n%s\ngot\n%s\nturned round\n%s\nconflicts %v", c.seed, what, base.text, ours.text, theirs.text, got.Text, turned.Text, got.Conflicts)
	}
	if len(got.Conflicts) > 0 || got.Text != turned.Text && c.sorted(got.Text) != c.sorted(turned.Text) {
		failed("conflicts, or it matters which side is ours")
	}
	if again := merged(theirs.text, got.Text, theirs.text); again.Text != got.Text {
		failed("merged again it is\n" + again.Text)
	}
	m := &commit{got.Text, []*commit{ours, theirs}, facts}
	if what := c.wrong(m); what != "" {
		failed(what)
	}
	return m
}

// sorted is a store with the rows and comments of each issue sorted, since their order is not
// checked here.
func (c *clones) sorted(text string) string {
	list := c.read(text)
	for _, i := range list {
		slices.SortFunc(i.Rows, func(a, b testRow) int { return strings.Compare(a.On, b.On) })
		slices.SortFunc(i.Comments, func(a, b testComment) int { return strings.Compare(a.Text, b.Text) })
	}
	return c.write(list)
}

// nearest are the best common ancestors of two commits.
func nearest(a, b *commit) (best []*commit) {
	common := slices.DeleteFunc(ancestors(a), func(x *commit) bool { return !slices.Contains(ancestors(b), x) })
	for _, x := range common {
		if !slices.ContainsFunc(common, func(y *commit) bool { return y != x && slices.Contains(ancestors(y), x) }) {
			best = append(best, x)
		}
	}
	return best
}

// ancestors are a commit and all its ancestors, each once.
func ancestors(c *commit) []*commit {
	list := []*commit{c}
	for i := 0; i < len(list); i++ {
		for _, p := range list[i].parents {
			if !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// wrong describes how a store differs from what the clones wrote.
func (c *clones) wrong(m *commit) string {
	list := c.read(m.text)
	byID, byWho := map[string]testIssue{}, map[string]testIssue{}
	var want, got []string
	for _, i := range list {
		byID[i.ID], byWho[i.who()] = i, i
		got = append(got, i.who())
	}
	for f := range m.facts {
		if f.what == "made" {
			want = append(want, f.from)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(byID) != len(list) {
		return fmt.Sprintf("issues are\n%q, want\n%q", got, want)
	}
	for f := range m.facts {
		from, to := byWho[f.from], byWho[f.to]
		is := true
		switch f.what {
		case "row":
			is = slices.ContainsFunc(from.Rows, func(r testRow) bool { return r.On == to.ID })
		case "text":
			_, told := notes.Parse(from.Notes).Live("propagated-from " + to.ID + " 2026-11-02")
			is = told && from.Description == "after "+to.ID+", not "+strings.TrimPrefix(from.Description, "after "+to.ID+", not ")
		case "comment":
			is = slices.ContainsFunc(from.Comments, func(c testComment) bool { return strings.HasSuffix(c.Text, ": see "+to.ID+".") })
		}
		if !is {
			return fmt.Sprintf("%v is not so: it is %+v, and %s", f, from, to.ID)
		}
	}
	for _, i := range list {
		for _, r := range i.Rows {
			if _, there := byID[r.On]; !there || r.Issue != i.ID {
				return fmt.Sprintf("%s has the row %v", i.ID, r)
			}
		}
		if len(notes.Parse(i.Notes).Malformed()) > 0 || beads.IsRenamed(i.ID) && !strings.Contains(i.Notes, beads.OldIDMark) {
			return i.ID + " has the notes " + i.Notes
		}
	}
	return ""
}

// TestClones: two or three clones create issues under the same epics, mention them and merge in
// any order: every issue is in the result, references to it still lead to it, and clones that
// merge everything have the same issues under the same ids.
func TestClones(t *testing.T) {
	renamed := 0
	for seed := range uint64(sample.Rounds(125)) {
		c := &clones{T: t, r: rand.New(rand.NewPCG(seed, 3)), seed: seed, made: map[string]bool{}}
		first := &commit{facts: map[fact]bool{}}
		var list []testIssue
		for _, id := range []string{"p-a", "p-b"} {
			list = append(list, testIssue{ID: id, Title: id, Created: second(0)})
			first.facts[fact{"made", list[len(list)-1].who(), ""}] = true
		}
		first.text = c.write(list)
		first = c.work(first, c.r.IntN(4))
		heads := make([]*commit, 2+c.r.IntN(2))
		for i := range heads {
			heads[i] = c.work(first, 1+c.r.IntN(6))
		}
		for range c.r.IntN(6) {
			into, from := c.r.IntN(len(heads)), c.r.IntN(len(heads))
			if into == from {
				heads[into] = c.work(heads[into], 1+c.r.IntN(3))
			} else {
				heads[into] = c.merge(heads[into], heads[from])
			}
		}
		var ends []string
		for range 2 {
			order := c.r.Perm(len(heads))
			all := heads[order[0]]
			for _, i := range order[1:] {
				all = c.merge(all, heads[i])
			}
			renamed += strings.Count(all.text, beads.OldIDMark)
			ends = append(ends, c.ids(all))
		}
		if ends[0] != ends[1] {
			t.Fatalf("seed %d: ids are\n%s in one order, and in the other\n%s", seed, ends[0], ends[1])
		}
	}
	if renamed < sample.Rounds(125) {
		t.Fatalf("only %d issues got another id: the test tests little", renamed)
	}
}

// ids lists the issues of a store with their ids and the former ids in their notes.
func (c *clones) ids(m *commit) string {
	var text strings.Builder
	for _, i := range c.read(m.text) {
		fmt.Fprintln(&text, i.ID, i.who(), i.Notes)
	}
	return text.String()
}

// made is a line of an issue with a title and its creation time.
func made(id, title string, at int, members ...string) string {
	line := fmt.Sprintf(`{"id":%q,"title":%q,"created_at":%q`, id, title, second(at))
	for _, m := range members {
		line += "," + m
	}
	return line + "}\n"
}

// TestOneID: the outcome for two issues with one id.
func TestOneID(t *testing.T) {
	wasE1 := `"notes":"Was e.1 until branches were merged."`
	x, y := made("e.1", "x", 1), made("e.1", "y", 2)
	yMoved := made("e.gvm9di", "y", 2)
	births := func(_ string, as beads.Origin) (string, bool) {
		return map[string]string{"y edited": "y", "x": "x", "y": "y"}[as.Title], true
	}
	tests := []struct {
		name               string
		births             Births
		base, ours, theirs string
		want               string // ids, titles and more of the result
	}{
		{"made in one second", nil, "", made("e.1", "a", 1), made("e.1", "b", 1), "e.1 a, e.xjp3kt b"},
		{"made as one", nil, "", x, made("e.1", "x", 1, `"labels":["l"]`), "e.1 x"},
		{"made as one, and edited", births, "", y, made("e.1", "y edited", 2, `"updated_at":"2026-11-05T00:00:00Z"`), "e.1 y edited"},
		{"not known to be made as one", nil, "", y, made("e.1", "y edited", 2), "e.1 y, e.ct7are y edited"},
		{"known to be another since base", births, x, x + made("e.2", "z", 9), made("e.1", "y edited", 1), "e.1 y edited, e.2 z"},
		{"renamed before, by one side", nil, y, x + yMoved, y + made("e.2", "z", 9), "e.1 x, e.2 z, e.gvm9di y"},
		{"renamed before, and edited under the old id", nil, y, x + yMoved, made("e.1", "y edited", 2), "e.1 x, e.gvm9di y edited"},
		{"renamed before, and the other one deleted", nil, y, strings.TrimSuffix(yMoved, "}\n") + "," + wasE1 + "}\n", y + made("e.2", "z", 9), "e.2 z, e.gvm9di y"},
		{"replaced by one side", nil, y, x, y + made("e.2", "z", 9), "e.1 x, e.2 z"},
		{"replaced by one side, changed by the other", nil, y, x, made("e.1", "y", 2, `"labels":["l"]`), "e.1 x, <, e.gvm9di y, e.gvm9di y"},
		{"deleted by one side", nil, x, "", x + made("e.2", "z", 9), "e.2 z"},
		{"below a thousand others", nil, "", made("e"+strings.Repeat(".1", 1000), "x", 1), made("e"+strings.Repeat(".1", 1000), "y", 2), "e" + strings.Repeat(".1", 1000) + " x, e" + strings.Repeat(".1", 999) + ".gvm9di y"},
		{"no time", nil, "", `{"id":"e.1","title":"a"}` + "\n", `{"id":"e.1","title":"a","labels":["l"]}` + "\n", "e.1 a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, sides := range [][2]string{{test.ours, test.theirs}, {test.theirs, test.ours}} {
				r := Options{test.births}.Stores(test.base, sides[0], sides[1])
				if got := issuesOf(r.Text); got != test.want {
					t.Errorf("got %s\nwant %s\n%s", got, test.want, r.Text)
				}
			}
		})
	}
}

// issuesOf lists the ids and titles of a store; for a conflict "<" and each line, including
// that of base.
func issuesOf(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		r, err := beads.ParseRecord([]byte(strings.TrimSpace(line)))
		switch {
		case err == nil:
			list = append(list, r.Text(beads.ID)+" "+r.Text(beads.Title))
		case strings.HasPrefix(line, "<"):
			list = append(list, "<")
		}
	}
	return strings.Join(list, ", ")
}

// TestReferences: references from one side follow its issue, as whole words, and those from
// base stay.
func TestReferences(t *testing.T) {
	is := func(text string) string { return made("d", "d", 0, `"description":`+text) }
	base := is(`"see e.1"`)
	ours := base + made("e.1", "x", 1)
	theirs := is(`"see e.1\ne.1, (e.1) and e.1: not e.1.2, e.10, ee.1, é e.1.\r\nWas e.1 until branches were merged."`) +
		made("e.1", "y", 2, `"notes":"text\r\n\r\n<!-- propagated-from e.1 2026-11-02 -->\r\nx\r\n<!-- /propagated-from e.1 2026-11-02 -->"`,
			`"parent":"e","dependencies":[{"issue_id":"e.1", "depends_on_id":"e.1.2","type":"blocks"}],"comments":[{"issue_id":"e.1","text":"e.1"}, 7]`) +
		made("e.1.2", "z", 3, `"parent":"e.1","notes":7`)
	want := is(`"see e.1\ne.gvm9di, (e.gvm9di) and e.gvm9di: not e.gvm9di.2, e.10, ee.1, é e.gvm9di.\r\nWas e.1 until branches were merged."`) +
		made("e.1", "x", 1) +
		made("e.gvm9di", "y", 2, `"notes":"Was e.1 until branches were merged.\r\n\r\ntext\r\n\r\n<!-- propagated-from e.gvm9di 2026-11-02 -->\r\nx\r\n<!-- /propagated-from e.gvm9di 2026-11-02 -->"`,
			`"parent":"e","dependencies":[{"issue_id":"e.gvm9di", "depends_on_id":"e.gvm9di.2","type":"blocks"}],"comments":[{"issue_id":"e.gvm9di","text":"e.gvm9di"}, 7]`) +
		made("e.gvm9di.2", "z", 3, `"parent":"e.gvm9di","notes":7`)
	r := Options{}.Stores(base, ours, theirs)
	if got := strings.ReplaceAll(r.Text, "\u003c", "<"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(r.Warnings) != 1 || r.Warnings[0].ID != "e.gvm9di" {
		t.Errorf("warnings %v", r.Warnings)
	}
}
