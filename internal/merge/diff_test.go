package merge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/merge"
	"stig/internal/store/jsonl"
)

// diffCase is one comparison; the cases are also fuzz seeds. The words of want are "- ID KIND
// NAME", "~ …" and "+ …" for vanished, changed and added.
type diffCase struct {
	name, before, after string
	want                []string
}

func diffCases() []diffCase {
	noted := func(text string) string {
		return `{"id":"a","notes":"` + strings.ReplaceAll(text, "\n", `\n`) + `"}`
	}
	table := func(rows string) string {
		return "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n" + rows + "<!-- /stigmergic-signals -->"
	}
	return []diffCase{
		{"nothing", `{"id":"a","title":"x"}`, `{"id":"a","title":"x"}`, nil},
		{"spelling", `{"id":"a","title":"x<y","n":1.0,"empty":null}`, `{ "title":"x\u003cy", "n":1.0, "id":"a","labels":[]}`, nil},
		{"only updated_at", `{"id":"a","updated_at":"2026-11-01T00:00:00Z"}`, `{"id":"a","updated_at":"2026-11-02T00:00:00Z"}`, nil},
		{"issues", "{\"id\":\"a\"}\n{\"id\":\"b\"}", "{\"id\":\"b\"}\n{\"id\":\"c\"}", []string{"- a issue a", "+ c issue "}},
		{"a line that cannot be read", "{\"id\":\"a\"}\n{\"id\":\"b\"}", "{\"id\":\"a\",\n{\"id\":\"b\"}", []string{"- a issue a"}},
		{"of a repeated id the last counts", "{\"id\":\"a\",\"k\":1}\n{\"id\":\"a\",\"k\":2}", `{"id":"a","k":2}`, nil},
		{"keys", `{"id":"a","k":1,"l":[1],"m":"x"}`, `{"id":"a","l":[2],"m":"","n":true}`, []string{"- a key k", "- a key m", "~ a key l", "+ a key n"}},
		{"all criteria", `{"id":"a","acceptance_criteria":"x\ny"}`, `{"id":"a"}`, []string{"- a criteria acceptance_criteria"}},
		{"one criterion", `{"id":"a","acceptance_criteria":"x\ny\nz"}`, `{"id":"a","acceptance_criteria":"z\nx"}`, []string{"- a criteria acceptance_criteria"}},
		{"a new criterion", `{"id":"a","acceptance_criteria":"x"}`, `{"id":"a","acceptance_criteria":"x\ny"}`, []string{"+ a criteria y"}},
		{"criteria moved", `{"id":"a","description":"AC: x"}`, `{"id":"a","acceptance_criteria":"x"}`, []string{"- a key description"}},
		{"criteria in a description", `{"id":"a","description":"b\n\nAC: x"}`, `{"id":"a","description":"b"}`, []string{"- a criteria acceptance_criteria", "~ a key description"}},
		{"other criteria", `{"id":"a","acceptance_criteria":"x\ny"}`, `{"id":"a","acceptance_criteria":"x\nz"}`, []string{"~ a criteria acceptance_criteria"}},
		{"edges", `{"id":"a","dependencies":[{"depends_on_id":"b","type":"blocks"},{"depends_on_id":"c","type":"blocks"}]}`,
			`{"id":"a","dependencies":[{"depends_on_id":"c","type":"related"},{"depends_on_id":"d","type":"blocks"}]}`,
			[]string{"- a edge b", "~ a edge c", "+ a edge d"}},
		{"labels", `{"id":"a","labels":["x","y"]}`, `{"id":"a","labels":["z","y"]}`, []string{"- a label x", "+ a label z"}},
		{"comments, whose ids do not count", `{"id":"a","comments":[{"id":1,"author":"m","text":"u"},{"id":2,"author":"m","text":"v"}]}`,
			`{"id":"a","comments":[{"id":"x7","author":"m","text":"v\n"},{"id":9,"author":"n","text":"v"}]}`, []string{"- a comment m", "+ a comment n"}},
		{"notes wiped", noted("text\n\n" + table("| surprise | 0.1 | 2026-11-01 |\n")), `{"id":"a"}`, []string{"- a section stigmergic-signals", "- a key notes"}},
		{"rows", noted(table("| cynefin | clear | 2026-11-01 |\n| surprise | 0.1 | 2026-11-01 |\n| progress | blocked | 2026-11-01 |\n")),
			noted(table("| escalation | none | — |\n| surprise | 0.2 | 2026-11-02 |\n| progress | blocked | 2026-11-02 |\n")),
			[]string{"- a signal cynefin", "~ a signal surprise", "~ a signal progress updated", "+ a signal escalation"}},
		{"of two tables one", noted(table("| surprise | 0.1 | x |\n") + "\n\n" + table("| surprise | 0.2 | x |\n")), noted(table("| surprise | 0.2 | x |\n")), []string{"- a section stigmergic-signals"}},
		{"sections", noted("<!-- x -->\n1\n<!-- /x -->\n\n<!-- y -->\n2\n<!-- /y -->"), noted("<!-- y -->\n3\n<!-- /y -->\n\n<!-- z -->\n<!-- /z -->"),
			[]string{"- a section x", "~ a section y", "+ a section z"}},
		{"a section that lost its closer", noted("<!-- x -->\n1\n<!-- /x -->"), noted("<!-- x -->\n1"), []string{"- a section x", "+ a key notes"}},
		{"another issue under its id", `{"id":"e.1","title":"x","created_at":"2026-11-01T00:00:00Z"}`, `{"id":"e.1","title":"y","created_at":"2026-11-01T00:00:01Z"}`, []string{"- e.1 issue e.1", "+ e.1 issue y"}},
		{"of another creator", `{"id":"a","created_at":"2026-11-01T00:00:00Z","created_by":"m"}`, `{"id":"a","created_at":"2026-11-01T00:00:00Z","created_by":"n"}`, []string{"- a issue a", "+ a issue "}},
		{"an edited title", `{"id":"a","title":"x","created_at":"2026-11-01T00:00:00Z"}`, `{"id":"a","title":"y","created_at":"2026-11-01T01:00:00.5+01:00"}`, []string{"~ a key title", "~ a key created_at"}},
		{"a time rounded by another program", `{"id":"a","created_at":"2026-11-01T00:00:00.7Z"}`, `{"id":"a","created_at":"2026-11-01T00:00:01Z"}`, []string{"~ a key created_at"}},
		{"no time of one", `{"id":"a","title":"x"}`, `{"id":"a","title":"y","created_at":"2026-11-01T00:00:00Z"}`, []string{"~ a key title", "+ a key created_at"}},
		{"an issue and its child that a merge renamed",
			`{"id":"e.1","title":"x","created_at":"2026-11-01T00:00:02Z"}` + "\n" + `{"id":"e.1.1","title":"z","created_at":"2026-11-01T00:00:03Z"}` + "\n" + `{"id":"f","notes":"as e.1 has it","comments":[{"text":"see e.1.1."}],"dependencies":[{"depends_on_id":"e.1","type":"blocks"}]}`,
			`{"id":"e.1","title":"y","created_at":"2026-11-01T00:00:01Z"}` + "\n" + `{"id":"e.aroi85","title":"x","created_at":"2026-11-01T00:00:02Z"}` + "\n" + `{"id":"e.aroi85.1","title":"z","created_at":"2026-11-01T00:00:03Z"}` + "\n" + `{"id":"f","notes":"as e.aroi85 has it","comments":[{"text":"see e.aroi85.1."}],"dependencies":[{"depends_on_id":"e.aroi85","type":"blocks"}]}`,
			[]string{"~ e.aroi85 key id", "~ e.aroi85.1 key id", "+ e.1 issue y"}},
		{"an issue that a merge renamed, beside one made in the same second",
			`{"id":"e.1","title":"x","created_at":"2026-11-01T00:00:02Z"}`,
			`{"id":"e.1","title":"a","created_at":"2026-11-01T00:00:02Z"}` + "\n" + `{"id":"e.aroi85","title":"x","created_at":"2026-11-01T00:00:02Z"}`,
			[]string{"~ e.aroi85 key id", "+ e.1 issue a"}},
		{"memories", `{"_type":"memory","key":"k","value":"v"}` + "\n" + `{"_type":"memory","key":"l","value":"v"}` + "\n" + `{"_type":"memory","key":"m","value":"v"}`,
			`{"_type":"memory","key":"n","value":"v"}` + "\n" + `{"value":"w","key":"l","_type":"memory"}` + "\n" + `{"value":"v", "key":"m","_type":"memory"}`, []string{"-  memory k", "~  memory l", "+  memory n"}},
		{"other lines", `{"_schema":"s/1","at":1}` + "\n" + `{"_type":"x","n":1}` + "\n" + `{"_type":"x","n":1}` + "\n" + `{"_type":"event","id":"e"}`, `{"_schema":"s/1","at":2}` + "\n" + `{"n":1,"_type":"x"}`,
			[]string{"-  line x", "-  line event e", "~  line the header"}},
		{"of a repeated memory the last counts", `{"_type":"memory","key":"k","value":"v"}` + "\n" + `{"_type":"memory","key":"k","value":"w"}`, `{"_type":"memory","key":"k","value":"w"}`, nil},
		{"moved text", noted("<!-- x -->\n1\n<!-- /x -->\n\ntext"), noted("text\n\n\n<!-- x -->\n1\n<!-- /x -->"), nil},
	}
}

