package orient

import (
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/sample"
)

func BenchmarkIn(b *testing.B) {
	dir, path := sample.Store(b, 10_000)
	file, err := jsonl.Read(beads.Place{Path: path, Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	cache := jsonl.NewCache(time.Now)
	cache.Memo = beads.NewMemo()
	store := jsonl.Open(beads.Place{Path: path, Dir: dir})
	store.Cache = cache
	kept, err := store.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	defer kept.Close()
	words, like := RecallRequest{Words: "tide gauge waits for the harbour", Limit: 5}, RecallRequest{Like: file.At(4321).ID, Limit: 3}
	for _, c := range []struct {
		name string
		file *beads.Snapshot
		RecallRequest
	}{{"words", file, words}, {"like", file, like}, {"like, kept", kept, like}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Recall(c.file, c.RecallRequest); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
