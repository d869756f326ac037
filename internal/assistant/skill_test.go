package assistant

import (
	"regexp"
	"strings"
	"testing"
)

// TestSkill holds the skill to the agentskills specification and to its size.
func TestSkill(t *testing.T) {
	text := Skill()
	if len(text) > 2500 {
		t.Errorf("%d bytes, at most 2500", len(text))
	}
	front, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(text, "---\n") {
		t.Fatal("no front matter")
	}
	keys := map[string]string{}
	for line := range strings.SplitSeq(front, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok || strings.Contains(value, ": ") || strings.Contains(value, " #") {
			t.Errorf("not plain YAML: %q", line)
		}
		keys[key] = value
	}
	if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(keys["name"]) || keys["name"] != SkillName {
		t.Errorf("name: %q", keys["name"])
	}
	if n := len(keys["description"]); n == 0 || n > 1024 || len(keys) != 2 {
		t.Errorf("keys: %q", keys)
	}
	for _, word := range []string{
		"Orient", "Claim", "Work", "Checkpoint", "Escalate", "Close",
		"0.0 exact", "0.1–0.3 minor", "0.4–0.6 moderate", "0.7–0.9 major", "1.0 nothing as described", "```verify", "Never",
	} {
		if !strings.Contains(body, word) {
			t.Errorf("says nothing of %s", word)
		}
	}
	if n := len(Block()); n > 1000 {
		t.Errorf("the block has %d bytes, at most 1000", n)
	}
}

func TestOverwrites(t *testing.T) {
	for text, want := range map[string]bool{
		"# stigmergic signals\nbd update ID --notes \"$NOTES\"\n":        true,
		"# stigmergic signals\nType `bd update <id> --notes \"...\"`.\n": true,
		"# stigmergic signals\nbd update ID --append-notes x\n":          false,
		"# stigmergic signals\nbd update ID --title x\n":                 false,
		"# bd\nbd update ID --notes x\n":                                 false,
		Skill():                                                          false,
	} {
		if got := Overwrites(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
