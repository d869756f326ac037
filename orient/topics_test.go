package orient_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stig/orient"
)

// issueWith returns a store of one open issue with additional keys.
func issueWith(t *testing.T, keys map[string]any) string {
	t.Helper()
	line := map[string]any{"id": "q-1", "title": "Find why it hangs", "status": "open", "priority": 2, "issue_type": "task"}
	for key, value := range keys {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// The parts of a probe are found in every text of an issue, in all usual forms, and are
// requested if they are missing.
func TestProbeParts(t *testing.T) {
	tests := []struct{ text, missing string }{
		{"## Hypothesis\n\nthe lock is held\n\n## Smallest intervention\nrun without it\n", "feedback, stabilised when"},
		{"**Hypothesis**: the lock\n**Test**: run it\n**Expected**: it ends\n**Stable when**: an hour", ""},
		{"- Hypothesis: the lock\n- Test: run it\n- Feedback: the log\n- Stable when: an hour", ""},
		{"1. Hypothesis - the lock\n2. Experiment - run it", "feedback, stabilised when"},
		{"Hypothesis\n----------\n\nthe lock\n\nFeedback\n========\n\nthe log", "smallest intervention, stabilised when"},
		{"### 1. Working hypothesis (second)\nthe lock", "smallest intervention, feedback, stabilised when"},
		{"__Hypothesis:__ the lock", "smallest intervention, feedback, stabilised when"},
		{"**Hypothesis**\n\nthe lock", "smallest intervention, feedback, stabilised when"},
		{"> HYPOTHESIS: the lock", "smallest intervention, feedback, stabilised when"},
		{"Hypothesis:\n\n- the lock\n- or the log\n", "smallest intervention, feedback, stabilised when"},
		{"```\nHypothesis: in code\n```", "hypothesis, smallest intervention, feedback, stabilised when"},
		{"## Hypothesis\n\n## Feedback\nthe log", "hypothesis, smallest intervention, stabilised when"},
		{"The test: it hangs in the hypothesis of nobody.", "hypothesis, smallest intervention, feedback, stabilised when"},
	}
	for _, test := range tests {
		for _, text := range []string{test.text, strings.ReplaceAll(test.text, "\n", "\r\n")} {
			estimate := "<!-- checkpoint-context -->\n## State estimate (2026-11-20)\n\n" + text + "\n<!-- /checkpoint-context -->"
			comment := []map[string]any{{"id": 1, "author": "ann", "text": text}}
			for _, keys := range []map[string]any{{"description": text}, {"design": text}, {"notes": text}, {"notes": estimate}, {"comments": comment}} {
				b := brief(t, held(t, issueWith(t, keys)), "q-1", orient.Request{Depth: "probe"})
				asked, _, _ := strings.Cut(strings.TrimPrefix(b.Directive, "Not written down: "), ". Before")
				if asked == b.Directive {
					asked = ""
				}
				if asked != test.missing {
					t.Errorf("%q: asks for %q", keys, asked)
				}
				if n := strings.Count(b.Markdown(), "the lock"); n > 1 {
					t.Errorf("%q: said %d times", keys, n)
				}
			}
		}
	}
}

// If a text says how an issue is verified, the briefing names the place and does not say that
// there is nothing.
func TestCriteriaBeside(t *testing.T) {
	for _, text := range []string{
		"## How to verify\n\nrun it", "Verification: run it", "Test plan\n=========\nrun it", "### Verification steps (manual)\n- run it",
		"Validation checklist:\n- it works\n", "- [ ] it works\n- [x] it is quick", "**Test plan:**\n1. run it",
	} {
		for _, field := range []string{"description", "design", "notes"} {
			b := brief(t, held(t, issueWith(t, map[string]any{field: text})), "q-1", orient.Request{})
			if b.Acceptance.Text == "" && (len(b.Acceptance.Beside) == 0 || !strings.Contains(b.Markdown(), field)) {
				t.Errorf("%s %q:\n%s", field, text, b.Markdown())
			}
		}
	}
	for _, key := range []string{"acceptance_tests", "verification", "testPlan", "done-when", "success_criteria"} {
		for _, keys := range []map[string]any{{key: []string{"run it twice"}}, {"metadata": map[string]any{key: "run it twice"}}} {
			text := brief(t, held(t, issueWith(t, keys)), "q-1", orient.Request{}).Markdown()
			if strings.Count(text, "run it twice") != 1 || strings.Contains(text, "none") {
				t.Errorf("%v:\n%s", keys, text)
			}
		}
	}
	for _, text := range []string{"To verify this, look.", "## Verification\n\n## Notes\nx", "```\nVerification: x\n```", "- [ ]"} {
		if b := brief(t, held(t, issueWith(t, map[string]any{"description": text})), "q-1", orient.Request{}); len(b.Acceptance.Beside) > 0 {
			t.Errorf("%q: %v", text, b.Acceptance.Beside)
		}
	}
}

// Parsing labels takes linear time for hostile texts.
func TestProbeHostile(t *testing.T) {
	for _, text := range []string{strings.Repeat("a:\n", 100_000), strings.Repeat("# a\n", 100_000), strings.Repeat("- a: b\n  ", 100_000), strings.Repeat("**", 300_000)} {
		brief(t, held(t, issueWith(t, map[string]any{"notes": text})), "q-1", orient.Request{Depth: "probe", Budget: orient.BriefingBudget})
	}
	var deep strings.Builder
	for k := range 2000 {
		fmt.Fprintf(&deep, "%s- a:\n", strings.Repeat(" ", k))
	}
	brief(t, held(t, issueWith(t, map[string]any{"notes": deep.String()})), "q-1", orient.Request{Depth: "probe", Budget: orient.BriefingBudget})
}
