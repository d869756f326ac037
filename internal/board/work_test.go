package board_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/board"
	"stig/internal/clone"
	"stig/internal/service"
	"stig/internal/workspace"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const graphLines = `{"id":"pier-1","title":"Rope","status":"in_progress","priority":1,"issue_type":"epic","assignee":"bo"}
{"id":"pier-1.1","title":"Hemp","status":"open","priority":1,"issue_type":"task","dependencies":[{"issue_id":"pier-1.1","depends_on_id":"pier-1","type":"parent-child"}]}
{"id":"pier-2","title":"Steel","status":"open","priority":1,"issue_type":"task","acceptance_criteria":"~~~verify\necho rusty; false\n~~~","dependencies":[{"issue_id":"pier-2","depends_on_id":"pier-1.1","type":"blocks"}]}
`

// pier returns a clone with a store in it.
func pier(t *testing.T) (dir string, a *workspace.Run) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, ".beads", "issues.jsonl"), graphLines)
	write(t, filepath.Join(dir, "rope.txt"), "old\n")
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "config", "user.name", "mara")
	git(t, dir, "config", "user.email", "mara@pier.example")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "begin")
	home := func() (string, error) { return dir + "/home", nil }
	env := map[string]string{"STIG_ACTOR": "bo", "STIG_TRUST": "1", "PATH": os.Getenv("PATH")}
	return dir, &workspace.Run{
		Getenv: func(name string) string { return env[name] }, Env: os.Environ, HomeDir: home, ConfigDir: home,
		Now: func() time.Time { return noon }, Schema: cue.Embedded(), Say: func(workspace.Level, string) {}, Ctx: t.Context(), Running: "test", Dir: dir,
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, argv...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", argv, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestWorkOn: WorkOn returns the changes in the work tree of the last run, committed or not,
// with new files by name, and without the store; if the work tree is gone, the changes on its
// branch; and the output of the checks there.
func TestWorkOn(t *testing.T) {
	dir, a := pier(t)
	has := func(of board.Work, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(of.Diff, want) {
				t.Errorf("no %q in %+v", want, of)
			}
		}
		if strings.Contains(of.Diff, ".beads") {
			t.Errorf("the store is in %s", of.Diff)
		}
	}
	work := func(most int) board.Work {
		t.Helper()
		done, err := board.WorkOn(t.Context(), a, []string{"pier-2"}, most)
		if err != nil {
			t.Fatal(err)
		}
		return done["pier-2"]
	}
	if none := work(1 << 20); none.Diff != "" || none.Gate != nil {
		t.Errorf("before anybody worked: %+v", none)
	}
	write(t, filepath.Join(dir, "rope.txt"), "in place\n")
	write(t, filepath.Join(dir, "new.txt"), "x\n")
	write(t, filepath.Join(dir, ".beads", "issues.jsonl"), graphLines+"\n")
	has(work(1<<20), "new files:\n new.txt\n", "-old\n+in place")
	if short := work(40); len(short.Diff) > 200 || !strings.Contains(short.Diff, "… (there is more)") {
		t.Errorf("bounded: %q", short.Diff)
	}
	if _, err := service.Verify(t.Context(), a.Fresh(t.Context(), "verify"), service.VerifyRequest{ID: "pier-2"}); err != nil {
		t.Fatal(err)
	}
	if gate := work(1 << 20).Gate; gate == nil || !strings.Contains(gate.Outcomes()[0].Tail, "rusty") {
		t.Errorf("gate %+v", gate)
	}

	base, tree := git(t, dir, "rev-parse", "HEAD"), filepath.Join(t.TempDir(), "pier-2")
	git(t, dir, "worktree", "add", "-q", "-b", "stig/pier-2", tree)
	place, err := clone.At(filepath.Join(dir, ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tree, "rope.txt"), "committed\n")
	git(t, tree, "commit", "-q", "-a", "-m", "work")
	run := clone.Run{ID: "r-1", Actor: "bo", Issue: "pier-2", Worktree: tree, Branch: "stig/pier-2", Base: base, Started: noon.Add(-time.Hour)}
	if err := place.RecordRun(run, noon); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tree, "more.txt"), "x\n")
	done := work(1 << 20)
	has(done, "more.txt", "+committed")
	if done.Gate != nil || strings.Contains(done.Diff, "in place") {
		t.Errorf("%+v", done)
	}
	git(t, dir, "worktree", "remove", "--force", tree)
	done = work(1 << 20)
	has(done, "+committed")
	if strings.Contains(done.Diff, "in place") {
		t.Errorf("%+v", done)
	}
}

// TestGraph: Graph draws the issues that match, and nothing if there are too many.
func TestGraph(t *testing.T) {
	_, a := pier(t)
	for _, c := range []struct {
		name  string
		r     board.GraphRequest
		ids   string
		count int
	}{
		{"all", board.GraphRequest{}, "pier-1 pier-1.1 pier-2", 3},
		{"around one", board.GraphRequest{Around: "pier-2"}, "pier-1.1 pier-2", 2},
		{"an epic", board.GraphRequest{Epic: "pier-1"}, "pier-1 pier-1.1", 2},
		{"around one in an epic", board.GraphRequest{Around: "pier-2", Epic: "pier-1"}, "pier-1.1", 1},
		{"a state", board.GraphRequest{Status: []string{"open"}}, "pier-1.1 pier-2", 2},
		{"too many", board.GraphRequest{Most: 2}, "", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			graphed, err := board.Graph(a, c.r)
			if err != nil {
				t.Fatal(err)
			}
			picture, count := graphed.Picture, graphed.Issues
			var ids []string
			if picture != nil {
				for _, n := range picture.Nodes {
					ids = append(ids, n.ID)
				}
				if svg := picture.SVG(); !strings.Contains(svg, "critical path") {
					t.Error("the critical path is not marked")
				}
			}
			if got := strings.Join(ids, " "); got != c.ids || count != c.count {
				t.Errorf("%d: %s", count, got)
			}
		})
	}
	if graphed, err := board.Graph(a, board.GraphRequest{Epic: "pier-9"}); err == nil || len(graphed.Epics) != 1 || graphed.Epics[0].ID != "pier-1" {
		t.Errorf("an epic that there is not: %v, %+v", err, graphed)
	}
}
