package assistant

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the files of the plugin")

// TestPublishedPlugin: the plugin directory for Claude Code and Codex contains what setup would
// write.
func TestPublishedPlugin(t *testing.T) {
	for name, want := range map[string]string{
		"hooks/hooks.json":                      rowOf(Claude).Whole(),
		"hooks/codex.json":                      rowOf(Codex).Whole(),
		"skills/stig/SKILL.md":                  SkillFile{Name: SkillName}.Whole(),
		"skills/stigmergic-convention/SKILL.md": SkillFile{Name: ConventionName}.Whole(),
		".mcp.json":                             ServerFile{".mcp.json", "mcpServers", `{"command":"stig","args":["mcp"]}`}.Whole(),
	} {
		path := filepath.Join("plugin", filepath.FromSlash(name))
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s is not current: type go test ./internal/assistant -update: %v", path, err)
		}
	}
}
