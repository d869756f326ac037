package orient

import (
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/sample"
)

// TestKept: answers with a memo equal those without one, for concurrent requests, with cached
// bags, and after a line changed.
func TestKept(t *testing.T) {
	dir, path := sample.Store(t, 300)
	place := beads.Place{Path: path, Dir: dir}
	kept := jsonl.Open(place)
	kept.Cache = jsonl.NewCache(time.Now)
	kept.Cache.Memo = beads.NewMemo()
	compare := func(when string) {
		t.Helper()
		with, err := kept.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		defer with.Close()
		plain, err := jsonl.Read(place)
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		requests := []RecallRequest{{Words: "the pump waits for OwnedRow"}, {Words: "nothing"}, {Words: "anemometer"}}
		for _, at := range []int{0, 50, 111, 299} {
			requests = append(requests, RecallRequest{Like: plain.At(at).ID, Limit: 5})
		}
		var group sync.WaitGroup
		for _, r := range requests {
			group.Go(func() {
				want, total, err := Recall(plain, r)
				if err != nil {
					t.Error(err)
				}
				got, of, err := Recall(with, r)
				if err != nil || of != total || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v: %d of %d (%v), want %d", when, r, len(got), of, err, total)
				}
			})
		}
		group.Wait()
		for i, issue := range with.All() {
			if at, _ := with.Index(issue.ID); at == i && issue.Status != "tombstone" && issue.Remembered(inBag{}) == nil {
				t.Fatalf("%s: no bag of %s is kept", when, issue.ID)
			}
		}
	}
	compare("first")
	compare("of bags")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"title":"`, `"title":"Anemometer anemometer, `, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	compare("a changed line")
}

// TestPack: documents that do not fit are not cached.
func TestPack(t *testing.T) {
	p := newPacker(&vocabulary{numbers: map[string]uint32{}})
	if b := p.pack([]Field{{Text: strings.Repeat("rope ", 2000), Weight: 1}, {Text: "mast", Weight: 1.5}}); b == nil || b.length != 2001.5 {
		t.Errorf("%+v", b)
	}
	if b := p.pack([]Field{{Text: strings.Repeat("rope ", 2048), Weight: 1}}); b != nil {
		t.Errorf("2048 times: %+v", b)
	}
}
