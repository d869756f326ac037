package sample_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"stig/internal/testkit/sample"
)

// TestShape checks that stores have the shape that the package documents, and are the same
// every time.
func TestShape(t *testing.T) {
	const issues = 5000
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := sample.Write(out, issues, 1); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same arguments gave other bytes")
	}
	ids := map[string]bool{}
	var notes, rows, gone, n int
	for line := range bytes.Lines(first.Bytes()) {
		var issue struct {
			ID, Title, Status, Notes string
			Dependencies             []struct {
				On string `json:"depends_on_id"`
			}
		}
		if err := json.Unmarshal(line, &issue); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if issue.ID != sample.ID(n) || ids[issue.ID] {
			t.Fatalf("issue %d is %s", n, issue.ID)
		}
		ids[issue.ID] = true
		if issue.Notes != "" {
			notes++
		}
		for _, row := range issue.Dependencies {
			if rows++; row.On == "fleet-gone" {
				gone++
			}
		}
		n++
	}
	for _, c := range []struct {
		what            string
		got, want, away float64
	}{
		{"issues", float64(n), issues, 0},
		{"bytes a line", float64(first.Len()) / issues, 2100, 150},
		{"dependencies an issue", float64(rows) / issues, 1.4, 0.1},
		{"issues with notes", float64(notes) / issues, 0.6, 0.03},
		{"rows on nothing", float64(gone), 5, 4},
	} {
		if math.Abs(c.got-c.want) > c.away {
			t.Errorf("%s: %v, want %v ± %v", c.what, c.got, c.want, c.away)
		}
	}
}
