package hooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/workspace"
)

func front(t *testing.T) (a *workspace.Run, dir string) {
	t.Helper()
	dir = t.TempDir()
	lines := `{"id":"demo-1","title":"first","status":"open","priority":1,"issue_type":"task"}` + "\n"
	if err := os.MkdirAll(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"STIG_NOW": "2026-11-20T09:00:00Z", "STIG_ACTOR": "mara", "PATH": os.Getenv("PATH")}
	home := func() (string, error) { return dir, nil }
	return &workspace.Run{
		Getenv: func(name string) string { return env[name] }, Env: os.Environ, HomeDir: home, ConfigDir: home,
		Now: time.Now, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { t.Log(text) },
		Ctx: t.Context(), Running: "test", Dir: dir,
	}, dir
}

// inGit turns a directory into a repository with one commit.
func inGit(t *testing.T, dir string) {
	t.Helper()
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=m", "-c", "user.email=m@pier", "commit", "-q", "--allow-empty", "-m", "begin"}} {
		cmd := exec.Command("git", argv...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
