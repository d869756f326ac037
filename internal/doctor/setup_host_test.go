package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stig/internal/assistant"
	"stig/internal/workspace"
)

// TestSettingsOfAnother: setup does not overwrite what another program wrote since the settings
// were read, whether it creates, changes or removes them.
func TestSettingsOfAnother(t *testing.T) {
	const theirs = `{"model":"big"}`
	for name, before := range map[string]string{"made": "", "changed": "{}", "removed": assistant.AllSettings()[0].Whole()} {
		dir := t.TempDir()
		file := workspace.HostFile{Path: filepath.Join(dir, "settings.json"), Root: dir}
		if before != "" {
			if err := os.WriteFile(file.Path, []byte(before), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		settings := hostFiles{{assistant.Claude, assistant.AllSettings()[0], file}}
		plan := settings.Install
		if name == "removed" {
			plan = settings.Remove
		}
		steps, err := plan(t.Context())
		if err != nil || len(steps) != 1 {
			t.Fatalf("%s: %d steps: %v", name, len(steps), err)
		}
		if out, err := exec.Command("sh", "-c", "printf %s '"+theirs+"' >"+file.Path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := steps[0].Do(); err == nil || workspace.Classify(err).Code != workspace.ExitConflict {
			t.Errorf("%s: %v", name, err)
		}
		entries, err := os.ReadDir(dir)
		if text, _ := file.Read(); string(text) != theirs || len(entries) != 1 || err != nil {
			t.Errorf("%s: %d files, and in it %s: %v", name, len(entries), text, err)
		}
	}
}
