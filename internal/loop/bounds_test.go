//go:build unix

package loop_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/loop"
	"stig/internal/process"
)

// Work rejected by the gate closes nothing. Each pass leaves feedback, and after the last pass
// a person is asked.
func TestRejectedWork(t *testing.T) {
	y := newYard(t, "pier-1")
	done, err := y.work(t, "echo $STIG_ATTEMPT >>attempts", nil)
	if err != nil {
		t.Fatal(err)
	}
	runs, text := y.runs(t), y.text(t)
	if passes := clone.DefaultProfile("bo").Passes; len(runs) != passes || !runs[passes-1].Asked || !done.Waiting {
		t.Errorf("%+v after runs %+v", done, runs)
	}
	for _, r := range runs {
		if r.Outcome != string(clone.OutcomeRejected) || !strings.Contains(text, "run: "+r.ID) {
			t.Errorf("run %s: %s; the store says\n%s", r.ID, r.Outcome, text)
		}
	}
	if strings.Contains(text, `"status":"closed"`) {
		t.Error("the issue is closed")
	}
}

// If the criteria change while the command runs, the issue is not closed even if they pass: a
// person is asked.
func TestCriteriaChanged(t *testing.T) {
	y := newYard(t, "pier-1")
	done, err := y.work(t, `echo >pier-1; sed -i.old 's/test -f pier-1/true/' .beads/issues.jsonl; rm .beads/*.old`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if runs := y.runs(t); len(runs) != 1 || runs[0].Outcome != string(clone.OutcomeWaiting) || !done.Waiting {
		t.Errorf("%+v after runs %+v", done, runs)
	}
	if text := y.text(t); !strings.Contains(text, "criteria changed while bo worked") || strings.Contains(text, `"status":"closed"`) {
		t.Errorf("the store says\n%s", text)
	}
}

// If the attempts were used up before the loop began, for example under a higher limit, no
// command runs and a person is asked.
func TestAttemptsUsedUp(t *testing.T) {
	y := newYard(t, "pier-1")
	for i, id := range []string{"r-1", "r-2"} {
		start := noon.Add(time.Duration(i-3) * time.Hour)
		r := clone.Run{ID: id, Actor: "bo", Task: "issue", Issue: "pier-1", Attempt: i + 1, Started: start, Ended: start.Add(time.Minute), Exit: 7, Outcome: string(clone.OutcomeFailed)}
		if err := y.place.RecordRun(r, noon); err != nil {
			t.Fatal(err)
		}
	}
	done, err := y.work(t, "echo >ran", nil)
	if err != nil {
		t.Fatal(err)
	}
	runs := y.runs(t)
	if _, err := os.Stat(filepath.Join(y.dir, "ran")); err == nil || len(runs) != 2 || !runs[1].Asked || !done.Waiting {
		t.Errorf("%+v after runs %+v", done, runs)
	}
	if text := y.text(t); !strings.Contains(text, "2 runs failed at this issue") || !strings.Contains(text, "run r-2 of bo: failed, exit 7") || !strings.Contains(text, "Pending (2026-11-20, holds bo) by bo") {
		t.Errorf("the store says\n%s", text)
	}
}

// After two runs in a row that left nothing the loop ends, whatever issues they were for.
func TestTwoSilentRuns(t *testing.T) {
	y := newYard(t, "pier-1", "pier-2", "pier-3")
	y.step = time.Millisecond // so that none becomes due again, however often a busy machine reads the clock
	y.underGit(t)
	done, err := y.work(t, "true", nil)
	if err != nil || !done.Silent || len(done.Runs) != 2 || done.Runs[0].Issue == done.Runs[1].Issue {
		t.Errorf("%+v, %v", done, err)
	}
	for _, r := range done.Runs {
		if r.Outcome != string(clone.OutcomeSilent) {
			t.Errorf("run %s: %s", r.ID, r.Outcome)
		}
	}
}

// underGit puts the directory under git but lets the loop work in place.
func (y *yard) underGit(t *testing.T) {
	t.Helper()
	file := filepath.Join(y.dir, ".stig", "actors", "bo.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("---\nname: bo\nworktree: false\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=bo", "-c", "user.email=bo@pier.example", "commit", "-qm", "Begin"}} {
		if out, err := exec.Command("git", append([]string{"-C", y.dir}, argv...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", argv, err, out)
		}
	}
	var err error
	if y.place, err = clone.At(filepath.Join(y.dir, ".beads", "issues.jsonl")); err != nil {
		t.Fatal(err)
	}
}

// What an actor has used still counts after a restart.
func TestRunsAreCountedOver24Hours(t *testing.T) {
	y := newYard(t, "pier-1")
	for i, age := range []time.Duration{25 * time.Hour, 3 * time.Hour, 2 * time.Hour} {
		r := clone.Run{ID: "r-" + string(rune('1'+i)), Actor: "bo", Task: "issue", Issue: "pier-9", Started: noon.Add(-age), Ended: noon.Add(-age), Outcome: string(clone.OutcomeClosed)}
		if err := y.place.RecordRun(r, noon); err != nil {
			t.Fatal(err)
		}
	}
	for most, ran := range map[int]bool{2: false, 3: true} {
		done, err := y.work(t, "echo >pier-1", func(r *loop.Request) { r.Bounds.Runs = most })
		if err != nil || len(done.Runs) > 0 != ran {
			t.Errorf("--max-runs %d: %+v, %v", most, done, err)
		}
	}
}

// What a run left in its work tree is committed on the branch of its issue, unless the attempt
// failed. The work tree of a closed issue is removed.
func TestWorkIsKept(t *testing.T) {
	for _, c := range []struct {
		script       string
		want         clone.Outcome
		commit, tree bool
	}{
		{"touch pier-1", clone.OutcomeClosed, true, false},
		{"touch pier-1; exit 75", clone.OutcomeLater, true, true},
		{"touch pier-1; exit 3", clone.OutcomeFailed, false, true},
		{`touch pier-1; sed -i.old 's/"in_progress"/"tombstone"/' "$BEADS_DIR/issues.jsonl"`, clone.OutcomeLost, true, true},
		{`touch pier-1; sed -i.old 's/"status"/"notes":"## findings\\n\\nThe pier leans to the east by two degrees.\\n","status"/' "$BEADS_DIR/issues.jsonl"; exit 3`, clone.OutcomeAdvanced, true, true},
	} {
		y := newYard(t, "pier-1")
		y.withTrees(t)
		if _, err := y.work(t, c.script, func(r *loop.Request) { r.Once = true }); err != nil {
			t.Fatal(err)
		}
		r := y.runs(t)[0]
		if _, err := os.Stat(r.Worktree); r.Outcome != string(c.want) || (r.Commit != "") != c.commit || (err == nil) != c.tree {
			t.Errorf("%s: %s, commit %q, work tree: %v; want %s, commit %t, work tree %t", c.script, r.Outcome, r.Commit, err, c.want, c.commit, c.tree)
		}
	}
}

// While another worker's loop runs, a worker leaves to it what it failed at twice, and asks
// nobody. On probation it also leaves issues it never tried.
func TestLeftToOthers(t *testing.T) {
	y := newYard(t, "pier-1", "pier-2")
	self, _ := process.Self()
	sign := func(id process.ID) {
		err := y.place.ChangePresence("cy", func(p *clone.Presence) bool {
			p.Process, p.First, p.Seen = id, noon, noon
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	record := func(actor, issue string, minutes int, o clone.Outcome) {
		end := noon.Add(time.Duration(minutes) * time.Minute)
		r := clone.Run{ID: fmt.Sprint("r", minutes), Actor: actor, Task: "issue", Issue: issue, Started: end.Add(-time.Minute), Ended: end, Outcome: string(o)}
		if err := y.place.RecordRun(r, noon); err != nil {
			t.Fatal(err)
		}
	}
	sign(self.ID)
	record("bo", "pier-1", -300, clone.OutcomeFailed)
	record("bo", "pier-1", -290, clone.OutcomeFailed)
	for i := range 3 {
		record("bo", fmt.Sprint("quay-", i), -200+2*i, clone.OutcomeSilent)
		record("cy", fmt.Sprint("quay-", i), -199+2*i, clone.OutcomeClosed)
	}
	done, err := y.work(t, "touch $STIG_ISSUE", nil)
	if err != nil || len(done.Runs) > 0 || done.Waiting || !strings.Contains(done.Reason, "only issues for other workers are left: pier-1") {
		t.Errorf("beside another worker: %+v, %v", done, err)
	}
	if said := strings.Join(y.told, "\n"); !strings.Contains(said, "on probation") {
		t.Errorf("it said %q", said)
	}
	sign(process.ID{})
	done, err = y.work(t, "touch $STIG_ISSUE", nil)
	if err != nil || len(done.Runs) != 1 || done.Runs[0].Issue != "pier-2" || !done.Waiting {
		t.Errorf("alone: %+v, %v", done, err)
	}
}

// If work is rejected with the same message on several issues, and again after a pause, one
// question is asked, whichever loop finds it. Other failures in common ask nothing.
func TestRefusedAlike(t *testing.T) {
	y := newYard(t, "pier-1", "pier-2")
	record := func(n int, refused string) {
		end := noon.Add(time.Duration(n-100) * time.Minute)
		r := clone.Run{ID: fmt.Sprint("r-", n), Actor: "bo", Task: "issue", Issue: fmt.Sprint("pier-", 1+n%2), Started: end.Add(-time.Minute), Ended: end,
			Exit: 1, Said: "no route", Refused: refused, Outcome: string(clone.OutcomeLater)}
		if err := y.place.RecordRun(r, noon); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		record(n, "git: lint-staged: not found")
	}
	for range 2 {
		done, err := y.work(t, "echo >$STIG_ISSUE", nil)
		if err != nil || len(done.Runs) > 0 || !done.Waiting || !strings.Contains(done.Reason, "lint-staged: not found; a person was asked") {
			t.Errorf("%+v, %v", done, err)
		}
	}
	text := y.text(t)
	if strings.Count(text, "## Pending") != 1 || !strings.Contains(text, `"labels":["channel","loops"]`) {
		t.Errorf("the store says\n%s", text)
	}
	y.replace(t, `\u003c!-- /escalation-context`, `\n## Resolved (2026-11-20) by ann\nnpm ci ran\n\u003c!-- /escalation-context`)
	y.replace(t, "escalation | pending", "escalation | resolved")
	done, err := y.work(t, "echo >$STIG_ISSUE", nil)
	if err != nil || len(done.Runs) != 2 {
		t.Errorf("after the answer: %+v, %v", done, err)
	}
}
