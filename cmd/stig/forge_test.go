package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/testkit/forges"
)

// forgeOf starts a forge for a repository, or plays people on it:
//
//	forge start DIR           a forge whose repository is made from DIR, and whose remote it becomes
//	forge at DIR              the forge of DIR is meant from here on
//	forge merge|squash|rebase|revert|close N
//	forge remark N USER TEXT [PATH]
//	forge status failure
//	forge show N              print a request
func forgeOf(ts *testscript.TestScript, neg bool, args []string) {
	held := ts.Value("forge").(*forgeHolder)
	site := held.sites[held.at]
	number := func() int { n, err := strconv.Atoi(args[1]); ts.Check(err); return n }
	switch args[0] {
	case "start", "at":
		held.at = ts.MkAbs(args[1])
		if args[0] == "start" {
			ts.Check(held.begin(ts.Defer))
		}
		ts.Setenv("GITEA_TOKEN", held.tokens[held.at])
	case "remark":
		path := ""
		if len(args) > 4 {
			path = args[4]
		}
		site.Remark(number(), args[2], args[3], path)
	case "status":
		site.Status(args[1])
	case "show":
		ts.Check(os.WriteFile(ts.MkAbs("request"), []byte(site.Text(number())), 0o600))
	default:
		ts.Check(site.Judge(args[0], number()))
	}
}

// forgeHolder holds the forges of a script, by the directory of the repository.
type forgeHolder struct {
	start  func(dir string) (forges.Site, error) // serves from dir
	at     string
	sites  map[string]forges.Site
	tokens map[string]string
}

// newForges returns a holder of stand-ins.
func newForges() *forgeHolder {
	standIn := func(dir string) (forges.Site, error) { return forges.New(dir + ".git"), nil }
	return &forgeHolder{start: standIn, sites: map[string]forges.Site{}, tokens: map[string]string{}}
}

// begin starts the forge of a directory.
func (h *forgeHolder) begin(atEnd func(func())) error {
	site, err := h.start(h.at)
	if err != nil {
		return err
	}
	atEnd(site.Close)
	h.sites[h.at] = site
	h.tokens[h.at], err = site.Begin(h.at)
	return err
}

// TestJudged has a judge decide on the requests of a night: afterwards an issue is
// closed if and only if its change is on the default branch.
func TestJudged(t *testing.T) {
	t.Parallel()
	f := forges.New(filepath.Join(t.TempDir(), "dock.git"))
	defer f.Close()
	judged(t, f, 9)
}

// TestFedOnce kills synchronizations and runs several at once: the worker gets each round of
// remarks once.
func TestFedOnce(t *testing.T) {
	t.Parallel()
	f := forges.New(filepath.Join(t.TempDir(), "dock.git"))
	defer f.Close()
	run := inReview(t, f, 1)
	f.Remark(1, forges.Writer, "Use oak, please.", "")
	run("for t in 0.05 0.1 0.2 5 5 5; do timeout -s KILL $t stig land --sync & done; wait; stig land --sync")
	if said := run("stig trace list dock-1; stig show dock-1"); strings.Count(said, "  feedback  ") != 1 || !strings.Contains(said, "rounds: 1\n") {
		t.Errorf("the remark was given more or less than once:\n%s", said)
	}
}

