package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/cmd/stig/cli"
	"stig/cue"
	"stig/internal/assistant"
	"stig/internal/service/hooks"
	"stig/internal/workspace"
)

// hookApp answers a hook in a directory, with an event on standard input.
func hookApp(dir, actor string, event []byte, out *bytes.Buffer) *cli.App {
	env := map[string]string{"STIG_ACTOR": actor, "STIG_NOW": "2026-11-20T09:00:00Z"}
	return cli.Front(bytes.NewReader(event), out, new(bytes.Buffer), &workspace.Run{
		Getenv: func(name string) string { return env[name] }, Env: os.Environ, HomeDir: os.UserHomeDir, ConfigDir: os.UserConfigDir, Now: time.Now, Schema: cue.Embedded(),
	})
}

// hookReply runs a hook and returns its answer: nothing, or one JSON object on a line.
func hookReply(t *testing.T, dir, actor string, event []byte, args ...string) map[string]any {
	t.Helper()
	var out bytes.Buffer
	a := hookApp(dir, actor, event, &out)
	if code := a.Execute(t.Context(), command(a), append([]string{"-C", dir, "hook"}, args...)); code != 0 {
		t.Fatalf("hook %v: exit %d for %q", args, code, event)
	}
	if out.Len() == 0 {
		return nil
	}
	object := map[string]any{}
	if err := json.Unmarshal(out.Bytes(), &object); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("hook %v: %q for %q: %v", args, out.Bytes(), event, err)
	}
	return object
}

