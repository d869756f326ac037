package beads

import (
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// Ids with equal hashes are told apart, however many there are.
func TestIDTable(t *testing.T) {
	const ids = 300
	seed := maphash.MakeSeed()
	for _, sums := range []uint32{1, 7, 1 << 31} {
		table := newIDTable(seed, ids+1)
		var issues []*Issue
		for n := range ids {
			id := fmt.Sprint("t-", n)
			issues = append(issues, &Issue{ID: id, sum: sumOf(seed, id) % sums})
			if before := table.put(issues, n); before != -1 {
				t.Fatalf("%s was at %d before", id, before)
			}
		}
		issues = append(issues, &Issue{ID: "t-5", sum: issues[5].sum})
		if before := table.put(issues, ids); before != 5 {
			t.Errorf("t-5 was at %d before", before)
		}
		for n, issue := range issues[:ids] {
			want := n
			if n == 5 {
				want = ids
			}
			if got := int(table.find(issues, issue.ID, issue.sum).after) - 1; got != want {
				t.Errorf("%s is at %d, want %d", issue.ID, got, want)
			}
		}
		if got := table.place(issues, "t-none"); got != -1 {
			t.Errorf("an id that is not there is at %d", got)
		}
	}
}

// After an error no goroutine starts further work, and the error is returned.
func TestShareStops(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	fault := errors.New("at 5")
	var done atomic.Int64
	const all = 4000
	err := share(all, func() func(n int) error {
		return func(n int) error {
			if done.Add(1); n == 5 {
				return fault
			}
			time.Sleep(20 * time.Microsecond)
			return nil
		}
	})
	if err != fault || done.Load() > all/2 {
		t.Errorf("%d of %d done, then %v", done.Load(), all, err)
	}
	if err := share(0, func() func(int) error { return nil }); err != nil {
		t.Error(err)
	}
}
