package actors_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/clone"
	"stig/internal/loop/actors"
	"stig/internal/process"
	"stig/internal/workspace"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// front returns a run on a new store with one issue, its place, and its clock.
func front(t testing.TB) (a *workspace.Run, place clone.Place, now *time.Time) {
	t.Helper()
	dir, clock := t.TempDir(), noon
	line := `{"id":"pier-1","title":"Fix it","status":"in_progress","assignee":"dee","priority":1,"issue_type":"task"}` + "\n"
	store := filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(store), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	place, err := clone.At(store)
	if err != nil {
		t.Fatal(err)
	}
	home := func() (string, error) { return dir, nil }
	return &workspace.Run{
		Getenv: func(name string) string {
			return map[string]string{"STIG_ACTOR": "ann", "PATH": os.Getenv("PATH")}[name]
		}, Env: os.Environ,
		HomeDir: home, ConfigDir: home, Now: func() time.Time { return clock }, Schema: cue.Embedded(),
		Say: func(_ workspace.Level, text string) { t.Log(text) }, Ctx: t.Context(), Running: "test", Dir: dir,
	}, place, &clock
}

func put(t *testing.T, place clone.Place, name string, change func(*clone.Presence)) {
	t.Helper()
	err := place.ChangePresence(name, func(p *clone.Presence) bool {
		change(p)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestState: a state that was set takes precedence over what is observed, until it expires.
func TestState(t *testing.T) {
	self, _ := process.Self()
	gone := self.ID
	gone.Start += "1"
	elsewhere := self.ID
	elsewhere.Host += "x"
	runs := func(outcomes ...string) (list []clone.Run) {
		for i, o := range outcomes {
			at := noon.Add(time.Duration(i-len(outcomes)) * time.Minute)
			list = append(list, clone.Run{ID: fmt.Sprint("r-", i), Actor: "bo", Started: at, Ended: at.Add(time.Second), Outcome: o, Issue: "pier-1"})
		}
		return list
	}
	for _, c := range []struct {
		name string
		p    clone.Presence
		runs []clone.Run
		want string
	}{
		{"seen now", clone.Presence{Seen: noon}, nil, "active"},
		{"a person", clone.Presence{Seen: noon, Kind: "human"}, nil, "active_human"},
		{"an agent", clone.Presence{Seen: noon, Kind: "agent"}, nil, "active"},
		{"named by its runs", clone.Presence{Seen: noon}, runs("closed"), "active"},
		{"a minute ago", clone.Presence{Seen: noon.Add(-time.Minute), Kind: "agent"}, nil, "inactive"},
		{"its loop runs", clone.Presence{Seen: noon.Add(-59 * time.Second), Kind: "agent", Process: self.ID}, nil, "active"},
		{"its loop ended", clone.Presence{Seen: noon, Kind: "agent", Process: gone}, nil, "inactive"},
		{"its loop is elsewhere", clone.Presence{Seen: noon, Kind: "agent", Process: elsewhere}, nil, "active"},
		{"the clock was set back", clone.Presence{Seen: noon.Add(time.Hour), Kind: "agent"}, nil, "inactive"},
		{"healthy", clone.Presence{Seen: noon, Kind: "agent", State: clone.Healthy}, nil, "active"},
		{"paused", clone.Presence{Seen: noon, State: clone.Paused}, nil, "paused"},
		{"dead", clone.Presence{State: clone.Dead}, runs("failed", "failed", "failed"), "dead"},
		{"until later", clone.Presence{Seen: noon, State: clone.Maintenance, Until: noon.Add(time.Second)}, nil, "maintenance"},
		{"until now", clone.Presence{Seen: noon, State: clone.Maintenance, Until: noon}, nil, "active"},
		{"three failed", clone.Presence{Seen: noon}, runs("failed", "timed-out", "silent"), "error"},
		{"three of many", clone.Presence{Seen: noon}, runs("closed", "failed", "timed-out", "silent"), "error"},
		{"two failed", clone.Presence{Seen: noon}, runs("failed", "closed", "failed", "failed"), "active"},
		{"nobody's fault", clone.Presence{Seen: noon}, runs("failed", "failed", "later", "stopped", "failed", ""), "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, place, _ := front(t)
			put(t, place, "bo", func(p *clone.Presence) {
				c.p.Changes = p.Changes
				*p = c.p
				p.Name = "bo"
			})
			for _, r := range c.runs {
				if r.Outcome == "" {
					r.Ended = time.Time{}
				}
				if err := place.RecordRun(r, noon); err != nil {
					t.Fatal(err)
				}
			}
			shown, err := actors.Show(a, "bo")
			if err != nil || shown.Actor.State != c.want {
				t.Errorf("%v, %+v", err, shown)
			}
		})
	}
}

// TestSignOfLife: signs are counted, the first is kept, and actors not seen for long are
// removed.
func TestSignOfLife(t *testing.T) {
	a, place, now := front(t)
	put(t, place, "old", func(p *clone.Presence) { p.First, p.Seen = noon.AddDate(-1, 0, 0), noon.AddDate(-1, 0, 0) })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := actors.SignOfLife(a.Fresh(t.Context(), "work"), "bo", func(p *clone.Presence) { p.Boots++ }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	*now = noon.Add(20 * time.Second)
	if err := actors.SignOfLife(a, "bo", nil); err != nil {
		t.Fatal(err)
	}
	self, _ := process.Self()
	p, ok := place.Presence("bo")
	if !ok || p.Signs != 5 || p.Boots != 4 || !p.First.Equal(noon) || !p.Seen.Equal(*now) || p.Process != self.ID {
		t.Errorf("%+v", p)
	}
	if _, ok := place.Presence("old"); ok {
		t.Error("who was not seen for a year is still known")
	}
}

// TestLease: the issue in hand is shown with the time left on its claim.
func TestLease(t *testing.T) {
	a, place, _ := front(t)
	_, err := place.ChangeClaims(func(c *clone.Claims) (bool, error) {
		c.Leases = []clone.Lease{{Issue: "pier-0", Actor: "dee", Until: noon.Add(time.Hour)}, {Issue: "pier-1", Actor: "dee", Until: noon.Add(8 * time.Minute)}}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := actors.List(a, actors.ListRequest{})
	if err != nil || len(listed.Actors) != 1 {
		t.Fatal(err, listed)
	}
	if one := listed.Actors[0]; one.Name != "dee" || one.Issue != "pier-1" || one.Left != 480 || !one.Lease.Equal(noon.Add(8*time.Minute)) {
		t.Errorf("%+v", one)
	}
}

// TestFollow: following a log stops when the run ends, and on an interrupt.
func TestFollow(t *testing.T) {
	a, place, _ := front(t)
	self, _ := process.Self()
	log := filepath.Join(t.TempDir(), "log")
	run := clone.Run{ID: "r-1", Actor: "bo", Task: "issue", Issue: "pier-1", Started: noon, Loop: self.ID, Log: log}
	write := func(text string) {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
			_ = f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
	if err := place.RecordRun(run, noon); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	var first bytes.Buffer
	if got, err := actors.Log(stopped, a, actors.LogRequest{Name: "bo", Follow: true}, &first); err != context.Canceled || !got.Running || first.Len() > 0 {
		t.Fatalf("before the program started: %v, %+v, %q", err, got, first.String())
	}
	write("one\n")
	if got, err := actors.Log(stopped, a, actors.LogRequest{Name: "bo", Follow: true}, &first); err != context.Canceled || !got.Running || first.String() != "one\n" {
		t.Fatalf("%v, %+v, %q", err, got, first.String())
	}
	seen := &until{text: "one\n", then: func() {
		write("two\n")
		run.Ended, run.Outcome = noon.Add(time.Second), "closed"
		if err := place.RecordRun(run, noon); err != nil {
			t.Error(err)
		}
	}}
	got, err := actors.Log(t.Context(), a, actors.LogRequest{Name: "bo", Follow: true}, seen)
	if err != nil || got.Running || got.Outcome != "closed" || seen.all.String() != "one\ntwo\n" {
		t.Errorf("%v, %+v, %q", err, got, seen.all.String())
	}
}

// until calls then once after a given text was written.
type until struct {
	all  bytes.Buffer
	text string
	then func()
}

func (u *until) Write(text []byte) (int, error) {
	n, err := u.all.Write(text)
	if u.then != nil && strings.HasSuffix(u.all.String(), u.text) {
		u.then()
		u.then = nil
	}
	return n, err
}

// TestPauseMeetsKill: a dead actor stays dead even if another process is about to pause or
// drain it.
func TestPauseMeetsKill(t *testing.T) {
	for name, tell := range map[string]func(context.Context, *workspace.Run, actors.WorkerRequest) (*actors.Worker, error){"pause": actors.Pause, "drain": actors.Drain} {
		a, place, _ := front(t)
		put(t, place, "bo", func(p *clone.Presence) { p.State = clone.Healthy })
		home := a.HomeDir
		a.HomeDir = func() (string, error) { // called after its state was read
			put(t, place, "bo", func(p *clone.Presence) { p.State = clone.Dead })
			return home()
		}
		w, err := tell(t.Context(), a, actors.WorkerRequest{Name: "bo"})
		if is, _ := place.Presence("bo"); err != nil || w.State != clone.Dead || is.State != clone.Dead {
			t.Errorf("%s: told %+v, is %q, %v", name, w, is.State, err)
		}
	}
}

// TestEditTogether: concurrent edits of one actor's file are all applied.
func TestEditTogether(t *testing.T) {
	a, place, _ := front(t)
	path := filepath.Join(place.Worktree, "..", ".stig", "actors", "bo.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("---\nname: bo\nkind: agent\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			text := fmt.Sprint("builds part ", i)
			if _, err := actors.Edit(t.Context(), a.Fresh(t.Context(), "test"), actors.EditRequest{Name: "bo", Description: &text}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), ": description: builds part ") != 6 {
		t.Errorf("%s, %v", text, err)
	}
}