func hookStore(t testing.TB, lines string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSessionStartFits checks that the text for a session's start fits the limit, counted as
// the hosts do, whatever the issues contain.
func TestSessionStartFits(t *testing.T) {
	rare := strings.Repeat("🚢 ", 6000)
	line := func(id, title, description, assignee string) string {
		text, err := json.Marshal(map[string]string{"id": id, "title": title, "description": description, "status": "in_progress", "issue_type": "task", "assignee": assignee})
		if err != nil {
			t.Fatal(err)
		}
		return string(text) + "\n"
	}
	var many strings.Builder
	for i := range 400 {
		many.WriteString(line(fmt.Sprintf("demo-%d", i), strings.Repeat("🚢", 60), rare[:100], "bo"))
	}
	for name, lines := range map[string]string{
		"long description":    line("demo-1", "a", rare, "ann"),
		"of two bytes each":   line("demo-1", "a", strings.Repeat("вода ", 4000), "ann"),
		"title of any length": line("demo-1", rare, "b", "ann"),
		"controls":            line("demo-1", "a", strings.Repeat("\x1b[2J\x00", 3000), "ann"),
		"survey":              many.String(),
	} {
		for _, h := range []assistant.Host{assistant.Claude, assistant.Codex} {
			t.Run(name+" "+string(h), func(t *testing.T) {
				reply := hookReply(t, hookStore(t, lines), "ann", nil, "session-start", "--host", string(h))
				text, _ := reply["hookSpecificOutput"].(map[string]any)["additionalContext"].(string)
				if n := h.Length(text); n == 0 || n > hooks.ContextLimit {
					t.Errorf("%d characters, want 1 to %d", n, hooks.ContextLimit)
				}
				if !strings.Contains(text, "demo-1") {
					t.Errorf("nothing of the issues is left: %q", text)
				}
				if strings.ContainsAny(text, "\x1b\x00") {
					t.Error("control characters get through")
				}
			})
		}
	}
}

// TestStopRemindsOnce asks many times at once; only one gets the reminder.
func TestStopRemindsOnce(t *testing.T) {
	dir := hookStore(t, `{"id":"demo-1","title":"a","status":"in_progress","assignee":"ann"}`+"\n")
	runGit(t, dir, "init", "-q")
	told := make(chan bool, 8)
	var all sync.WaitGroup
	for range cap(told) {
		all.Go(func() {
			var out bytes.Buffer
			a := hookApp(dir, "ann", []byte(`{"session_id":"../../1"}`), &out)
			a.Execute(t.Context(), command(a), []string{"-C", dir, "hook", "stop"})
			told <- out.Len() > 0
		})
	}
	all.Wait()
	close(told)
	n := 0
	for was := range told {
		if was {
			n++
		}
	}
	if n != 1 {
		t.Errorf("reminded %d times", n)
	}
	if reply := hookReply(t, dir, "ann", []byte(`{"session_id":"2"}`), "stop"); reply["decision"] != "block" {
		t.Errorf("another session is not reminded: %v", reply)
	}
	if reply := hookReply(t, dir, "ann", []byte(`{}`), "stop"); reply != nil {
		t.Errorf("a session without a name is reminded: %v", reply)
	}
	if reply := hookReply(t, dir, "bo", []byte(`{"session_id":"3"}`), "stop"); reply != nil {
		t.Errorf("who holds nothing is reminded: %v", reply)
	}
}

// TestHookActsWhereTheSessionWorks starts the hook in another directory, as programs with
// several projects do, and gives file names relative to the session's.
func TestHookActsWhereTheSessionWorks(t *testing.T) {
	dir := hookStore(t, `{"id":"demo-1","title":"a","status":"in_progress","assignee":"ann"}`+"\n")
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	runGit(t, dir, "init", "-q")
	t.Chdir(t.TempDir())
	for event, says := range map[string]string{
		"session-start": "demo-1",
		"stop":          "demo-1",
		"pre-tool-use":  "bypassing stig",
	} {
		for _, keys := range []map[string]any{
			{"cwd": below, "tool_name": "Edit", "tool_input": map[string]any{"file_path": "../.beads/issues.jsonl"}},
			{"cwd": below, "tool_name": "Bash", "tool_input": map[string]any{"command": "sed -i s/a/b/ ../.beads/issues.jsonl"}},
			{"workspace_roots": []string{dir}, "tool_name": "Edit", "tool_input": map[string]any{"file_path": dir + "/.beads/issues.jsonl"}},
		} {
			keys["session_id"] = fmt.Sprint(event, keys)
			text, err := json.Marshal(keys)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			a := hookApp("", "ann", text, &out)
			a.Execute(t.Context(), command(a), []string{"hook", event})
			if !strings.Contains(out.String(), says) {
				t.Errorf("%s: %s: %q", event, text, out.String())
			}
		}
	}
}

// TestHooksWriteOnlyWhereSaid compares every file, including git's own, before and after each
// hook.
func TestHooksWriteOnlyWhereSaid(t *testing.T) {
	dir := hookStore(t, `{"id":"demo-1","title":"a","status":"in_progress","assignee":"ann","acceptance_criteria":"`+"```verify\\ntrue\\n```"+`"}`+"\n")
	gate := filepath.Join(dir, "gate.txt")
	if err := os.WriteFile(gate, []byte("open"), 0o644); err != nil {
		t.Fatal(err)
	}
	runGit(t, dir, "init", "-q")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-q", "-m", "begin")
	a := hookApp(dir, "ann", nil, new(bytes.Buffer))
	trusting := a.Getenv
	a.Getenv = func(name string) string {
		if name == "STIG_TRUST" {
			return "1"
		}
		return trusting(name)
	}
	if code := a.Execute(t.Context(), command(a), []string{"-C", dir, "verify", "demo-1"}); code != 0 {
		t.Fatalf("verify: exit %d", code)
	}
	touched := time.Now().Add(-time.Hour) // git status would like to write that to its index
	if err := os.Chtimes(gate, touched, touched); err != nil {
		t.Fatal(err)
	}
	event := []byte(`{"session_id":"1","tool_name":"Bash","tool_input":{"command":"bd close demo-1"}}`)
	for _, hook := range []struct{ name, writes, also string }{
		{"session-start", ".git/stig/", "-"}, // the status of the store
		{"pre-tool-use", "", "-"},
		{"post-tool-use", "", "-"},
		{"stop", ".git/stig/sessions.", "-"},
		{"session-end", ".git/stig/sessions.", "-"},
		{"pre-compact", ".beads/", ".git/stig/"}, // an edit, which is in the journal
	} {
		before := files(t, dir)
		hookReply(t, dir, "ann", event, hook.name)
		changed := 0
		for name, content := range files(t, dir) {
			if had, ok := before[name]; ok && had == content {
				continue
			}
			changed++
			if name == ".git/info/exclude" && hook.also == ".git/stig/" {
				continue // the first edit makes git ignore the lock file
			}
			if hook.writes == "" || !strings.HasPrefix(name, hook.writes) && !strings.HasPrefix(name, hook.also) {
				t.Errorf("%s writes %s", hook.name, name)
			}
		}
		if hook.writes != "" && changed == 0 {
			t.Errorf("%s writes nothing", hook.name)
		}
	}
}

// files returns every file below a directory with its content.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestHookSurvivesItself: a panic in the hook must not end the process as panics do, with exit
// code 2.
func TestHookSurvivesItself(t *testing.T) {
	dir := hookStore(t, `{"id":"demo-1","title":"a","status":"in_progress","assignee":"ann","notes":"<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| surprise | x | 2026-11-20 |\n<!-- /stigmergic-signals -->"}`+"\n")
	var out bytes.Buffer
	a := hookApp(dir, "ann", nil, &out)
	a.Schema = cue.New("broken.cue", []byte("{")) // compiling it panics
	if code := a.Execute(t.Context(), command(a), []string{"-C", dir, "hook", "session-start"}); code != 0 || out.Len() > 0 {
		t.Errorf("exit %d, %q", code, out.Bytes())
	}
}

// FuzzPreToolUse passes commands to the hook: it answers nothing or one JSON object, exits with
// 0, and does not change the store.
func FuzzPreToolUse(f *testing.F) {
	for _, command := range []string{
		"bd close demo-1", "sh -c 'bd close demo-1'", "echo '{}' >> .beads/issues.jsonl", "git commit -m 'bd close demo-1'",
		"bd close \xff\xfe", "bd close \"$(cat <<E\nE\n)\"", "bd close 'a\x00b' \u2028", "cd .. && rm -rf .beads", "",
	} {
		f.Add(command)
	}
	lines := `{"id":"demo-1","title":"a","status":"open"}` + "\n"
	dir := hookStore(f, lines)
	f.Fuzz(func(t *testing.T, command string) {
		event, err := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": command}})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range assistant.Hosts() {
			hookReply(t, dir, "ann", event, "pre-tool-use", "--host", string(h))
			hookReply(t, dir, "ann", []byte(command), "pre-tool-use", "--host", string(h))
		}
		if text, err := os.ReadFile(filepath.Join(dir, ".beads", "issues.jsonl")); err != nil || string(text) != lines {
			t.Errorf("the store is %q, %v", text, err)
		}
	})
}
