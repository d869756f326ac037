package clone_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
)

// TestLately: Lately returns the same records and results since a time as the whole journal,
// without reading all of a long journal.
func TestLately(t *testing.T) {
	_, store := cloneAt(t)
	p := at(t, store)
	now := noon
	for n := range 400 {
		now = now.Add(time.Minute)
		pending, err := p.Begin(clone.Record{At: now, Actor: "bo", Command: "edit", Changes: []clone.Change{{Issue: "a-1", Kind: "key", Name: "title", Now: strings.Repeat("x", 2000)}}})
		if err != nil {
			t.Fatal(err)
		}
		if n%3 > 0 {
			if err := pending.End(clone.Written); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole, err := p.Journal()
	if err != nil || len(whole.Records) != 400 {
		t.Fatal(len(whole.Records), err)
	}
	for _, back := range []time.Duration{0, time.Minute, 10 * time.Minute, 100 * time.Minute, 399 * time.Minute, 1000 * time.Minute} {
		since := now.Add(-back)
		part, err := p.Lately(since)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := after(part, since), after(whole, since); !reflect.DeepEqual(got, want) {
			t.Errorf("%s back: %d records, want %d", back, len(got), len(want))
		}
		if back < 20*time.Minute && len(part.Records) > 100 {
			t.Errorf("%s back: %d records were read", back, len(part.Records))
		}
	}
}

func after(j clone.Journal, since time.Time) (list []string) {
	for _, r := range j.Records {
		if !r.At.Before(since) {
			list = append(list, fmt.Sprint(r.Seq, r.Result))
		}
	}
	return list
}
