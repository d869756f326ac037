package traces_test

import (
	"bytes"
	"fmt"
	"testing"

	"stig/dag"
	"stig/internal/service/traces"
	"stig/internal/testkit/memory"
	"stig/internal/testkit/sample"
)

// BenchmarkList lists the inbox of an actor older than all of 10,000 issues, half of which have
// comments by others.
func BenchmarkList(b *testing.B) {
	var text bytes.Buffer
	if err := sample.Write(&text, 10_000, 1); err != nil {
		b.Fatal(err)
	}
	var lines bytes.Buffer
	for i, one := range bytes.Split(bytes.TrimSpace(text.Bytes()), []byte("\n")) {
		if i%2 == 0 {
			one = append(bytes.TrimSuffix(one, []byte("}")), fmt.Sprintf(`,"comments":[{"author":"cy","text":"finding: gauge %d is read by @mara\n\nurl: x\nstig: finding/1","created_at":"2026-11-02T09:00:00Z"}]}`, i)...)
		}
		lines.Write(append(one, '\n'))
	}
	file, err := memory.New(lines.String()).Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	graph := dag.New(file)
	for b.Loop() {
		if _, err := traces.ItemsOf(file, graph, traces.Query{For: traces.Owner{Name: "ilse", Kind: "human"}, Now: now}); err != nil {
			b.Fatal(err)
		}
	}
}