func TestStores(t *testing.T) {
	for _, c := range diffCases() {
		t.Run(c.name, func(t *testing.T) {
			if got := compare(t, c.before, c.after); !reflect.DeepEqual(words(got), c.want) {
				t.Errorf("got  %q\nwant %q", words(got), c.want)
			}
		})
	}
}

func compare(t *testing.T, before, after string) merge.Diff {
	t.Helper()
	d, err := merge.Stores(write(t, before), write(t, after))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func write(t *testing.T, text string) *beads.Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "issues.jsonl")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func words(d merge.Diff) (list []string) {
	for _, v := range d.Vanished {
		list = append(list, fmt.Sprint("- ", v.ID, " ", v.Kind, " ", v.Name))
	}
	for _, c := range d.Changed {
		list = append(list, fmt.Sprint("~ ", c.ID, " ", c.Kind, " ", c.Name))
	}
	for _, a := range d.Added {
		list = append(list, fmt.Sprint("+ ", a.ID, " ", a.Kind, " ", a.Name))
	}
	return list
}

// FuzzStores: a store does not differ from itself, and what vanished one way is added the other
// way.
func FuzzStores(f *testing.F) {
	for _, c := range diffCases() {
		f.Add(c.before, c.after)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, text := range []string{before, after} {
			if d := compare(t, text, text); !d.Empty() {
				t.Fatalf("%q differs from itself: %q", text, words(d))
			}
		}
		there, back := compare(t, before, after), compare(t, after, before)
		gone := map[string]bool{}
		for _, v := range there.Vanished {
			gone[fmt.Sprint(v.ID, v.Kind)] = true
		}
		for _, a := range back.Added {
			delete(gone, fmt.Sprint(a.ID, a.Kind))
		}
		if len(gone) > 0 {
			t.Fatalf("%v vanished from %q to %q, and nothing is added the other way", gone, before, after)
		}
	})
}

func read(t testing.TB, path string) *beads.Snapshot {
	t.Helper()
	f, err := jsonl.Read(beads.Place{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
