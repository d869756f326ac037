//go:build e2e && unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/testkit/sample"
)

// hostileLimit is the processor time that a command may take if every text of an issue is 200
// kB made to keep it busy.
const hostileLimit = 5 * time.Second

// TestHostileStores puts a hostile text into every text of an issue at once, for a third of
// these texts. It runs check on each, and the next command of the rotation. It takes some two
// minutes.
func TestHostileStores(t *testing.T) {
	rotation := [][]string{
		{"vet"}, {"lint"}, {"orient"}, {"orient", "pier-1", "--depth", "deep"}, {"orient", "pier-1", "--full"}, {"show", "pier-1"}, {"verify", "pier-1", "--plan"}, {"ready"}, {"next"},
		{"list", "--all"}, {"graph"}, {"digest", "pier-1"}, {"recall", "word"}, {"search", "word"}, {"review", "pier-1"}, {"rollup", "pier-0"},
		{"merge", "base.jsonl", ".beads/issues.jsonl", "other.jsonl", "-o", "-"}, {"diff", "--files", "base.jsonl", "other.jsonl"},
		{"inbox"}, {"retro"}, {"claim", "pier-1", "--dry-run"}, {"close", "pier-1", "--reason", "It stands and holds", "--dry-run"}, {"mcp"},
	}
	for i, text := range sample.Hostile(200 << 10) {
		if i%3 > 0 {
			continue
		}
		dir := hostileStore(t, strings.ToValidUTF8(text.Text, "?"))
		for _, args := range [][]string{{"check"}, rotation[i/3%len(rotation)]} {
			if why := endures(dir, args); why != "" {
				t.Errorf("%s: stig %s %s", text.Name, strings.Join(args, " "), why)
			}
		}
	}
}

// hostileStore creates a store and two other versions of it.
func hostileStore(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	issue := func(id string, more map[string]any) string {
		line := map[string]any{"id": id, "title": id, "status": "open", "issue_type": "task", "priority": 2, "created_at": "2026-11-01T09:00:00Z", "updated_at": "2026-11-01T09:00:00Z"}
		for key, value := range more {
			line[key] = value
		}
		raw, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw) + "\n"
	}
	store := func(said string) string {
		hostile := map[string]any{
			"title": said + text, "description": "## Acceptance\n\n" + said + text, "design": text, "acceptance_criteria": text,
			"notes":  "<!-- checkpoint-context -->\n## State estimate (2026-11-01)\n\n**What was done**: " + said + text + "\n<!-- /checkpoint-context -->\n\n" + text,
			"labels": []string{text}, "metadata": map[string]string{"a": text}, "unknown": text,
			"comments":     []any{map[string]any{"id": 1, "author": "m", "text": said + text, "created_at": "2026-11-01T09:00:00Z"}},
			"dependencies": []any{map[string]any{"issue_id": "pier-1", "depends_on_id": "pier-2", "type": "blocks"}, map[string]any{"issue_id": "pier-1", "depends_on_id": "pier-0", "type": "parent-child"}},
		}
		lines := issue("pier-0", map[string]any{"issue_type": "epic"}) + issue("pier-1", hostile)
		hostile["status"], hostile["close_reason"], hostile["closed_at"] = "closed", text, "2026-11-02T09:00:00Z"
		delete(hostile, "dependencies")
		return lines + issue("pier-2", hostile)
	}
	for name, text := range map[string]string{"base.jsonl": store(""), ".beads/issues.jsonl": store("ann "), "other.jsonl": store("bo ")} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// endures returns what is wrong with how a stig process ends; "" if nothing.
func endures(dir string, args []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Args[0], cmd.Dir = "stig", dir
	cmd.Env = append(os.Environ(), "STIG_NOW=2026-11-20T09:00:00Z", "STIG_ACTOR=mara")
	if args[0] == "mcp" {
		cmd.Stdin = strings.NewReader(hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"orient","arguments":{"id":"pier-1"}}}` + "\n")
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); cmd.ProcessState == nil {
		return err.Error()
	}
	state := cmd.ProcessState
	switch took := state.UserTime() + state.SystemTime(); {
	case !state.Exited(), state.ExitCode() == 2 && args[0] != "close", strings.Contains(said.String(), "goroutine "):
		return fmt.Sprintf("ends with %v: %.300s", state, said.String())
	case took > hostileLimit:
		return fmt.Sprintf("took %v", took)
	}
	return ""
}
