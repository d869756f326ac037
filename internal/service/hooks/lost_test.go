package hooks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/file"
	"stig/internal/service"
	"stig/internal/testkit/sample"
	"stig/internal/workspace"
	"stig/signals"
)

// write replaces the store with one issue for each id.
func write(t *testing.T, dir string, ids ...string) {
	t.Helper()
	var text strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&text, `{"id":%q,"title":"about %s","status":"open","priority":1,"issue_type":"task","comments":[{"id":1,"author":"ben","text":"said of %s"}]}`+"\n", id, id, id)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// posted returns what a session is told after a tool call.
func posted(t *testing.T, a *workspace.Run, session string) string {
	t.Helper()
	reply := postToolUse(t.Context(), a.Fresh(t.Context(), "hook"), assistant.Claude, assistant.Event{Name: "PostToolUse", Session: session})
	if reply == nil {
		return ""
	}
	var r struct {
		HookSpecificOutput struct{ AdditionalContext, HookEventName string }
	}
	if err := json.Unmarshal(reply, &r); err != nil || r.HookSpecificOutput.HookEventName != "PostToolUse" {
		t.Errorf("reply %s: %v", reply, err)
	}
	return r.HookSpecificOutput.AdditionalContext
}

// TestLossAmongWriters has eight workers write through stig while another program, which locks
// as bd does, drops issues. Each loss is reported once, and nothing else is.
func TestLossAmongWriters(t *testing.T) {
	a, dir := front(t)
	const workers, rounds = 8, 3
	var ids, dropped []string
	for i := range workers {
		ids = append(ids, fmt.Sprint("demo-", i+1))
		dropped = append(dropped, fmt.Sprint("gone-", i+1))
	}
	write(t, dir, slices.Concat(ids, dropped)...)
	inGit(t, dir)
	posted(t, a, "s")

	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() {
			for round := range rounds {
				run := a.Fresh(t.Context(), "test")
				if _, err := service.Comment(t.Context(), run, service.CommentRequest{ID: id, Text: fmt.Sprint("round ", round)}); err != nil {
					t.Error(err)
				}
				run = a.Fresh(t.Context(), "test")
				if _, err := service.SetSignals(t.Context(), run, service.SetSignalsRequest{ID: id, Set: map[signals.Signal]string{signals.Surprise: fmt.Sprint("0.", round+1)}}); err != nil {
					t.Error(err)
				}
				run = a.Fresh(t.Context(), "test")
				on := beads.Dep{On: ids[(i+1)%workers], Type: "related"}
				if _, err := service.Link(t.Context(), run, service.LinkRequest{ID: id, Dep: on}); err != nil {
					t.Error(err)
				}
				run = a.Fresh(t.Context(), "test")
				if _, err := service.Unlink(t.Context(), run, service.LinkRequest{ID: id, Dep: on}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var told strings.Builder
	all.Go(func() {
		for _, id := range dropped {
			drop(t, dir, id)
			told.WriteString(posted(t, a, "s"))
		}
	})
	all.Wait()
	told.WriteString(posted(t, a, "s")) // as at the end of a session
	for _, id := range dropped {
		if n := strings.Count(told.String(), "  "+id+": the issue\n"); n != 1 {
			t.Errorf("%s: said %d times", id, n)
		}
	}
	if strings.Contains(told.String(), "demo-") {
		t.Errorf("said what is not lost:\n%s", told.String())
	}
	recovered, err := service.Recover(t.Context(), a.Fresh(t.Context(), "recover"), service.RecoverRequest{})
	if err != nil || len(recovered.Applied) != len(dropped) {
		t.Errorf("recover: %+v, %v", recovered, err)
	}
	if text := posted(t, a, "s"); text != "" {
		t.Errorf("said after all is back:\n%s", text)
	}
}

// drop removes the line of an issue as bd does, holding its lock.
func drop(t *testing.T, dir, id string) {
	path := filepath.Join(dir, ".beads", "issues.jsonl")
	unlock, err := file.LockFile(filepath.Join(dir, ".beads", ".jsonl.lock"), 10*time.Second)
	if err != nil {
		t.Error(err)
		return
	}
	text, err := os.ReadFile(path)
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, `"id":"`+id+`"`) {
			kept.WriteString(line)
		}
	}
	if err == nil {
		err = file.Replace(path, []byte(kept.String()))
	}
	if err != nil || unlock() != nil {
		t.Error(err)
	}
}

// TestLossOfEachSession: two sessions on one store are each told once.
func TestLossOfEachSession(t *testing.T) {
	a, dir := front(t)
	write(t, dir, "demo-1", "demo-2")
	inGit(t, dir)
	posted(t, a, "one")
	posted(t, a, "two")
	write(t, dir, "demo-1")
	for _, session := range []string{"one", "two"} {
		if text := posted(t, a, session); !strings.Contains(text, "demo-2: the issue") || !strings.Contains(text, "stig recover demo-2 --apply") {
			t.Errorf("%s: %q", session, text)
		}
		if text := posted(t, a, session); text != "" {
			t.Errorf("%s again: %q", session, text)
		}
	}
}

// TestLossWhereNothingCanBeKept: if state cannot be saved, a session is told so once, at its
// start, and every tool call is allowed.
func TestLossWhereNothingCanBeKept(t *testing.T) {
	a, dir := front(t)
	write(t, dir, "demo-1", "demo-2")
	// A file in place of the state directory fails for root, too.
	if err := os.WriteFile(filepath.Join(dir, ".beads", ".stig"), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	var said []string
	a.Say = func(_ workspace.Level, text string) { said = append(said, text) }
	sessionStart(t.Context(), a.Fresh(t.Context(), "hook"), assistant.Claude, assistant.Event{Session: "s"})
	if len(said) != 1 || !strings.Contains(said[0], "does not notice") {
		t.Errorf("at the start: %q", said)
	}
	write(t, dir, "demo-1")
	if text := posted(t, a, "s"); text != "" || len(said) != 1 {
		t.Errorf("after a tool: %q, %q", text, said)
	}
}

// TestNothingIsLostAmongWriters: while four workers write and undo edits, no loss is ever
// reported.
func TestNothingIsLostAmongWriters(t *testing.T) {
	a, dir := front(t)
	ids := []string{"demo-1", "demo-2", "demo-3", "demo-4"}
	write(t, dir, ids...)
	if _, err := service.Comment(t.Context(), a.Fresh(t.Context(), "comment"), service.CommentRequest{ID: ids[0], Text: "first"}); err != nil { // creates the lock
		t.Fatal(err)
	}
	posted(t, a, "s")
	var all sync.WaitGroup
	done := make(chan struct{})
	for i, id := range ids {
		all.Go(func() {
			for range sample.Rounds(1) {
				r := service.LinkRequest{ID: id, Dep: beads.Dep{On: ids[(i+1)%len(ids)], Type: "related"}}
				_, err := service.Link(t.Context(), a.Fresh(t.Context(), "link"), r)
				if err == nil {
					_, err = service.Comment(t.Context(), a.Fresh(t.Context(), "comment"), service.CommentRequest{ID: id, Text: "said"})
				}
				if err == nil {
					_, err = service.Unlink(t.Context(), a.Fresh(t.Context(), "unlink"), r)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { all.Wait(); close(done) }()
	for asked := 0; ; asked++ {
		select {
		case <-done:
			if asked == 0 {
				t.Error("nobody asked")
			}
			return
		default:
		}
		m, err := service.FindLost(t.Context(), a.Fresh(t.Context(), "recover"), nil)
		if err != nil || len(m.Lost) > 0 {
			t.Errorf("lost: %+v, %v", m.Lost, err)
		}
		if text := posted(t, a, "s"); text != "" {
			t.Errorf("a session is told:\n%s", text)
		}
	}
}

// TestToldOnce: if several hooks of one session find the same loss at once, because its tools
// run in parallel, only one reports it.
func TestToldOnce(t *testing.T) {
	for _, gone := range []bool{false, false, false, true, true, true} {
		a, dir := front(t)
		if gone { // outside of git nothing tells where the store was
			inGit(t, dir)
		}
		if _, err := service.Comment(t.Context(), a.Fresh(t.Context(), "comment"), service.CommentRequest{ID: "demo-1", Text: "said"}); err != nil {
			t.Fatal(err)
		}
		posted(t, a, "s")
		if write(t, dir, "demo-2"); gone {
			if err := os.Remove(filepath.Join(dir, ".beads", "issues.jsonl")); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		var told atomic.Int32
		for range 8 {
			all.Go(func() {
				if posted(t, a, "s") != "" {
					told.Add(1)
				}
			})
		}
		if all.Wait(); told.Load() != 1 {
			t.Errorf("gone %t: said %d times", gone, told.Load())
		}
	}
}
