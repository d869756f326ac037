//go:build unix

package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/gate"
	"stig/internal/git"
)

// workTree is a repository with a commit, and a job to run scripts in it.
func workTree(t testing.TB, scripts ...string) (git.Client, gate.Job) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := git.Client{Dir: dir, Env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=m", "GIT_AUTHOR_EMAIL=m@example.org", "GIT_COMMITTER_NAME=m", "GIT_COMMITTER_EMAIL=m@example.org")}
	if err := os.WriteFile(filepath.Join(dir, "chart"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "one"}} {
		if _, err := g.Must(t.Context(), argv...); err != nil {
			t.Fatal(err)
		}
	}
	j := gate.Job{
		Issue: "reef-1", Criteria: strings.Join(scripts, "\n"), Root: dir, Actor: "mara", Env: g.Env,
		Logs: filepath.Join(dir, ".git", "stig", "logs"), Time: time.Now(), Now: time.Now,
	}
	for i, script := range scripts {
		j.Checks = append(j.Checks, gate.Check{Text: script, Origin: gate.Span, Class: gate.Runnable, Line: i + 1})
	}
	return g, j
}

func write(t *testing.T, text string, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func treeOf(t *testing.T, g git.Client, without ...string) git.Tree {
	t.Helper()
	tree, err := g.Tree(t.Context(), without...)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// A verdict counts again only for its issue, with its criteria, on its tree.
func TestVerdictsFresh(t *testing.T) {
	g, j := workTree(t, "echo '<&>' ü; grep -q 1 chart")
	j.Without = []string{"store.jsonl"}
	kept := gate.Verdicts{Dir: filepath.Join(g.Dir, ".git", "stig", "verdicts")}
	fresh := func(id, criteria string) bool {
		v, ok := kept.Fresh(id, criteria, j.Checks, treeOf(t, g, "store.jsonl"))
		if ok != v.Passed() {
			t.Errorf("fresh is %v, passed %v", ok, v.Passed())
		}
		return ok
	}
	if fresh(j.Issue, j.Criteria) {
		t.Error("fresh before anything was kept")
	}
	v := runJob(t, j)
	if err := kept.Save(v); err != nil {
		t.Fatal(err)
	}
	got, ok := kept.Fresh(j.Issue, j.Criteria, j.Checks, v.Tree())
	if !ok {
		t.Fatal("not fresh")
	}
	one, err := json.Marshal(v)
	two, err2 := json.Marshal(got)
	if err != nil || err2 != nil || !bytes.Equal(one, two) || got.Summary() != v.Summary() || got.Allows(j.Issue, j.Criteria) != nil {
		t.Errorf("kept %s, got %s", one, two)
	}
	if head := v.Tree().Head; len(head) != 40 || !strings.HasSuffix(v.Summary(), " at "+head[:7]) {
		t.Errorf("summary %s", v.Summary())
	}
	write(t, "x\n", g.Dir, "store.jsonl")
	if !fresh(j.Issue, j.Criteria) {
		t.Error("the store made it stale")
	}
	if fresh("reef-2", j.Criteria) || fresh(j.Issue, j.Criteria+" ") {
		t.Error("fresh for another issue or other criteria")
	}
	write(t, "1 2\n", g.Dir, "chart")
	if fresh(j.Issue, j.Criteria) {
		t.Error("fresh on another tree")
	}
	dirty := runJob(t, j)
	if err := kept.Save(dirty); err != nil || !fresh(j.Issue, j.Criteria) || !strings.HasSuffix(dirty.Summary(), " at "+v.Tree().Head[:7]+" with uncommitted changes") {
		t.Errorf("a dirty tree: %v, %s", err, dirty.Summary())
	}
	write(t, "1 3\n", g.Dir, "chart")
	if fresh(j.Issue, j.Criteria) {
		t.Error("fresh on another dirty tree")
	}
	write(t, "3\n", g.Dir, "chart")
	if err := kept.Save(runJob(t, j)); err != nil || fresh(j.Issue, j.Criteria) {
		t.Errorf("a failure is fresh: %v", err)
	}
	if _, ok := kept.Fresh(j.Issue, j.Criteria, j.Checks, git.Tree{}); ok {
		t.Error("fresh without a repository")
	}
}

// A verdict counts for the plan that it ran: not for one that requires more, less, or the same
// in another class, whatever else is skipped.
func TestVerdictsPlanned(t *testing.T) {
	g, j := workTree(t, "true", "test -f chart")
	kept := gate.Verdicts{Dir: t.TempDir()}
	if err := kept.Save(runJob(t, j)); err != nil {
		t.Fatal(err)
	}
	one, two := j.Checks[0], j.Checks[1]
	more := gate.Check{Text: "grep -q 1 chart", Origin: gate.Span, Class: gate.Runnable}
	refused := two
	refused.Class = gate.Refused
	for name, c := range map[string]struct {
		plan []gate.Check
		want bool
	}{
		"same":          {[]gate.Check{one, two}, true},
		"one skipped":   {[]gate.Check{one, {Text: "chart", Class: gate.Manual}, two}, true},
		"one more":      {[]gate.Check{one, two, more}, false},
		"one broken":    {[]gate.Check{one, {Text: "if", Class: gate.Refused, Broken: true}, two}, false},
		"one less":      {[]gate.Check{one}, false},
		"none":          {nil, false},
		"another":       {[]gate.Check{one, more}, false},
		"another order": {[]gate.Check{two, one}, false},
		"another class": {[]gate.Check{one, refused}, false},
	} {
		if _, ok := kept.Fresh(j.Issue, j.Criteria, c.plan, treeOf(t, g)); ok != c.want {
			t.Errorf("%s: fresh is %v", name, ok)
		}
	}
}

// A verdict outside a repository is never fresh, and one from before the first commit says so.
func TestVerdictsWithoutRepository(t *testing.T) {
	kept := gate.Verdicts{Dir: t.TempDir()}
	j := job(t, "true")
	v := runJob(t, j)
	if err := kept.Save(v); err != nil || v.Tree() != (git.Tree{}) || strings.Contains(v.Summary(), " at ") {
		t.Errorf("%v %s", err, v.Summary())
	}
	if _, ok := kept.Fresh("reef-1", j.Criteria, j.Checks, v.Tree()); ok {
		t.Error("fresh")
	}
	if _, err := (git.Client{Dir: j.Root, Env: j.Env}).Must(t.Context(), "init", "-q"); err != nil {
		t.Fatal(err)
	}
	if v := runJob(t, j); !strings.HasSuffix(v.Summary(), "] before the first commit") {
		t.Errorf("summary %s", v.Summary())
	}
}

// Editing a file that says "failed" by hand has no effect.
func TestVerdictsEdited(t *testing.T) {
	_, j := workTree(t, "exit 3")
	kept := gate.Verdicts{Dir: t.TempDir()}
	v := runJob(t, j)
	plan := func(text string) []gate.Check { return []gate.Check{{Text: text, Class: gate.Runnable}} }
	passing, err := func() ([]byte, error) {
		j.Checks[0].Text = "true"
		w := runJob(t, j)
		err := kept.Save(w)
		text, err2 := os.ReadFile(filepath.Join(kept.Dir, "reef-1.json"))
		return text, errors.Join(err, err2)
	}()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := kept.Fresh("reef-1", j.Criteria, j.Checks, v.Tree()); !ok {
		t.Fatal("what passed is not fresh")
	}
	if err := kept.Save(v); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(kept.Dir, "reef-1.json")
	failing, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edits := map[string]string{
		"as it is":     string(failing),
		"exit code":    strings.Replace(string(failing), `"exit":3`, `"exit":0`, 1),
		"no check":     strings.Replace(string(failing), `"passed":false`, `"passed":true`, 1),
		"half":         string(passing[:len(passing)/2]),
		"empty":        "",
		"other format": strings.Replace(string(passing), "stig verdict 1", "stig verdict 2", 1),
		"other text":   strings.Replace(string(passing), `"text":"true"`, `"text":"tree"`, 1),
	}
	for name, text := range edits {
		if name != "as it is" && (text == string(failing) || text == string(passing)) {
			t.Fatalf("%s: nothing was edited", name)
		}
		write(t, text, path)
		for _, planned := range []string{"exit 3", "true", "tree"} {
			if _, ok := kept.Fresh("reef-1", j.Criteria, plan(planned), v.Tree()); ok {
				t.Errorf("%s: passes", name)
			}
		}
	}
	write(t, string(passing), kept.Dir, "reef-2.json")
	if _, ok := kept.Fresh("reef-2", j.Criteria, j.Checks, v.Tree()); ok {
		t.Error("the verdict on another issue passes")
	}
	if err := (gate.Verdicts{Dir: path}).Save(v); err == nil {
		t.Error("a verdict that cannot be kept gives no error")
	}
}

// The tree of a verdict is the one at the start of the checks: edits during their run have not
// been checked.
func TestVerdictTreeBefore(t *testing.T) {
	g, j := workTree(t, "echo 2 >chart")
	before := treeOf(t, g)
	if v := runJob(t, j); v.Tree() != before || treeOf(t, g) == before {
		t.Errorf("got %+v, want %+v", v.Tree(), before)
	}
}

// Eight at once, in one repository, on one issue: each reader sees a whole verdict or none.
func TestVerdictsAtOnce(t *testing.T) {
	g, j := workTree(t, "echo $STIG_ISSUE; sleep 0.05")
	kept := gate.Verdicts{Dir: filepath.Join(g.Dir, ".git", "stig", "verdicts")}
	if err := kept.Save(runJob(t, j)); err != nil {
		t.Fatal(err)
	}
	tree := treeOf(t, g)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			v, err := gate.Run(context.Background(), j)
			if err != nil || !v.Passed() {
				t.Errorf("%v %v", v, err)
				return
			}
			if text, err := os.ReadFile(v.Outcomes()[0].Log); err != nil || string(text) != "reef-1\n" {
				t.Errorf("log %q, %v", text, err)
			}
			for range 20 {
				if err := kept.Save(v); err != nil {
					t.Error(err)
				}
				if _, ok := kept.Fresh(j.Issue, j.Criteria, j.Checks, tree); !ok {
					t.Error("not fresh")
				}
			}
		})
	}
	all.Wait()
	files, err := os.ReadDir(kept.Dir)
	if err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// TestVerdictsKilled repeatedly kills a process that saves verdicts: every file is whole
