package checkpoint_test

import (
	"strings"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/internal/fault"
)

// TestParseAmendmentsRefuses lists invalid lines of a batch with their errors.
func TestParseAmendmentsRefuses(t *testing.T) {
	for line, want := range map[string]string{
		`d-1`:                               "line 2: must be a JSON object",
		`{"id":"d-1","title":3}`:            "line 2: title: must be a text; found 3",
		`{"id":"d-1","add_labels":"a"}`:     `line 2: add_labels: must be a list of texts; found "a"`,
		`{"id":"d-1","priorty":1}`:          `line 2: unknown key "priorty"`,
		`{"id":"d-1","priority":"urgent"}`:  `line 2: priority: must be 0 to 4, or P0 to P4; found "urgent"`,
		`{"id":"d-1","defer_until":"soon"}`: `line 2: defer_until: must be a day, a time, a span from now on, or none; found "soon"`,
	} {
		_, _, err := checkpoint.ParseAmendments([]byte("{\"id\":\"d-2\",\"priority\":1}\n"+line+"\n"), time.Time{})
		if err == nil || !strings.HasPrefix(err.Error(), want) || !fault.Is(err, fault.Usage) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// TestParseEstimate parses minutes and durations.
func TestParseEstimate(t *testing.T) {
	for text, want := range map[string]int{"": 0, "none": 0, "0": 0, "90": 90, "90m": 90, "1h30m": 90, "2d": 2880, "long": -1, "-1": -1, "30s": -1, "1.5": -1} {
		got, err := checkpoint.ParseEstimate(text)
		if (err != nil) != (want < 0) || err == nil && got != want || err != nil && !strings.Contains(err.Error(), "estimate: must be minutes, a span of whole minutes, or none; found ") {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
}
