package service

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/testkit/sample"
	"stig/internal/workspace"
	"stig/orient"
)

// TestAgreeOnWhatCanBeTaken checks on generated stores that ready, next, the survey, the
// briefing and claim agree about every issue. The stores contain everything that can keep an
// issue from being claimed.
func TestAgreeOnWhatCanBeTaken(t *testing.T) {
	random := rand.New(rand.NewPCG(40, 2))
	rounds := sample.Rounds(40)
	seen := map[string]int{}
	for round := range rounds {
		a, dir := front(t)
		path := filepath.Join(dir, ".beads", "issues.jsonl")
		lines := anyLines(random, 12)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		agreeOn(t, func() *workspace.Run { return a.Fresh(t.Context(), "test") }, "mara", seen)
		if t.Failed() {
			t.Fatalf("round %d:\n%s", round, strings.Join(lines, "\n"))
		}
	}
	t.Log(seen)
	for _, what := range []string{"takes", "refuses", "takes over", "holds"} {
		if seen[what] < rounds/20 {
			t.Errorf("%s: only %d times in %d stores", what, seen[what], rounds)
		}
	}
	for kind, words := range map[string]string{
		"blocker": "is blocked by", "ring": "dependency cycle", "external": "in another store", "row": "a dependency that cannot be read",
		"time": "a time that cannot be read", "line": "cannot be written", "first child": "waits for the first child", "condition": "is needed only if",
		"deferred": "is deferred", "with its epic": "with its epic", "children": "unclosed child", "undone": "is not finished by its children", "question": "unanswered question", "assignee": "is claimed by",
	} {
		if seen[words] == 0 {
			t.Errorf("no store tries %s", kind)
		}
	}
}

// agreeOn compares, for every issue of a store, the answers of all services that say whether it
// can be claimed.
func agreeOn(t *testing.T, run func() *workspace.Run, who string, seen map[string]int) {
	t.Helper()
	ready, err := Ready(t.Context(), run(), who)
	if err != nil {
		t.Fatal(err)
	}
	next, _, err := Next(t.Context(), run())
	if err != nil {
		t.Fatal(err)
	}
	looked, err := Orient(t.Context(), run(), OrientRequest{As: who, Full: true})
	if err != nil {
		t.Fatal(err)
	}
	file, err := run().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	listed := map[string][3]bool{}
	mark := func(id string, by int) { of := listed[id]; of[by] = true; listed[id] = of }
	for _, row := range ready.Rows[:ready.CanTake] {
		mark(row.ID, 0)
	}
	for _, row := range next {
		mark(row.ID, 1)
	}
	for _, row := range looked.Survey.Ready {
		mark(row.ID, 2)
	}
	for i, issue := range file.All() {
		if at, _ := file.Index(issue.ID); at != i {
			continue
		}
		briefed, err := Orient(t.Context(), run(), OrientRequest{ID: issue.ID})
		if err != nil {
			t.Fatal(err)
		}
		b := briefed.Briefing
		proposes := slices.ContainsFunc(b.Next, func(s orient.Step) bool { return s.Argv[1] == "claim" })
		_, refused := Claim(t.Context(), run(), ClaimRequest{ID: issue.ID, DryRun: true})
		takes := refused == nil
		holds := issue.Status == beads.StatusInProgress && issue.Assignee == who
		if holds {
			seen["holds"]++
		} else if proposes != takes || takes != (len(b.Holds) == 0) {
			t.Errorf("%s: the briefing proposes a claim: %v, held by %q; claim: %v", issue.ID, proposes, b.Holds, refused)
		}
		want := takes && issue.Status == beads.StatusOpen
		if got := listed[issue.ID]; got != [3]bool{want, want, want} {
			t.Errorf("%s: claim takes it: %v (%v); ready, next, survey list it: %v", issue.ID, takes, refused, got)
		}
		switch {
		case takes && issue.Status == beads.StatusInProgress && !holds:
			seen["takes over"]++
		case takes:
			seen["takes"]++
		default:
			seen["refuses"]++
		}
		for _, h := range b.Holds {
			for _, words := range []string{"is blocked by", "dependency cycle", "in another store", "a dependency that cannot be read", "a time that cannot be read", "cannot be written",
				"waits for the first child", "is needed only if", "is deferred", "with its epic", "unclosed child", "is not finished by its children", "unanswered question", "is claimed by"} {
				if strings.Contains(h, words) {
					seen[words]++
				}
			}
			byStore := fault.Is(refused, fault.Refused) // it refuses to write a damaged line before it looks at anything else
			if !takes && h == b.Holds[0] && !byStore && issue.Assignee == "" && !strings.Contains(refused.Error(), h) {
				t.Errorf("%s: the briefing says that it %s, and claim: %v", issue.ID, h, refused)
			}
		}
	}
}