// afterwards.
func TestVerdictsKilled(t *testing.T) {
	dir := os.Getenv("STIG_TEST_SAVE")
	if dir != "" {
		v := runJob(t, job(t, "echo tide"))
		for {
			if err := (gate.Verdicts{Dir: dir}).Save(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir = t.TempDir()
	for range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestVerdictsKilled$")
		cmd.Env = append(os.Environ(), "STIG_TEST_SAVE="+dir, "TMPDIR="+t.TempDir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "reef-1.json")
		for range 4000 {
			if _, err := os.Stat(path); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(7 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		text, err := os.ReadFile(path)
		if err != nil || !json.Valid(text) {
			t.Fatalf("%q, %v", text, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGround(t *testing.T) {
	_, j := workTree(t, "true")
	passed := runJob(t, j)
	j.Checks[0].Text = "exit 3"
	failed := runJob(t, j)
	waived, err := gate.Waive(" the sea is too rough\n", "mara")
	if err != nil || waived.Why() != "the sea is too rough" || waived.Actor() != "mara" {
		t.Errorf("%+v %v", waived, err)
	}
	if w, err := gate.Waive(" \n", "mara"); err == nil || w.Allows("reef-1", "") == nil {
		t.Error("a waiver without a reason")
	}
	var none *gate.Verdict
	for _, c := range []struct {
		evidence gate.Evidence
		id       string
		criteria string
		want     string
	}{
		{passed, "reef-1", j.Criteria, ""},
		{passed, "reef-2", j.Criteria, "reef-2: the verdict is on reef-1"},
		{passed, "reef-1", "other", "reef-1: its criteria have changed"},
		{failed, "reef-1", j.Criteria, `reef-1: "exit 3": exit 3`},
		{none, "reef-1", j.Criteria, "reef-1: no check has run"},
		{&gate.Verdict{}, "", "", "no check has run"},
		{waived, "reef-1", "", ""},
		{gate.Waiver{}, "reef-1", "", "needs a reason"},
	} {
		err := c.evidence.Allows(c.id, c.criteria)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if none.Passed() || new(gate.Verdict).Passed() {
		t.Error("the zero value passed")
	}
}

// BenchmarkVerify runs `true` in a repository: what exceeds the shell's own time is the gate's.
func BenchmarkVerify(b *testing.B) {
	_, j := workTree(b, "true")
	for b.Loop() {
		if v, err := gate.Run(b.Context(), j); err != nil || !v.Passed() {
			b.Fatal(v, err)
		}
	}
}

// BenchmarkShell is the time of the command alone.
func BenchmarkShell(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("bash", "-euo", "pipefail", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
