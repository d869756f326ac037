//go:build unix

package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/loop"
	"stig/internal/loop/actors"
	"stig/internal/workspace"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// yard is a store without git in which a loop works in place, with a clock that advances by
// step at each reading.
type yard struct {
	dir   string
	app   *workspace.Run
	place clone.Place

	mu   sync.Mutex
	now  time.Time
	step time.Duration
	told []string
}

func newYard(t *testing.T, issues ...string) *yard {
	t.Helper()
	y := &yard{dir: t.TempDir(), now: noon}
	store := filepath.Join(y.dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(store), 0o755); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, id := range issues {
		text += fmt.Sprintf(`{"id":%q,"title":"Build %[1]s","status":"open","priority":1,"issue_type":"task","acceptance_criteria":"~~~verify\ntest -f %[1]s\n~~~"}`, id) + "\n"
	}
	if err := os.WriteFile(store, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var err error
	if y.place, err = clone.At(store); err != nil {
		t.Fatal(err)
	}
	home := func() (string, error) { return y.dir, nil }
	vars := map[string]string{"STIG_ACTOR": "bo", "STIG_TRUST": "1", "PATH": os.Getenv("PATH")}
	y.app = &workspace.Run{
		Getenv: func(name string) string { return vars[name] }, Env: os.Environ, HomeDir: home, ConfigDir: home,
		Now: y.clock, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { t.Log(text) },
		Ctx: t.Context(), Running: "test", Dir: y.dir,
	}
	return y
}

func (y *yard) clock() time.Time {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.now = y.now.Add(y.step)
	return y.now
}

// quick are times that keep a test from waiting.
var quick = loop.Times{
	Sign: 5 * time.Millisecond, Renew: 5 * time.Millisecond, Look: 2 * time.Millisecond, Sense: 4 * time.Millisecond, Grace: time.Second,
}

// work runs a loop with a script as its command.
func (y *yard) work(t *testing.T, script string, change func(*loop.Request)) (*loop.Done, error) {
	t.Helper()
	r := loop.Request{
		Command: []string{"sh", "-c", script}, UntilEmpty: true, Attempts: 2, Cap: time.Hour, Onto: "stig/work", Times: quick,
		Tell: func(e loop.Event) {
			y.mu.Lock()
			defer y.mu.Unlock()
			y.told = append(y.told, e.Issue+": "+e.Text)
		},
	}
	if change != nil {
		change(&r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return loop.Work(ctx, y.app, r)
}

func (y *yard) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(y.dir, ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (y *yard) runs(t *testing.T) []clone.Run {
	t.Helper()
	runs, damaged, err := y.place.Runs(noon.Add(-loop.Window))
	if err != nil || damaged != nil {
		t.Fatal(err, damaged)
	}
	return runs
}

// After a failed attempt the issue is left alone for a minute of the clock. After the last
// attempt a person is asked, and only questions remain.
func TestFailedAttempts(t *testing.T) {
	y := newYard(t, "pier-1")
	y.step = time.Second
	done, err := y.work(t, "exit 3", nil)
	if err != nil {
		t.Fatal(err)
	}
	runs := y.runs(t)
	if !done.Waiting || done.Asked != 1 || len(runs) != 2 || !runs[1].Asked {
		t.Fatalf("%+v after runs %+v", done, runs)
	}
	if wait := runs[1].Started.Sub(runs[0].Ended); wait < loop.BackOff(1) {
		t.Errorf("tried again after %s, want %s at least", wait, loop.BackOff(1))
	}
	if text := y.text(t); !strings.Contains(text, "2 runs failed at this issue") || strings.Count(text, "error: the command ended with exit code 3") != 2 {
		t.Errorf("the store says\n%s", text)
	}
}

// If nothing is ready, nothing is started, however long the loop looks.
func TestStartsNothing(t *testing.T) {
	y := newYard(t, "pier-1")
	y.step = time.Second
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	_, err := loop.Work(ctx, y.app, loop.Request{Command: []string{"sh", "-c", "echo >started"}, Roles: []string{"network"}, Attempts: 2, Cap: time.Hour, Times: quick})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(y.dir, "started")); err == nil || len(y.runs(t)) > 0 {
		t.Error("the command was started though no issue is for this role")
	}
}

// A waiting loop reports once what it waits for.
func TestSaysWhatItWaitsFor(t *testing.T) {
	for want, change := range map[string]func(*yard, *loop.Request){
		"nothing to take now; waiting for the store to change": func(y *yard, r *loop.Request) { r.Roles = []string{"network"} },
		"nothing to take before 2026-11-21 00:00:": func(y *yard, r *loop.Request) {
			r.Command = []string{"sh", "-c", "exit 3"}
			r.Filter = []string{"pier-1"}
		},
		"waiting until 2026-11-21 00:59:3": func(y *yard, r *loop.Request) {
			if err := os.MkdirAll(filepath.Join(y.dir, ".stig", "actors"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(y.dir, ".stig", "actors", "bo.md"), []byte("---\nname: bo\nper_hour: 1\n---\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		},
	} {
		y := newYard(t, "pier-1", "pier-2")
		y.now, y.step = y.now.Add(12*time.Hour-30*time.Second), time.Millisecond // before midnight
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		said := 0
		r := loop.Request{Command: []string{"sh", "-c", "echo >$STIG_ISSUE"}, Attempts: 2, Cap: time.Hour, Onto: "stig/work", Times: quick, Tell: func(e loop.Event) {
			if strings.Contains(e.Text, want) {
				said++
				time.AfterFunc(100*time.Millisecond, cancel) // that is many looks
			}
		}}
		change(y, &r)
		if _, err := loop.Work(ctx, y.app, r); !errors.Is(err, context.Canceled) || said != 1 {
			t.Errorf("%q was said %d times: %v", want, said, err)
		}
		cancel()
	}
}

// The heartbeat runs with the text in the file when it is due and no issue can be taken.
func TestHeartbeat(t *testing.T) {
	y := newYard(t)
	y.step = time.Minute
	file := filepath.Join(y.dir, ".stig", "actors", "bo.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("---\nname: bo\nevery: 1h\n---\n## Heartbeat\n\nLook at the tide.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	done, err := y.work(t, `grep -q 'Look at the tide' && test -z "$STIG_ISSUE" && echo >>beats`, func(r *loop.Request) {
		r.UntilEmpty, r.Bounds.Runs = false, 2
	})
	if err != nil {
		t.Fatal(err)
	}
	runs := y.runs(t)
	if len(done.Runs) != 2 || runs[1].Task != "heartbeat" || runs[1].Exit != 0 || runs[1].Started.Sub(runs[0].Started) < time.Hour {
		t.Errorf("%s: %+v", done.Reason, runs)
	}
}

// A paused actor takes no work, and ends if it should not wait. Once resumed, it works.
func TestPaused(t *testing.T) {
	y := newYard(t, "pier-1")
	say := func(state clone.State) {
		if err := y.place.ChangePresence("bo", func(p *clone.Presence) bool { p.State = state; return true }); err != nil {
			t.Error(err)
		}
	}
	say(clone.Paused)
	resume := sync.OnceFunc(func() {
		time.AfterFunc(60*time.Millisecond, func() {
			if len(y.runs(t)) > 0 {
				t.Error("it ran while it was paused")
			}
			say(clone.Healthy)
		})
	})
	if done, err := y.work(t, "echo >pier-1", nil); err != nil || !done.Waiting || len(done.Runs) > 0 || !strings.Contains(done.Reason, "bo is paused") {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := y.work(t, "echo >pier-1", func(r *loop.Request) {
		r.UntilEmpty, r.Bounds.Runs = false, 1
		keep := r.Tell
		r.Tell = func(e loop.Event) {
			keep(e)
			if strings.Contains(e.Text, "paused") {
				resume()
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(y.text(t), `"status":"closed"`) || !strings.Contains(strings.Join(y.told, "\n"), "paused: takes no work") {
		t.Errorf("%q and\n%s", y.told, y.text(t))
	}
}

// If the claim is lost while the command runs, the command is ended and the issue is left
// alone.
func TestLostClaim(t *testing.T) {
	y := newYard(t, "pier-1")
	take := func() {
		_, err := y.place.ChangeClaims(func(c *clone.Claims) (bool, error) { c.End("pier-1"); return true, nil })
		if err != nil {
			t.Error(err)
		}
	}
	done, err := y.work(t, "sleep 30", func(r *loop.Request) {
		r.UntilEmpty, r.Once = false, true
		keep := r.Tell
		r.Tell = func(e loop.Event) {
			keep(e)
			if e.Event == loop.EventClaimed {
				time.AfterFunc(100*time.Millisecond, take)
			}
		}
	})
	if err != nil || len(done.Runs) != 1 || done.Runs[0].Outcome != string(clone.OutcomeLost) {
		t.Fatalf("%+v, %v", done, err)
	}
}

// A claim is renewed while checks run, and what runs is ended if the claim is lost.
func TestLostWhileChecksRun(t *testing.T) {
	y := newYard(t, "pier-1")
	text := strings.Replace(y.text(t), "test -f pier-1", "echo >checking; sleep 30", 1)
	if err := os.WriteFile(filepath.Join(y.dir, ".beads", "issues.jsonl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	go func() {
		for t.Context().Err() == nil {
			if _, err := os.Stat(filepath.Join(y.dir, "checking")); err == nil {
				_, _ = y.place.ChangeClaims(func(c *clone.Claims) (bool, error) { c.End("pier-1"); return true, nil })
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	done, err := y.work(t, "echo >pier-1", func(r *loop.Request) { r.UntilEmpty, r.Once = false, true })
	if err != nil || len(done.Runs) != 1 || done.Runs[0].Outcome != string(clone.OutcomeLost) {
		t.Fatalf("%+v, %v", done, err)
	}
}

// A run of a killed loop is completed from any step. An issue is not run again if its command
// had ended, and none is lost.
func TestKilledAtAnyStep(t *testing.T) {
	for _, c := range []struct {
		step    string
		again   bool // the command runs once more
		outcome clone.Outcome
	}{
		{"claimed", true, clone.OutcomeStopped},
		{"started", true, clone.OutcomeStopped},
		{"ended", false, clone.OutcomeClosed},
		{"landed", false, clone.OutcomeClosed},
	} {
		t.Run(c.step, func(t *testing.T) {
			y := newYard(t, "pier-1", "pier-2")
			left := strings.Replace(y.text(t), `"status":"open"`, `"status":"in_progress","assignee":"bo"`, 1)
			if err := os.WriteFile(filepath.Join(y.dir, ".beads", "issues.jsonl"), []byte(left), 0o644); err != nil {
				t.Fatal(err)
			}
			r := clone.Run{ID: "r-left", Actor: "bo", Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon.Add(-time.Minute), Step: c.step,
				Criteria: y.criteria(t), Worktree: y.dir}
			if !c.again {
				r.Ended = noon
				if err := os.WriteFile(filepath.Join(y.dir, "pier-1"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := y.place.RecordRun(r, noon); err != nil {
				t.Fatal(err)
			}
			if _, err := y.work(t, `echo $STIG_ISSUE >>ran; echo >$STIG_ISSUE`, nil); err != nil {
				t.Fatal(err)
			}
			runs := y.runs(t)
			if runs[0].ID != "r-left" || runs[0].Outcome != string(c.outcome) {
				t.Errorf("the run that was left is %s, want %s", runs[0].Outcome, c.outcome)
			}
			ran, _ := os.ReadFile(filepath.Join(y.dir, "ran"))
			if got := strings.Contains(string(ran), "pier-1"); got != c.again || !strings.Contains(string(ran), "pier-2") {
				t.Errorf("ran again: %v, want %v; in all %q", got, c.again, ran)
			}
			if n := strings.Count(y.text(t), `"status":"closed"`); n != 2 {
				t.Errorf("%d issues are closed, want 2\n%s", n, y.text(t))
			}
		})
	}
}

// criteria is the hash of the criteria of pier-1, as a run of the loop records it.
func (y *yard) criteria(t *testing.T) string {
	t.Helper()
	other := newYard(t, "pier-1")
	if _, err := other.work(t, "exit 75", func(r *loop.Request) { r.Once = true }); err != nil {
		t.Fatal(err)
	}
	return other.runs(t)[0].Criteria
}

// Every exit code of a command has an outcome, and only 0 closes an issue.
func TestExitCodes(t *testing.T) {
	for _, code := range []int{1, 2, 75, 126, 127, 128, 130, 137, 143, 255} {
		y := newYard(t, "pier-1")
		done, err := y.work(t, fmt.Sprintf("echo >pier-1; exit %d", code), func(r *loop.Request) { r.Once = true })
		if err != nil || len(done.Runs) != 1 {
			t.Fatalf("exit %d: %+v, %v", code, done, err)
		}
		want := clone.OutcomeFailed
		if code == clone.ExitLater {
			want = clone.OutcomeLater
		}
		if r := done.Runs[0]; r.Exit != code || r.Outcome != string(want) {
			t.Errorf("exit %d: %s, exit %d; want %s", code, r.Outcome, r.Exit, want)
		}
	}
}

// A run that was first delayed by its surroundings counts as one run, also for --once.
func TestOnceAfterAnError(t *testing.T) {
	y := newYard(t, "pier-1", "pier-2")
	store := filepath.Join(y.dir, ".beads", "issues.jsonl")
	y.app.Say = func(_ workspace.Level, text string) {
		if strings.HasSuffix(text, "retrying") {
			_ = os.Rename(store+".kept", store)
		}
	}
	done, err := y.work(t, "mv .beads/issues.jsonl .beads/issues.jsonl.kept; echo >$STIG_ISSUE", func(r *loop.Request) { r.Once = true })
	if err != nil || len(done.Runs) != 1 || done.Runs[0].Outcome != string(clone.OutcomeClosed) || done.Reason != "one run done, as requested by --once" {
		t.Errorf("%+v, %v", done, err)
	}
}

// The command of a run may delete its issue: the loop has then lost it.
func TestIssueIsDeleted(t *testing.T) {
	y := newYard(t, "pier-1")
	done, err := y.work(t, `sed -i.old 's/"status":"in_progress"/"status":"tombstone"/' .beads/issues.jsonl; echo >pier-1`, func(r *loop.Request) { r.Once = true })
	if err != nil || len(done.Runs) != 1 || done.Runs[0].Outcome != string(clone.OutcomeLost) || done.Runs[0].Why != "the issue was deleted" {
		t.Errorf("%+v, %v", done, err)
	}
}

// A loop does not start under a name that cannot leave traces.
func TestNames(t *testing.T) {
	for _, name := range []string{"a\nb", "\xff", "\x1b[31m"} {
		y := newYard(t, "pier-1")
		y.app.Actor = name
		done, err := y.work(t, "echo >pier-1", nil)
		if !fault.Is(err, fault.Usage) || done != nil {
			t.Errorf("%q: %+v, %v", name, done, err)
		}
	}
}

// A killed dream is not mistaken for a run of the loop.
func TestKilledDream(t *testing.T) {
	y := newYard(t)
	if err := y.place.RecordRun(clone.Run{ID: "r-left", Actor: "bo", Task: "dream", Started: noon.Add(-time.Minute)}, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := y.work(t, "true", nil); err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(y.told, "\n"); !strings.HasSuffix(said, ": stig dream was killed") || strings.Contains(said, "goes on after") {
		t.Errorf("told %q", said)
	}
	if r := y.runs(t)[0]; r.Outcome != string(clone.OutcomeStopped) {
		t.Errorf("%+v", r)
	}
}

// TestMergeLast: the result of an issue is its last run in all loops, even if two runs began at
// the same moment.
func TestMergeLast(t *testing.T) {
	asked := &loop.Done{Actor: "a", Runs: []actors.Run{{Issue: "w-1", Attempt: 2, Outcome: "failed", Asked: true}}}
	before := &loop.Done{Actor: "b", Runs: []actors.Run{{Issue: "w-1", Attempt: 1, Outcome: "failed"}}}
	if s := loop.Merge([]*loop.Done{asked, before}).Summary; len(s.Waiting) != 1 || len(s.Failed) != 0 {
		t.Errorf("waiting %v, failed %v; a person was asked at the last attempt", s.Waiting, s.Failed)
	}
	closed := &loop.Done{Runs: []actors.Run{{Issue: "w-1", Task: clone.BestOfTask, Outcome: "closed"}, {Issue: "w-1", Task: clone.BestOfTask, Outcome: "stopped"}}}
	if s := loop.Merge([]*loop.Done{closed}).Summary; len(s.Closed) != 1 || len(s.Failed) != 0 {
		t.Errorf("closed %v, failed %v; of workers side by side one closed the issue", s.Closed, s.Failed)
	}
}
