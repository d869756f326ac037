//go:build unix

package loop_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/loop"
	"stig/internal/process"
	"stig/internal/trace"
)

// A loop that was killed after the work landed and the issue was closed undoes nothing, even if
// the criteria fail by now.
func TestKilledAfterClose(t *testing.T) {
	y := newYard(t, "pier-1")
	r := clone.Run{ID: "r-left", Actor: "bo", Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon.Add(-time.Minute), Ended: noon, Step: "landed",
		Criteria: y.criteria(t), Worktree: y.dir}
	y.replace(t, `"status":"open"`, `"status":"closed","close_reason":"Built"`)
	if err := y.place.RecordRun(r, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := y.work(t, "echo >ran", nil); err != nil {
		t.Fatal(err)
	}
	if runs := y.runs(t); len(runs) != 1 || runs[0].Outcome != string(clone.OutcomeClosed) {
		t.Errorf("%+v", runs)
	}
	if text := y.text(t); !strings.Contains(text, `"status":"closed"`) {
		t.Errorf("the store says\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(y.dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

// A loop that was killed between leaving an error and recording the run does not mistake its
// own error for work.
func TestKilledAfterError(t *testing.T) {
	y := newYard(t, "pier-1")
	y.step = time.Second
	y.inGit(t)
	state, _, err := y.app.GitIn(y.dir).Content(t.Context(), "", nil, filepath.Join(y.dir, ".beads"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := trace.Draft{Type: trace.Error, Content: map[string]any{"error_type": "silent", "traceback": "(no output)", "run": "r-left"}}.Trace()
	if err != nil {
		t.Fatal(err)
	}
	said, err := json.Marshal([]map[string]any{{"id": 1, "issue_id": "pier-1", "author": "bo", "text": text.Text(), "created_at": noon}})
	if err != nil {
		t.Fatal(err)
	}
	y.replace(t, `"status":"open"`, `"status":"in_progress","assignee":"bo","comments":`+string(said))
	r := clone.Run{ID: "r-left", Actor: "bo", Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon.Add(-time.Minute), Ended: noon, Step: "ended",
		Criteria: y.criteria(t), Notes: gate.Hash(""), Worktree: y.dir, Tree: state}
	if err := y.place.RecordRun(r, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := y.work(t, "true", func(r *loop.Request) { r.Attempts = 1 }); err != nil {
		t.Fatal(err)
	}
	if runs := y.runs(t); len(runs) != 1 || runs[0].Outcome != string(clone.OutcomeSilent) {
		t.Errorf("%+v", runs)
	}
	if text := y.text(t); strings.Contains(text, "in_progress") || strings.Contains(text, `"closed"`) {
		t.Errorf("the store says\n%s", text)
	}
}

// inGit makes the directory a git work tree in which the actor works in place.
func (y *yard) inGit(t *testing.T) {
	t.Helper()
	actor := filepath.Join(y.dir, ".stig", "actors", "bo.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(actor), 0o755), os.WriteFile(actor, []byte("---\nname: bo\nworktree: false\n---\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	y.begin(t)
}

// begin makes the directory a git repository with one commit.
func (y *yard) begin(t *testing.T) {
	t.Helper()
	for _, argv := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=m", "-c", "user.email=m@pier", "commit", "-qm", "begin"}} {
		if _, err := y.app.GitIn(y.dir).Must(t.Context(), argv...); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if y.place, err = clone.At(filepath.Join(y.dir, ".beads", "issues.jsonl")); err != nil {
		t.Fatal(err)
	}
}

// A killed loop is slow to resume. Meanwhile another took the issue, ended the record, worked
// and gave the issue back. The first loop leaves that record unchanged and starts a new run on
// the issue.
func TestKilledAndTakenOver(t *testing.T) {
	y := newYard(t, "pier-1")
	y.step = time.Second
	r := clone.Run{ID: "r-left", Actor: "bo", Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon.Add(-time.Hour), Step: "started", Criteria: y.criteria(t), Worktree: y.dir}
	if err := y.place.RecordRun(r, noon); err != nil {
		t.Fatal(err)
	}
	_, err := y.work(t, "touch pier-1", func(request *loop.Request) {
		request.Tell = func(e loop.Event) {
			if !strings.Contains(e.Text, "is unfinished") {
				return
			}
			r.Ended, r.Outcome, r.Why = noon.Add(-time.Minute), string(clone.OutcomeStopped), "cy took the issue over"
			next := clone.Run{ID: "r-next", Actor: "cy", Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon.Add(-30 * time.Second), Ended: noon, Outcome: string(clone.OutcomeStopped)}
			for _, one := range []clone.Run{r, next} {
				if err := y.place.RecordRun(one, noon); err != nil {
					t.Error(err)
				}
			}
		}
	})
	runs := y.runs(t)
	if err != nil || len(runs) != 3 || runs[0].Why != "cy took the issue over" || !runs[0].Ended.Equal(noon.Add(-time.Minute)) || runs[2].Outcome != string(clone.OutcomeClosed) {
		t.Errorf("%v, %+v", err, runs)
	}
}

// A run of another process, such as a dream, is not ended.
func TestRunOfAnother(t *testing.T) {
	y := newYard(t)
	above := process.Ancestors()
	if len(above) == 0 {
		return // this system does not show other processes
	}
	if err := y.place.RecordRun(clone.Run{ID: "r-dream", Actor: "bo", Task: "dream", Loop: above[0].ID, Started: noon}, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := y.work(t, "true", nil); err != nil {
		t.Fatal(err)
	}
	if runs := y.runs(t); len(runs) != 1 || runs[0].Outcome != "" {
		t.Errorf("%+v", runs)
	}
}

// replace edits the store directly.
func (y *yard) replace(t *testing.T, from, to string) {
	t.Helper()
	text := y.text(t)
	if !strings.Contains(text, from) {
		t.Fatalf("no %s in\n%s", from, text)
	}
	if err := os.WriteFile(filepath.Join(y.dir, ".beads", "issues.jsonl"), []byte(strings.Replace(text, from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// If a loop was killed while the command ran, the loop that resumes the run compares what the
// repository shares with its state before the command started, and restores settings.
func TestKilledWhileShared(t *testing.T) {
	for _, name := range []string{"bo", "cy"} { // who resumes the run or takes over the issue
		y := newYard(t, "pier-1")
		y.step = time.Second
		y.inGit(t)
		set := func(value string) {
			if _, err := y.app.GitIn(y.dir).Must(t.Context(), "config", "user.name", value); err != nil {
				t.Fatal(err)
			}
		}
		set("ann")
		at, err := git.CheckoutOf(y.dir)
		if err != nil {
			t.Fatal(err)
		}
		was, err := (&git.Watch{Git: y.app.GitIn(y.dir), At: at, Onto: "stig/work", InPlace: true}).Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		files, err := y.place.RunFiles("r-left")
		text, e := json.Marshal(map[string]any{"was": was})
		if err := errors.Join(err, e, os.WriteFile(files.Shared, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		set("Robot")
		r := clone.Run{ID: "r-left", Actor: name, Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon.Add(-time.Minute), Step: "started", Criteria: y.criteria(t), Worktree: y.dir, Log: files.Log}
		if err := y.place.RecordRun(r, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := y.work(t, "touch pier-1", nil); err != nil {
			t.Fatal(err)
		}
		runs := y.runs(t)
		if shared := runs[0].Shared; len(runs) != 2 || runs[0].Outcome != string(clone.OutcomeStopped) || len(shared) != 1 || !shared[0].Back || shared[0].Was != "ann" {
			t.Errorf("%s: %+v", name, runs)
		}
		if now, err := y.app.GitIn(y.dir).Must(t.Context(), "config", "user.name"); err != nil || now != "ann" {
			t.Errorf("%s: user.name is %q, %v", name, now, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(files.Log), "*"+clone.SharedEnd)); len(left) > 0 {
			t.Error(left)
		}
	}
}

// If that state cannot be read, this is reported and the run still ends.
func TestKilledWhileSharedIsTorn(t *testing.T) {
	y := newYard(t, "pier-1")
	y.step = time.Second
	y.inGit(t)
	files, err := y.place.RunFiles("r-left")
	if err := errors.Join(err, os.WriteFile(files.Shared, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r := clone.Run{ID: "r-left", Actor: "bo", Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon.Add(-time.Minute), Step: "ended", Criteria: y.criteria(t), Worktree: y.dir, Log: files.Log}
	if err := y.place.RecordRun(r, noon); err != nil {
		t.Fatal(err)
	}
	_, err = y.work(t, "touch pier-1", nil)
	if runs := y.runs(t); err != nil || runs[0].Outcome == "" || !strings.Contains(strings.Join(y.told, "\n"), "what run r-left changed in what git shares is unknown") {
		t.Errorf("%v, %+v, %q", err, runs, y.told)
	}
}