// judged does so with a number of issues.
func judged(t *testing.T, site forges.Site, issues int) {
	run := inReview(t, site, issues)
	verbs := []string{"merge", "squash", "rebase", "close", "revert", "byhand", "part", "none", "merge later"}
	for n := range issues {
		verb := verbs[n%len(verbs)]
		steps := map[string][]string{"revert": {"squash", "revert"}, "none": nil, "merge later": {"sync", "merge"}}[verb]
		if steps == nil && verb != "none" {
			steps = []string{verb}
		}
		for _, step := range steps {
			if step == "sync" {
				run("stig land --sync")
			} else if err := site.Judge(step, n+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	said := run("stig land --sync")
	closed := map[string]bool{}
	for line := range strings.Lines(run("cat .beads/issues.jsonl")) {
		var issue struct{ ID, Status string }
		if err := json.Unmarshal([]byte(line), &issue); err != nil {
			t.Fatal(err)
		}
		closed[issue.ID] = issue.Status == "closed"
	}
	files := run("git ls-tree -r --name-only stig/default")
	for n := range issues {
		id := fmt.Sprintf("dock-%d", n+1)
		there := strings.Contains(files, fmt.Sprintf("file-%d\n", n+1)) && strings.Contains(files, fmt.Sprintf("more-%d\n", n+1))
		if there != closed[id] {
			t.Errorf("%s (%s): its change is on main: %v, and it is closed: %v\n%s", id, verbs[n%len(verbs)], there, closed[id], said)
		}
	}
}

// TestBrake is a night in which agents could make more requests than people review: four each
// hour. No more requests are open than allowed, and nothing is begun that would be one more.
func TestBrake(t *testing.T) {
	t.Parallel()
	f := forges.New(filepath.Join(t.TempDir(), "dock.git"))
	defer f.Close()
	const hours, reviews, most = 8, 4, 6
	run := onForge(t, f, hours*8, most)
	landed := 0
	for hour := range hours {
		run("for n in 1 2 3; do STIG_ACTOR=bo-$n stig work --until-empty" + twoCommits + " >loop-$n.log 2>&1 & done; wait")
		var now struct{ Issues []struct{ Request int } }
		if err := json.Unmarshal([]byte(run("stig land --json")), &now); err != nil {
			t.Fatal(err)
		}
		begun := strings.Count(run("git branch --list 'stig/dock-*'"), "stig/dock-")
		if open := len(now.Issues) - landed; open != most || begun != open {
			t.Fatalf("hour %d: %d requests are open, and %d issues begun; want %d of both\n%s", hour, open, begun, most, run("cat loop-*.log"))
		}
		if said := run("cat loop-*.log"); !strings.Contains(said, "waiting for reviewers") {
			t.Errorf("hour %d: no loop says that it waits:\n%s", hour, said)
		}
		for range reviews {
			landed++
			if err := f.Judge("squash", landed); err != nil {
				t.Fatal(err)
			}
		}
		run("stig land --sync")
	}
}

// inReview has a loop work on a number of issues, whose requests are then open, and returns a
// function that runs a command in their repository.
func inReview(t *testing.T, site forges.Site, issues int) (run func(command string) string) {
	run = onForge(t, site, issues, 1000)
	run("stig work --until-empty --max-runs 1000" + twoCommits)
	return run
}

// twoCommits is the work on an issue of onForge.
const twoCommits = ` -- sh -c 'n=${STIG_ISSUE#dock-}; echo $n >file-$n; git add -A; git commit -qm "$STIG_ISSUE: first"; echo $n >more-$n'`

// onForge makes a repository on a forge with a number of issues, of which so many may be in
// review, and returns a function that runs a command in it.
func onForge(t *testing.T, site forges.Site, issues, open int) (run func(command string) string) {
	dir := filepath.Join(t.TempDir(), "dock")
	var store strings.Builder
	for n := range issues {
		fmt.Fprintf(&store, `{"id":"dock-%d","title":"Issue %[1]d","status":"open","priority":1,"issue_type":"task","created_at":"2026-11-20T08:00:00Z","updated_at":"2026-11-20T08:00:00Z","acceptance_criteria":"`+"```verify\\ntest -f more-%[1]d\\n```"+`"}`+"\n", n+1)
	}
	for name, text := range map[string]string{".beads/issues.jsonl": store.String(), ".stig.cue": fmt.Sprintf("land: \"review\"\nreview: open: %d\n", open)} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"STIG_TRUST=1", "STIG_ACTOR=bo", "XDG_STATE_HOME=" + t.TempDir(), "HOME=" + t.TempDir()}
	run = func(command string) string {
		t.Helper()
		out, err := shell(dir, program(t), command, env...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	run(`git init -q -b main && git config user.name bo && git config user.email bo@dock && git add -A && git commit -qm begin`)
	token, err := site.Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "GITEA_TOKEN="+token)
	return run
}
