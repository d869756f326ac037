package lint_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/lint"
	"stig/internal/testkit/sample"
)

// TestCheckWithMemo checks a store repeatedly while lines are added, removed, moved and
// changed, and time passes: the diagnostics are the same with and without a memo.
func TestCheckWithMemo(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 3))
	var lines []string
	for i := range 60 {
		id, on := fmt.Sprintf("m-%d", i), fmt.Sprintf("m-%d", (i*7)%80)
		lines = append(lines,
			line(id, "status", "open", "dependencies", rows(id, on, "blocks", "n-1", "parent-child"), "acceptance_criteria", "```verify\nfrob --all\n```"),
			line(id+".1", "status", "closed", "close_reason", "see new-3", "notes", table("| progress | not-started | 2026-11-01 |")),
			line(id+".2", "status", "open", "dependencies", rows(id, on+".1", "blocked", id, "blocks"), "updated_at", "2026-11-22T00:00:00Z", "comments", `[{"id":7,"author":"","text":"x"}]`))
	}
	memo, now := beads.NewMemo(), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for round := range sample.Rounds(20) {
		text := strings.Join(lines, "\n") + "\n"
		check := func(m *beads.Memo) []lint.Diagnostic {
			f, err := beads.NewSnapshot(beads.Place{Path: "x"}, beads.Source{Lines: strings.NewReader(text), Size: int64(len(text)), Memo: m})
			if err != nil {
				t.Fatal(err)
			}
			found, err := lint.Check(f, dag.New(f), lint.Rules{Schema: cue.Embedded(), Now: now})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		if got, want := check(memo), check(nil); !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: %d found, want %d", round, len(got), len(want))
		}
		now = now.Add(time.Hour)
		at, to := random.IntN(len(lines)), random.IntN(len(lines))
		switch random.IntN(5) {
		case 0:
			lines = append(lines[:at], lines[at+1:]...)
		case 1:
			lines[at], lines[to] = lines[to], lines[at]
		case 2:
			lines = append(lines, line(fmt.Sprintf("new-%d", round%5), "status", "open"))
		case 3:
			lines = append(lines, line(fmt.Sprintf("m-%d", 60+round%20), "status", "closed"))
		default:
			lines[at] = strings.Replace(strings.Replace(lines[at], `"closed"`, `"done"`, 1), `"open"`, `"closed"`, 1)
		}
	}
}