// anyLines generates the lines of a store.
func anyLines(random *rand.Rand, n int) (lines []string) {
	pick := func(list ...any) any { return list[random.IntN(len(list))] }
	rare := func() bool { return random.IntN(12) == 0 }
	seldom := func() bool {
		if !rare() {
			return false
		}
		return rare()
	}
	id := func(i int) string { return fmt.Sprintf("q-%d", i) }
	row := func(on any, kind any) map[string]any {
		return map[string]any{"depends_on_id": on, "type": kind}
	}
	for i := range n {
		d := map[string]any{"id": id(i), "title": "part", "status": pick("open", "open", "open", "open", "open", "in_progress", "closed", "closed", "blocked", "deferred", "triage"), "priority": random.IntN(5),
			"issue_type": pick("task", "task", "task", "bug", "bug", "epic", "epic", "gate"), "created_at": "2026-08-01T10:00:00Z", "updated_at": "2026-08-01T10:00:00Z", "description": "d"}
		if d["status"] == "closed" {
			d["close_reason"] = pick("Verified: it works", "Verified: it works", "the spike failed", "duplicate of q-1", "not planned")
		}
		if rare() || d["status"] == "in_progress" {
			d["assignee"] = pick("mara", "bo", "", "")
		}
		if rare() {
			d["defer_until"] = pick("2099-01-01T00:00:00Z", "2020-01-01", "2099-01-01", "next week", "", 7)
		}
		if rare() {
			d[pick("created_at", "due_at", "started_at").(string)] = pick("soon", "2026-02-30", "2026-02-03 10:00")
		}
		if seldom() {
			d[pick("labels", "notes", "design").(string)] = 7
		}
		if seldom() {
			d[pick("pinned", "ephemeral", "is_template").(string)] = pick(true, "true", false)
		}
		if rare() {
			d["notes"] = "<!-- escalation-context -->\n## Pending (2026-11-01)\nwhich?\n<!-- /escalation-context -->"
		}
		if seldom() {
			d["labels"] = []string{"channel"}
		}
		var deps []any
		for range random.IntN(3) {
			o := id(random.IntN(n))
			switch random.IntN(10) {
			case 0:
				deps = append(deps, row(pick("external:api:x", "zz-9"), pick("blocks", "related", "parent-child")))
			case 1:
				deps = append(deps, pick(o, "zz-9", map[string]any{"id": o, "type": "blocks"}, map[string]any{"type": "blocks"}, 7, map[string]any{"depends_on": o}))
			case 2:
				deps = append(deps, row(o, pick("conditional-blocks", "related", "mine", "")))
			case 3:
				gate := row(o, "waits-for")
				gate["metadata"] = pick(`{"gate":"any-children"}`, `{"gate":"all-children"}`, "{}")
				deps = append(deps, gate)
			case 4:
				deps = append(deps, row(o, "blocks"))
			default:
				if i > 0 {
					deps = append(deps, row(id(random.IntN(i)), "parent-child"))
				}
			}
		}
		if deps != nil {
			d["dependencies"] = deps
		}
		if len(deps) == 1 && rare() {
			d["dependencies"] = deps[0]
		}
		line, _ := json.Marshal(d)
		lines = append(lines, string(line))
		if seldom() {
			lines = append(lines, string(line))
		}
	}
	return lines
}
