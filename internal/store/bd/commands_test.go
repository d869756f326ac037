package bd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
)

// Each change uses the bd command that preserves concurrent writes: a flag per value, the
// guarded claim, a command per dependency, and an import for what no argument can hold.
func TestPlan(t *testing.T) {
	const before = `{"_type":"issue","id":"d-1","title":"t","notes":"n","status":"open","priority":2,"labels":["a","b,c"],"estimated_minutes":5,"updated_at":"2026-01-01T00:00:00Z","dependencies":[{"issue_id":"d-1","depends_on_id":"d-2","type":"blocks"}],"comments":[{"id":"u","author":"bo","text":"seen"}]}`
	long := strings.Repeat("x", longestText+1)
	for _, c := range []struct{ name, old, new, want string }{
		{"notes", `"notes":"n"`, `"notes":"m\nk"`, `update d-1 "--notes=m\nk"`},
		{"no notes", `"notes":"n",`, ``, `update d-1 --notes=`},
		{"several", `"title":"t","notes":"n","status":"open","priority":2`, `"title":"u","notes":"n","status":"blocked","priority":0`, `update d-1 --title=u --status=blocked --priority=0`},
		{"claimed", `"status":"open"`, `"status":"in_progress","assignee":"ann"`, `ann: update d-1 --claim`},
		{"claimed, with more", `"notes":"n","status":"open"`, `"notes":"m","status":"in_progress","assignee":"ann"`, `ann: update d-1 --claim --notes=m`},
		{"given away", `"status":"open"`, `"status":"open","assignee":"ann"`, `update d-1 --assignee=ann`},
		{"labels", `["a","b,c"]`, `["a","d"]`, `update d-1 --add-label=d "--remove-label=\"b,c\""`},
		{"no labels", `"labels":["a","b,c"],`, ``, `update d-1 --remove-label=a "--remove-label=\"b,c\""`},
		{"closed", `"status":"open"`, `"status":"closed","closed_at":"2026-01-02T00:00:00Z","close_reason":"done"`, `close d-1 --force --reason=done`},
		{"deferred", `"status":"open"`, `"status":"open","defer_until":"2027-01-01T00:00:00Z"`, `update d-1 --defer=2027-01-01T00:00:00Z --status=open`},
		{"dependencies", `"depends_on_id":"d-2"`, `"depends_on_id":"d-3"`, `dep remove d-1 d-2; dep add d-1 d-3 --type=blocks`},
		{"a comment", `"text":"seen"}]`, `"text":"seen"},{"id":"v","author":"ann","text":"and\nheard"}]`, `comments add --author=ann -- d-1 "and\nheard"`},
		{"no estimate", `"estimated_minutes":5,`, ``, `import - <LINE`},
		{"a long text, with a label and a status", `"notes":"n","status":"open","priority":2,"labels":["a","b,c"]`, `"notes":"` + long + `","status":"blocked","priority":2,"labels":["a","b,c","d"]`, `import - <LINE; update d-1 --status=blocked --add-label=d`},
		{"a long comment", `"text":"seen"}]`, `"text":"seen"},{"id":"v","author":"ann","text":"` + long + `"}]`, fmt.Sprintf("ann: comment d-1 --stdin <%q", long)},
		{"a long text", `"notes":"n"`, `"notes":"` + long + `"`, `import - <LINE`},
		{"the time alone", `2026-01-01`, `2026-01-02`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := strings.Replace(before, c.old, c.new, 1)
			if after == before {
				t.Fatal("changes nothing")
			}
			steps, err := plan(beads.Place{}, []beads.Change{{ID: "d-1", Line: 1, Before: []byte(before), After: []byte(after)}})
			if got := shownSteps(t, steps); err != nil || got != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, c.want)
			}
		})
	}
	_, err := plan(beads.Place{}, []beads.Change{{ID: "d-1", Before: []byte(before), After: []byte(strings.Replace(before, `"title"`, `"owner":"x","title"`, 1))}})
	if refused, ok := fault.As(err, fault.Refused); !ok || !strings.Contains(refused.Reason, "owner") {
		t.Errorf("an owner: %v", err)
	}
	if _, err := plan(beads.Place{}, []beads.Change{{ID: "d-1", Before: []byte(before), After: []byte(strings.Replace(before, `,"comments":[{"id":"u","author":"bo","text":"seen"}]`, ``, 1))}}); err == nil {
		t.Error("a comment was taken away")
	}
}

// shownSteps prints steps as one would type them.
func shownSteps(t *testing.T, steps []step) string {
	t.Helper()
	var all []string
	for _, s := range steps {
		line := ""
		if s.actor != "" {
			line = s.actor + ": "
		}
		for k, word := range s.argv {
			if strings.ContainsAny(word, " \n\"") {
				word = fmt.Sprintf("%q", word)
			}
			if k > 0 {
				line += " "
			}
			line += word
		}
		var members map[string]json.RawMessage
		switch {
		case s.stdin != nil && json.Unmarshal(s.stdin, &members) == nil:
			if members["labels"] != nil || members["comments"] != nil || members["dependencies"] != nil || members["title"] == nil {
				t.Errorf("imported with lists: %.200s", s.stdin)
			}
			line += " <LINE"
		case s.stdin != nil:
			line += fmt.Sprintf(" <%q", s.stdin)
		}
		all = append(all, line)
	}
	return strings.Join(all, "; ")
}

// New issues are imported in one call before other changes, and so are values of many issues; a
// status never is, since bd would not update those that wait for the issue.
func TestPlanMany(t *testing.T) {
	var changes []beads.Change
	for n := range mostUpdates + 1 {
		line := fmt.Sprintf(`{"id":"d-%d","title":"t","status":"open"}`, n)
		changes = append(changes, beads.Change{ID: fmt.Sprintf("d-%d", n), Line: n + 1, Before: []byte(line), After: []byte(strings.Replace(line, `"t"`, `"t","notes":"n"`, 1))})
	}
	changes[3].After = []byte(strings.Replace(string(changes[3].Before), "open", "blocked", 1))
	changes = append(changes, beads.Change{ID: "d-99", After: []byte(`{"id":"d-99","title":"new"}`)})
	steps, err := plan(beads.Place{}, changes)
	if err != nil || len(steps) != 2 {
		t.Fatalf("%v, %d steps", err, len(steps))
	}
	if first := string(steps[0].stdin); strings.Count(first, "\n") != mostUpdates+1 || !strings.Contains(first, `"d-99"`) || strings.Contains(first, `"d-3"`) {
		t.Errorf("imported: %s", first)
	}
	if got := shownSteps(t, steps[1:]); got != "update d-3 --status=blocked" {
		t.Error(got)
	}
}
