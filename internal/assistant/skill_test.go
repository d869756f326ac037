package assistant

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestSkill checks the skill against the agentskills specification and its maximum size.
func TestSkill(t *testing.T) {
	text := Skill()
	if len(text) > 4000 {
		t.Errorf("%d bytes, at most 4000", len(text))
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
		"0.0 as described", "0.1–0.3 minor", "0.4–0.6 moderate", "0.7–0.9 major", "1.0 nothing as described", "```verify", "Never",
		"clear → shallow", "complicated → standard", "complex → deep", "chaotic → probe",
		"<!-- checkpoint-context -->", "## State estimate (DATE)", "<!-- escalation-context -->", "## Pending (DATE)", "## Resolved (DATE)",
	} {
		if !strings.Contains(body, word) {
			t.Errorf("says nothing of %s", word)
		}
	}
	if n := len(Block()); n > 1000 {
		t.Errorf("the block has %d bytes, at most 1000", n)
	}
}

func TestOrders(t *testing.T) {
	for text, want := range map[string]string{
		"a\n- run `bd close ID`, then rest\n":                    `2 "run ` + "`bd close ID`" + `, then rest" close`,
		"run bd close ID.\nnever bd done ID":                     `1,2 "run bd close ID." close`,
		"bd --db x --json close ID":                              `1 "bd --db x --json close ID" close`,
		"| `br update ID -s closed` |":                           `1 "| ` + "`br update ID -s closed`" + ` |" close`,
		"x `bd\nclose ID`":                                       `1 "x ` + "`bd" + `" close`,
		"bd update ID \\\n  --status=in_progress":                `1 "bd update ID \" claim`,
		"bd update ID --claim --json":                            `1 "bd update ID --claim --json" claim`,
		"bd update ID --notes 'x'":                               `1 "bd update ID --notes 'x'" notes`,
		`{"a":1,"command":"bd prime"}]}]}`:                       `1 "bd prime" brief`,
		`"Bash(bd sync:*)"`:                                      `1 "Bash(bd sync:*)" sync`,
		"a long line that goes on and on before it says bd sync": `1 "…bd sync" sync`,
		"bd closes issues; bd is close; bd ready; abd close x":   "",
		"bd\n\nclose it":                                         "",
		"bd update ID --title 'close'; stig close ID":            "",
		"bd update ID --status open":                             "",
		"`bd` close":                                             "",
	} {
		got := ""
		for _, o := range Orders(text) {
			kind := map[string]string{insteadClose: "close", insteadClaim: "claim", insteadNotes: "notes", insteadSync: "sync", insteadBrief: "brief"}[o.Instead]
			got += strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Lines), " ", ","), "[]") + ` "` + o.Text + `" ` + kind
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
