package clone_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/process"
)

var noonSession = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// registry returns the registry of a new clone without git.
func registry(t *testing.T, above ...process.Ancestor) clone.Registry {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".beads")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	place, err := clone.At(filepath.Join(dir, "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return clone.Registry{Place: place, Now: noonSession, Ancestors: above}
}

func begin(t *testing.T, r clone.Registry, start clone.SessionStart) clone.SessionRecord {
	t.Helper()
	s, err := r.Begin(start)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ancestor is a process that has ended long ago, or never existed.
func ancestor(pid int, name string) process.Ancestor {
	return process.Ancestor{ID: process.ID{PID: pid, Start: fmt.Sprint(pid), Host: "elsewhere"}, Name: name, Group: pid}
}

// TestBegin: a session's name is generated once, extended if it is taken, and kept when the
// session resumes.
func TestBegin(t *testing.T) {
	r := registry(t)
	for _, c := range []struct{ host, id, name, want string }{
		{"claude", "3f2a9c1e", "", "ann/claude-3f2a"},
		{"claude", "3f2a0000", "", "ann/claude-3f2a0"},
		{"gemini", "3f2a9c1e", "", "ann/gemini-3f2a"},
		{"claude", "3f2a9c1e", "", "ann/claude-3f2a"},
		{"codex", "9d1c", "mara", "mara"},
		{"codex", "9d1c", "", "mara"},
	} {
		if s := begin(t, r, clone.SessionStart{Host: c.host, ID: c.id, Owner: "ann", Name: c.name}); s.Name != c.want {
			t.Errorf("%s %s: got %s, want %s", c.host, c.id, s.Name, c.want)
		}
	}
	if n := len(r.Place.Sessions()); n != 4 {
		t.Errorf("%d sessions, want 4", n)
	}
}

// TestHere finds sessions by parent processes. TestLongIDs: long ids of one host leave room for
// others.
func TestLongIDs(t *testing.T) {
	r := registry(t)
	begin(t, r, clone.SessionStart{Host: "claude", ID: "3f2a9c1e", Owner: "ann"})
	long := strings.Repeat("9", 20<<20)
	first := begin(t, r, clone.SessionStart{Host: "codex", ID: long + "1", Owner: "ann"})
	begin(t, r, clone.SessionStart{Host: long, ID: long + "2", Owner: "ann"})
	if _, err := r.Agent(first, long); err != nil {
		t.Error(err)
	}
	if err := r.Hold(first, long, clone.Held{}); err != nil { // this one is not stored
		t.Error(err)
	}
	if all := r.Place.Sessions(); len(all) != 2 || len(r.Place.Unreadable()) > 0 {
		t.Errorf("%d sessions, set aside: %q", len(all), r.Place.Unreadable())
	}
	if _, known := r.Find("claude", "3f2a9c1e"); !known {
		t.Error("a session was lost")
	}
	if _, known := r.Find(long, long+"2"); !known {
		t.Error("a session of a long id is not known again")
	}
}

func TestHere(t *testing.T) {
	outer, inner, shell := ancestor(100, "claude"), ancestor(200, "codex"), ancestor(300, "bash")
	r := registry(t, outer)
	begin(t, r, clone.SessionStart{Host: "claude", ID: "aaaa", Owner: "ann"})
	if s, ok := r.Here(); !ok || s.Name != "ann/claude-aaaa" {
		t.Errorf("%+v, %t", s, ok)
	}
	r.Ancestors = []process.Ancestor{inner, shell, outer}
	begin(t, r, clone.SessionStart{Host: "codex", ID: "bbbb", Owner: "ann"})
	if s, ok := r.Here(); !ok || s.Name != "ann/codex-bbbb" {
		t.Errorf("of two one above the other: %+v, %t", s, ok)
	}
	reused := inner
	reused.Start += "1"
	r.Ancestors = []process.Ancestor{reused, shell, outer}
	if s, ok := r.Here(); !ok || s.Name != "ann/claude-aaaa" {
		t.Errorf("a process with the number of another one is taken for it: %+v, %t", s, ok)
	}
	r.Ancestors = []process.Ancestor{outer}
	begin(t, r, clone.SessionStart{Host: "claude", ID: "cccc", Owner: "ann"})
	if s, ok := r.Here(); ok {
		t.Errorf("of two sessions in one process it is %+v", s)
	}
	begin(t, r, clone.SessionStart{Host: "claude", ID: "dddd", Owner: "ann", Instead: true})
	if s, ok := r.Here(); !ok || s.Name != "ann/claude-dddd" {
		t.Errorf("after the context was cleared: %+v, %t", s, ok)
	}
	r.Ancestors = nil
	if s, ok := r.Here(); ok {
		t.Errorf("where no process is seen it is %+v", s)
	}
}

// TestHostProcess finds the program that ran a hook.
func TestHostProcess(t *testing.T) {
	self, ok := process.Self()
	if !ok {
		self.Group = 0
	}
	hook := func(pid int, name string) process.Ancestor {
		a := ancestor(pid, name)
		a.Group = self.Group
		return a
	}
	for name, c := range map[string]struct {
		above []process.Ancestor
		want  int
	}{
		"by itself":             {[]process.Ancestor{ancestor(10, "claude"), ancestor(9, "bash")}, 10},
		"by a shell":            {[]process.Ancestor{hook(12, "sh"), ancestor(10, "claude")}, 10},
		"by a login shell":      {[]process.Ancestor{hook(13, "bash"), hook(12, "-bash"), ancestor(10, "node")}, 10},
		"a person typed it":     {[]process.Ancestor{ancestor(12, "bash"), ancestor(10, "tmux: server")}, 0},
		"the first process":     {[]process.Ancestor{hook(12, "sh"), ancestor(1, "init")}, 0},
		"nothing can be seen":   {nil, 0},
		"shells and no program": {[]process.Ancestor{hook(12, "sh")}, 0},
	} {
		if got := clone.HostProcess(c.above); got.PID != c.want {
			t.Errorf("%s: got %d, want %d", name, got.PID, c.want)
		}
	}
}

// TestMayTake: a person and their other sessions may take what an ended session left.
func TestMayTake(t *testing.T) {
	r := registry(t)
	self, visible := process.Self()
	if !visible {
		self = ancestor(10, "claude")
	}
	gone := self
	gone.Start += "1" // its process id was reused
	for id, start := range map[string]struct {
		above []process.Ancestor
		seen  time.Duration
	}{
		"run1": {[]process.Ancestor{self}, -48 * time.Hour}, "gone": {[]process.Ancestor{gone}, 0},
		"new1": {nil, -time.Hour}, "old1": {nil, -25 * time.Hour}, "end1": {nil, 0},
	} {
		at := r
		at.Now, at.Ancestors = noonSession.Add(start.seen), start.above
		begin(t, at, clone.SessionStart{Host: "claude", ID: id, Owner: "ann"})
	}
	if err := r.End("claude", "end1"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who, holder string
		want        bool
	}{
		{"ann", "ann/claude-gone", visible}, {"ann/codex-1", "ann/claude-gone", visible}, {"bo", "ann/claude-gone", false},
		{"ann", "ann/claude-gone/2", visible}, {"ann", "ann/claude-run1", false}, {"ann", "ann/claude-run1/2", false},
		{"ann/codex-1", "ann/claude-new1", false}, {"ann/codex-1", "ann/claude-old1", true}, {"ann/codex-1", "ann/claude-end1", true},
		{"ann", "ann/claude-unknown", false}, {"ann/codex-1", "ann", true}, {"bo/codex-1", "ann/claude-end1", false},
	} {
		if got := r.MayTake(c.who, c.holder); got != c.want {
			t.Errorf("%s may take what %s has: %t", c.who, c.holder, got)
		}
	}
}

func TestAgent(t *testing.T) {
	r := registry(t)
	s := begin(t, r, clone.SessionStart{Host: "claude", ID: "aaaa", Owner: "ann"})
	for _, c := range []struct{ id, want string }{{"x", "/1"}, {"y", "/2"}, {"x", "/1"}, {"", "/3"}, {"", "/4"}} {
		if name, err := r.Agent(s, c.id); err != nil || name != "ann/claude-aaaa"+c.want {
			t.Errorf("%q: %s, %v", c.id, name, err)
		}
	}
}

// TestRemind follows one session: it is reminded once of work that changed since it was
// recorded, even by concurrent calls.
func TestRemind(t *testing.T) {
	r := registry(t)
	s := begin(t, r, clone.SessionStart{Host: "claude", ID: "aaaa", Owner: "ann"})
	work := map[string]string{"c1": "", "c2": ""} // since a commit
	claim := func(issue string, due bool, base string) clone.SessionClaim {
		return clone.SessionClaim{Issue: issue, As: s.Name, Due: due, Base: base, Work: func(base string) (string, error) { return work[base], nil }}
	}
	remind := func(want string, claims ...clone.SessionClaim) {
		t.Helper()
		var all sync.WaitGroup
		told := make(chan string, 4)
		for range cap(told) {
			all.Go(func() {
				due, err := r.Remind(s, claims)
				told <- fmt.Sprintln(due, err)
			})
		}
		all.Wait()
		close(told)
		var got []string
		for text := range told {
			if text != "[] <nil>\n" {
				got = append(got, strings.TrimSpace(text))
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
	hold := func(issue string) {
		t.Helper()
		if err := r.Hold(s, issue, clone.Held{As: s.Name, Base: "c1", Work: work["c1"]}); err != nil {
			t.Fatal(err)
		}
	}
	remind("[a] <nil>", claim("a", true, "c1"), claim("b", false, "c1")) // nothing is recorded: by date
	remind("", claim("a", true, "c1"), claim("b", false, "c1"))
	work["c1"] = "file"
	remind("[a b] <nil>", claim("a", true, "c1"), claim("b", false, "c1"))
	remind("", claim("a", true, "c1"), claim("b", false, "c1"))
	work["c1"] = "more"
	hold("a") // a checkpoint
	remind("[b] <nil>", claim("a", false, "c1"), claim("b", false, "c1"))
	remind("", claim("a", false, "c2"), claim("b", false, "c2")) // the checkpointed work is committed
	work["c1"] = "more yet"
	remind("[a b] <nil>", claim("a", false, "c2"), claim("b", false, "c2"))
	work["c1"] = "not looked at any more"
	remind("", claim("a", false, "c2"), claim("b", false, "c2"))
	hold("c") // claimed now, on top of others' work
	remind("", claim("c", true, "c1"))
}

// TestHas: a claim belongs to the session that it was made in, under any name.
func TestHas(t *testing.T) {
	r := registry(t)
	s := begin(t, r, clone.SessionStart{Host: "claude", ID: "aaaa", Owner: "ann"})
	if err := r.Hold(s, "demo-5", clone.Held{As: "opus"}); err != nil {
		t.Fatal(err)
	}
	s, _ = r.Find("claude", "aaaa")
	for _, c := range []struct {
		id, status, assignee string
		want                 bool
	}{
		{"demo-1", "in_progress", "ann/claude-aaaa", true}, {"demo-1", "in_progress", "ann/claude-aaaa/1", true},
		{"demo-1", "open", "ann/claude-aaaa", false}, {"demo-1", "in_progress", "ann/claude-bbbb", false},
		{"demo-1", "in_progress", "ann", false}, {"demo-1", "in_progress", "", false},
		{"demo-5", "in_progress", "opus", true}, {"demo-1", "in_progress", "opus", false}, {"demo-5", "in_progress", "bo", false},
	} {
		if got := r.Has(s, &beads.Issue{ID: c.id, Status: c.status, Assignee: c.assignee}); got != c.want {
			t.Errorf("%s %s of %s: %t", c.id, c.status, c.assignee, got)
		}
	}
}

// TestNothingCanBeWritten: without a writable registry a session still has its name, and gets
// no reminders.
func TestNothingCanBeWritten(t *testing.T) {
	r := registry(t)
	beside := filepath.Join(r.Place.Worktree, ".stig")
	if err := os.WriteFile(beside, nil, 0o600); err != nil { // no directory can be created there
		t.Fatal(err)
	}
	s, err := r.Begin(clone.SessionStart{Host: "claude", ID: "3f2a9c1e", Owner: "ann"})
	if err == nil || s.Name != "ann/claude-3f2a" {
		t.Errorf("%+v, %v", s, err)
	}
	work := func(string) (string, error) { return "", nil }
	if due, err := r.Remind(s, []clone.SessionClaim{{Issue: "demo-1", Due: true, Work: work}}); err == nil || len(due) > 0 {
		t.Errorf("%v, %v", due, err)
	}
	if name, err := r.Agent(s, "x"); err == nil || name != "ann/claude-3f2a/1" {
		t.Errorf("%s, %v", name, err)
	}
}

// TestUnreadable: an unreadable registry is set aside.
func TestUnreadable(t *testing.T) {
	r := registry(t)
	begin(t, r, clone.SessionStart{Host: "claude", ID: "aaaa", Owner: "ann"})
	file := filepath.Join(r.Place.Worktree, ".stig", "sessions.json")
	if err := os.WriteFile(file, []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	begin(t, r, clone.SessionStart{Host: "claude", ID: "bbbb", Owner: "ann"})
	names := []string{}
	for _, s := range r.Place.Sessions() {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"ann/claude-bbbb"}) {
		t.Errorf("%v", names)
	}
	if _, err := os.Stat(file + ".unreadable"); err != nil {
		t.Error(err)
	}
}

// TestRemindMeetsClaim: an issue claimed while its session is about to stop stays recorded; one
// it no longer has is removed.
func TestRemindMeetsClaim(t *testing.T) {
	r := registry(t)
	s := begin(t, r, clone.SessionStart{Host: "claude", ID: "aaaa", Owner: "ann"})
	claims := []clone.SessionClaim{{Issue: "a", As: s.Name, Base: "c1", Work: func(string) (string, error) { return "file", nil }}}
	if err := r.Hold(s, "b", clone.Held{As: s.Name, Base: "c1", Work: "file"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{2, 1} {
		if _, err := r.Remind(s, claims); err != nil {
			t.Error(err)
		}
		if s, _ = r.Find("claude", "aaaa"); len(s.Held) != want {
			t.Errorf("held %v, want %d", s.Held, want)
		}
	}
}
