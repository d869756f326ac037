//go:build e2e

package jsonl

import (
	"bytes"
	"os"
	"testing"

	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

// An edit of a real store changes one line, and the reverse edit restores the file except for
// updated_at.
func TestCorpusEdit(t *testing.T) {
	for _, path := range sample.Corpus(t, "*.jsonl", "edge/*.jsonl") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := writeStore(t, string(data))
		f := mustRead(t, s.Path)
		if len(f.Problems()) > 0 {
			continue
		}
		i := f.Len() / 2
		for f.At(i).Status == "tombstone" {
			i++
		}
		is := f.At(i)
		changes, err := editAt(t.Context(), s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes(is.ID, "seen <by> all"))
		if err != nil || len(changes) != 1 {
			t.Fatalf("%s: %v %v", path, changes, err)
		}
		before, after := bytes.Split(data, []byte("\n")), bytes.Split([]byte(content(t, s)), []byte("\n"))
		if len(before) != len(after) {
			t.Fatalf("%s: %d lines became %d", path, len(before), len(after))
		}
		for i := range before {
			if bytes.Equal(before[i], after[i]) != (i != is.Line-1) {
				t.Errorf("%s:%d: changed: %v", path, i+1, i != is.Line-1)
			}
		}
	}
}
