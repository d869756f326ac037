package checkpoint_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/internal/fault"
)

// TestParsePlanRefuses lists invalid plans with the line at fault.
func TestParsePlanRefuses(t *testing.T) {
	for _, c := range []struct {
		plan, want string
		line       int // line of the plan; 0 for the whole plan
	}{
		{"", "the plan has no heading", 0},
		{"hello\n\n# A\n", "text before the first heading belongs to no issue", 1},
		{"# A\n\nname: a\nprio: 1\n", "prio: no field of a plan; known are name, type", 4},
		{"# A\n\nname: a\nand text\n", `must be KEY: VALUE with a key of name, type, priority, labels, after, cynefin, assignee, estimate, defer, due; found "and text"`, 4},
		{"# A\n\npriority: high\n", `priority: must be 0 to 4, or P0 to P4; found "high"`, 3},
		{"# A\n\nafter: No such issue\n", `after: nothing in the plan is called "No such issue"`, 1},
		{"# A\n\nafter: A\n", `after: "A" waits for itself`, 1},
		{"# A\n\n# B\n\nafter:\n- A\n", `after: says nothing`, 5},
		{"# R\n## A\n\n## A\n\n## C\n\nafter: A\n", `after: "A" is the title of lines 2 and 4`, 6},
		{"# R\n\n## A\n\nafter: B\n\n## B\n\nafter: A\n", `waits for itself: "A" (line 3) needs "B" (line 7) needs "A" (line 3)`, 3},
	} {
		drafts, err := checkpoint.ParsePlan(c.plan, time.Time{})
		if drafts != nil || err == nil || !strings.Contains(err.Error(), c.want) || !fault.Is(err, fault.Usage) {
			t.Errorf("%q: %v, %v, want %s", c.plan, drafts, err, c.want)
			continue
		}
		at, ok := errors.AsType[*checkpoint.BatchError](err)
		if ok != (c.line > 0) || ok && at.Line != c.line {
			t.Errorf("%q: %v, want line %d", c.plan, err, c.line)
		}
	}
}
