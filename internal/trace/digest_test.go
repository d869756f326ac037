package trace_test

import (
	"testing"
	"time"

	"stig/internal/trace"
)

// A digest shows each trace with trailers and text, and says what is omitted.
func TestDigestMarkdown(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	d := trace.DigestOf([]trace.Entry{
		{Name: "a", Source: "bo", At: at, Trace: trace.Trace{Type: trace.Comment, Body: "paper\nwill do"}},
		{Name: "b", Source: "cy", At: at, Index: 1, Trace: trace.Trace{Type: "finding", Summary: "the gauge drifts", Trailers: []trace.Trailer{{Key: "File", Value: "gauge.go"}}}},
	})
	for budget, want := range map[int]string{
		1000: "## finding (1)\n\n- b 2026-11-20 cy: the gauge drifts\n  File: gauge.go\n\n## comment (1)\n\n- a 2026-11-20 bo\n\n  paper\n  will do\n",
		100:  "## finding (1)\n\n- b 2026-11-20 cy: the gauge drifts\n  File: gauge.go\n\n1 more are omitted.\n",
	} {
		if got := d.Markdown(budget); got != want {
			t.Errorf("of %d characters:\n%s\nwant\n%s", budget, got, want)
		}
	}
}
