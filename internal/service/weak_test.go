package service

import (
	"os"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/workspace"
)

// TestWarnOfWeak: a limitation of the file system is reported at the first write to a store,
// and each time if nothing can be saved for the user.
func TestWarnOfWeak(t *testing.T) {
	for state, want := range map[string]int{t.TempDir(): 2, "": 4} {
		var said strings.Builder
		a := &workspace.Run{
			Getenv:  func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] },
			HomeDir: os.UserHomeDir,
			Say:     func(_ workspace.Level, text string) { said.WriteString(text) },
		}
		if state == "" {
			t.Setenv("HOME", "nowhere")
			t.Setenv("LocalAppData", "")
		}
		for _, dir := range []string{t.TempDir(), t.TempDir()} {
			for range 2 {
				a.WarnOfWeak(beads.Place{Dir: dir, Path: dir + "/issues.jsonl"})
			}
		}
		if got := strings.Count(said.String(), "cannot exchange two files"); got != want {
			t.Errorf("said %d times, want %d: %s", got, want, said.String())
		}
	}
}
