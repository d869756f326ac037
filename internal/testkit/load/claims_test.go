package load_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/internal/testkit/load"
)

func TestJudgeClaims(t *testing.T) {
	line := func(status, assignee, notes, comment string) string {
		return fmt.Sprintf(`{"id":"mole-pool0","status":%q,"assignee":%q,"notes":%q,"comments":[{"text":%q}]}`+"\n", status, assignee, notes, comment)
	}
	e := func(worker int, op, text string, begin, end int) load.Event {
		return load.Event{Worker: worker, Op: op, Issue: "mole-pool0", Text: text, Begin: time.Duration(begin), End: time.Duration(end)}
	}
	good := []load.Event{e(1, load.Claim, "", 1, 2), e(1, load.Checkpoint, "n1", 3, 4), e(1, load.Comment, "c1", 5, 6), e(1, load.Release, "", 7, 8), e(2, load.Claim, "", 6, 9)}
	for name, test := range map[string]struct {
		text   string
		events []load.Event
		want   string
	}{
		"good":               {line("in_progress", "w2", "done: n1", "c1"), good, ""},
		"not released":       {line("in_progress", "w1", "n1", "c1"), good[:4], `held by "w1", want open`},
		"checkpoint lost":    {line("in_progress", "w2", "n0", "c1"), good, `checkpoint "n1" is missing`},
		"comment lost":       {line("in_progress", "w2", "n1", "c2"), good, `comment "c1" appears 0 times`},
		"claimed twice":      {line("in_progress", "w2", "", ""), []load.Event{good[0], e(2, load.Claim, "", 3, 4)}, "while w1 held it"},
		"claimed too early":  {line("in_progress", "w2", "", ""), []load.Event{good[0], e(1, load.Release, "", 7, 9), e(2, load.Claim, "", 5, 6)}, "w2 got it"},
		"not in the store":   {"", good, "not in the store"},
		"no issue of theirs": {`{"id":"mole-1"}` + "\n", nil, ""},
	} {
		got := strings.Join(load.JudgeClaims([]byte(test.text), test.events, func(w int) string { return fmt.Sprintf("w%d", w) }), "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
