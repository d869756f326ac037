package orient_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/memory"
	"stig/orient"
	"stig/signals"
)

var update = flag.Bool("update", false, "update golden files")

func rules() orient.Rules {
	return orient.Rules{
		Schema: cue.Embedded(), Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), StaleDays: signals.ThresholdStaleDays,
	}
}

func open(t *testing.T, path string) *beads.Snapshot {
	t.Helper()
	return openIn(t, path, beads.Plain)
}

// openIn opens a file as the store of a workspace with a mode.
func openIn(t *testing.T, path string, mode beads.Mode) *beads.Snapshot {
	t.Helper()
	file, err := jsonl.Read(beads.Place{Path: path, Dir: filepath.Dir(path), Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// held opens a store with the given text.
func held(t *testing.T, text string) *beads.Snapshot {
	t.Helper()
	file, err := memory.New(text).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func harbor(t *testing.T) *beads.Snapshot {
	return open(t, filepath.Join("..", "examples", "harbor", ".beads", "issues.jsonl"))
}

func brief(t *testing.T, file *beads.Snapshot, id string, request orient.Request) *orient.Briefing {
	t.Helper()
	at, ok := file.Index(id)
	if !ok {
		t.Fatalf("no %s", id)
	}
	b, err := orient.Brief(file, dag.New(file), at, request, rules())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGolden compares the four depths with golden files.
func TestGolden(t *testing.T) {
	file := harbor(t)
	for depth, id := range map[string]string{
		"shallow": "harbor-4ke.4", "standard": "harbor-9fd.3", "deep": "harbor-4ke.5", "probe": "harbor-m8t",
	} {
		t.Run(depth, func(t *testing.T) {
			b := brief(t, file, id, orient.Request{})
			if b.Depth != depth {
				t.Errorf("depth %s", b.Depth)
			}
			data, err := json.MarshalIndent(b, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, depth+".md", b.Markdown())
			golden(t, depth+".json", string(data)+"\n")
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what it was; see the difference with go test ./orient -update and git diff", name)
	}
}

// TestBudget checks for every issue, depth and a range of budgets that the Markdown fits, that
// missing content is named, and that a sufficient budget changes nothing.
func TestBudget(t *testing.T) {
	budget(t, harbor(t))
	budget(t, held(t, `{"id":"a","title":"t","status":"closed","issue_type":"bug","close_reason":"`+strings.Repeat("The piles hold, as measured. ", 100)+`"}`+"\n"))
	for _, store := range []string{"ferry", "mill", "orchard"} {
		budget(t, open(t, filepath.Join("testdata", "briefings", store+".jsonl")))
	}
}

func budget(t *testing.T, file *beads.Snapshot) {
	graph := dag.New(file)
	step := max(1, file.Len()/50) // every nth issue of large stores
	for at := 0; at < file.Len(); at += step {
		for _, depth := range []string{"shallow", "standard", "deep", "probe"} {
			make := func(budget int) *orient.Briefing {
				b, err := orient.Brief(file, graph, at, orient.Request{Depth: depth, Budget: budget}, rules())
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			uncut := make(0)
			whole := uncut.Markdown()
			for _, budget := range []int{orient.MinBudget, 3000, 9000} {
				cut := make(budget)
				text := cut.Markdown()
				if n := utf8.RuneCountInString(text); n > budget {
					t.Errorf("%s %s: %d characters, budget %d\n%s", file.At(at).ID, depth, n, budget, text)
				}
				if utf8.RuneCountInString(whole) <= budget && text != whole {
					t.Errorf("%s %s: a budget of %d changed a briefing that fits", file.At(at).ID, depth, budget)
				}
				keepsTexts(t, cut, uncut)
				if text != whole && !strings.Contains(lastLine(text), "stig orient "+cut.Issue.ID) {
					t.Errorf("%s %s: cut without saying so: %q", file.At(at).ID, depth, lastLine(text))
				}
			}
		}
	}
}

// keepsTexts checks that shortened texts come from the originals.
func keepsTexts(t *testing.T, cut, uncut *orient.Briefing) {
	t.Helper()
	begins := func(id, kept, whole string) {
		kept = strings.TrimSuffix(kept, " …")
		if head := []rune(kept); !strings.HasPrefix(whole, string(head[:min(len(head), 20)])) {
			t.Errorf("%s: %s: %.60q is not of %.60q", cut.Issue.ID, id, kept, whole)
		}
	}
	begins("description", cut.Description, uncut.Description)
	begins("design", cut.Design, uncut.Design)
	for _, d := range cut.ClosedDependencies {
		at := slices.IndexFunc(uncut.ClosedDependencies, func(u orient.Dependency) bool { return u.ID == d.ID })
		u := uncut.ClosedDependencies[at]
		begins(d.ID, d.CloseReason, u.CloseReason)
		begins(d.ID, d.Checkpoint, u.Checkpoint)
	}
	missing := len(uncut.Comments) - len(cut.Comments)
	for i, c := range cut.Comments {
		begins("comment", c.Text, uncut.Comments[missing+i].Text)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestBearsOnNamesWholeIDs(t *testing.T) {
	tests := []struct {
		downstream string
		bears      bool
	}{
		{"demo-1 should know", true},
		{"see demo-1.", true},
		{"(demo-1)", true},
		{"demo-12 should know", false},
		{"demo-1.2 should know", false},
		{"xdemo-1", false},
		{"my-demo-1", false},
		{"demo-12 and demo-1", true},
		{"nobody", false},
	}
	for _, test := range tests {
		notes, err := json.Marshal("<!-- checkpoint-context -->\nDownstream impact: " + test.downstream + "\n<!-- /checkpoint-context -->")
		if err != nil {
			t.Fatal(err)
		}
		store := `{"id":"demo-1","title":"t","status":"open","dependencies":[{"issue_id":"demo-1","depends_on_id":"demo-0","type":"blocks"}]}` + "\n" +
			`{"id":"demo-0","title":"t","status":"closed","notes":` + string(notes) + `}` + "\n"
		b := brief(t, held(t, store), "demo-1", orient.Request{Depth: "shallow"})
		if got := len(b.ClosedDependencies) == 1; got != test.bears {
			t.Errorf("%q: bears on demo-1: %v", test.downstream, got)
		}
	}
}

// The commands in a briefing work for issues in a Dolt database, which stig cannot write.
func TestBriefNamesWhatWritesDolt(t *testing.T) {
	path := filepath.Join("..", "examples", "harbor", ".beads", "issues.jsonl")
	file := openIn(t, path, beads.Export)
	bd := 0
	for i := range file.Len() {
		for _, step := range brief(t, file, file.At(i).ID, orient.Request{}).Next {
			line := strings.Join(step.Argv, " ")
			if strings.HasPrefix(line, "bd update ") {
				bd++
			} else if !slices.Contains([]string{"orient", "escalate", "show", "verify"}, step.Argv[1]) {
				t.Errorf("%s: stig refuses %q", file.At(i).ID, line)
			}
		}
	}
	if bd < 10 {
		t.Errorf("%d steps are for bd: too few to mean much", bd)
	}
}

// TestBriefAllocates limits the memory of an epic's briefing per child and blocker; all
// children wait for the epic.
func TestBriefAllocates(t *testing.T) {
	const n = 200
	var text strings.Builder
	line := func(id string, deps ...string) {
		fmt.Fprintf(&text, `{"id":%q,"title":"t","status":"open","issue_type":"task","dependencies":[%s]}`+"\n", id, strings.Join(deps, ","))
	}
	row := func(from, on, kind string) string {
		return fmt.Sprintf(`{"issue_id":%q,"depends_on_id":%q,"type":%q}`, from, on, kind)
	}
	var blockers []string
	for k := range n {
		child, blocker := fmt.Sprintf("child-%d", k), fmt.Sprintf("blocker-%d", k)
		line(child, row(child, "epic", "parent-child"))
		line(blocker)
		blockers = append(blockers, row("epic", blocker, "blocks"))
	}
	line("epic", blockers...)
	file := held(t, text.String())
	g := dag.New(file)
	i, _ := file.Index("epic")
	brief := func() *orient.Briefing {
		b, err := orient.Brief(file, g, i, orient.Request{}, rules())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := brief() // compiles the schema
	if open := b.Children.Open; len(open) != n || len(open[n-1].BlockedBy) != n {
		t.Fatalf("%d children open", len(open))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	brief()
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / (n * n); got > 300 {
		t.Errorf("%d bytes allocated for each child and blocker", got)
	}
}
