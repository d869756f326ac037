package board_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/board"
)

// TestOthers checks that Today shows what waits in other projects, with the command that answers
// there, and which of them cannot be read; and that it does so only if asked.
func TestOthers(t *testing.T) {
	other := t.TempDir()
	for _, name := range []string{"api", "bad"} {
		if err := os.MkdirAll(filepath.Join(other, name, ".beads"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	question := `{"id":"api-1","title":"<b>Port</b>","status":"open","notes":"<!-- escalation-context -->\n## Pending (2026-11-05) by mara\nWhich <i>port</i>?\n<!-- /escalation-context -->"}` + "\n"
	for name, text := range map[string]string{"api": question, "bad": "{\"id\":\n"} {
		if err := os.WriteFile(filepath.Join(other, name, ".beads", "issues.jsonl"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, all := range []bool{true, false} {
		s := serve(t, lines, func(o *board.Options) { o.All = all })
		if err := os.WriteFile(filepath.Join(s.dir, ".stig.cue"), fmt.Appendf(nil, "projects: o: path: %q", filepath.Join(other, "*")), 0o644); err != nil {
			t.Fatal(err)
		}
		s.ask(t, "ann", "Which rope?")
		body := s.browser(t).ready(t, "/")
		for _, part := range []string{"Waits in other projects <span class=\"count\">1</span>", "<b>api</b> &lt;b&gt;Port&lt;/b&gt;", "Which &lt;i&gt;port&lt;/i&gt;?",
			"since 2026-11-05", "stig -C " + filepath.Join(other, "api") + " resolve api-1 -m ANSWER", "bad (" + filepath.Join(other, "bad") + ") cannot be read: .beads/issues.jsonl:1: "} {
			if strings.Contains(body, part) != all {
				t.Errorf("all %v, %q is on the page: %v:\n%s", all, part, !all, body)
			}
		}
		if strings.Count(body, "Which rope?") != 1 {
			t.Errorf("the question of this project is not there once:\n%s", body)
		}
	}
}
