//go:build e2e && linux

package hosts_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// trustCodex approves the project's hooks, as a person does with /hooks: it asks codex
// app-server for them, and writes their hashes to the configuration.
func trustCodex(t *testing.T, s *session) {
	t.Helper()
	hooks := s.codexHooks(t)
	if len(hooks) == 0 {
		t.Fatal("codex lists no hooks")
	}
	text := s.read(filepath.Join(s.home, ".codex", "config.toml"))
	for _, hook := range hooks {
		text += fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", hook.Key, hook.CurrentHash)
	}
	s.write(t, filepath.Join(s.home, ".codex", "config.toml"), text)
	for _, hook := range s.codexHooks(t) {
		if hook.TrustStatus != "trusted" {
			t.Fatalf("%s: %s", hook.Key, hook.TrustStatus)
		}
	}
}

type codexHook struct{ Key, CurrentHash, TrustStatus string }

// codexHooks returns the hooks that codex knows in the project.
func (s *session) codexHooks(t *testing.T) (hooks []codexHook) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.executable(), "app-server")
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, s.environ(), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, message := range []object{
		{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": object{"clientInfo": object{"name": "hosttest", "version": "1"}}},
		{"jsonrpc": "2.0", "method": "initialized"},
		{"jsonrpc": "2.0", "id": 2, "method": "hooks/list", "params": object{"cwds": []any{s.dir}}},
	} {
		fmt.Fprintln(in, compact(message))
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var answer struct {
			ID     int
			Result struct {
				Data []struct{ Hooks []codexHook }
			}
		}
		if json.Unmarshal(lines.Bytes(), &answer) == nil && answer.ID == 2 {
			for _, d := range answer.Result.Data {
				hooks = append(hooks, d.Hooks...)
			}
			break
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return hooks
}
