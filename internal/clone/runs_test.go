package clone_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
)

// TestRunLog: a RunLog returns the same as a full read, also after incomplete lines and after a
// file was replaced.
func TestRunLog(t *testing.T) {
	_, store := cloneAt(t)
	p := at(t, store)
	random := rand.New(rand.NewPCG(7, 11))
	var log clone.RunLog
	now := noon
	raw := func(text string) {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(store)), ".git", "stig", "runs-*.jsonl"))
		if err != nil || len(files) == 0 {
			return
		}
		f, err := os.OpenFile(slices.Max(files), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString(text)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 120 {
		now = now.Add(time.Duration(random.IntN(3)) * 12 * time.Hour)
		r := clone.Run{ID: fmt.Sprint("r-", random.IntN(40)), Actor: "bo", Started: now.Add(-time.Duration(random.IntN(40)) * time.Hour), Step: fmt.Sprint(n)}
		switch random.IntN(8) {
		case 0:
			raw("00000000 {\"id\":\"no\"}\n") // damaged
		case 1:
			raw("00000000 {\"id\"") // a writer was killed
		}
		if err := p.RecordRun(r, now); err != nil {
			t.Fatal(err)
		}
		if random.IntN(3) == 0 {
			continue
		}
		since := now.Add(-24 * time.Hour)
		got, damaged, err := log.Runs(p, since)
		if err != nil {
			t.Fatal(err)
		}
		want, also, err := p.Runs(since)
		if err != nil {
			t.Fatal(err)
		}
		missed := func(path string) bool { return !slices.Contains(damaged, path) } // it caches more
		if !reflect.DeepEqual(ids(got), ids(want)) || slices.ContainsFunc(also, missed) {
			t.Fatalf("round %d: %v, %v\nwant %v, %v", n, ids(got), damaged, ids(want), also)
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(store)), ".git", "stig", "runs-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if err := os.Truncate(slices.Max(files), 0); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"r-new", "r-newer"} {
		if err := p.RecordRun(clone.Run{ID: id, Started: now}, now); err != nil {
			t.Fatal(err)
		}
		if got, _, err := log.Runs(p, now); err != nil || !slices.ContainsFunc(got, func(r clone.Run) bool { return r.ID == id }) {
			t.Error(id, got, err)
		}
	}
}

// ids returns runs with their last step; runs that started at once are in no order.
func ids(runs []clone.Run) (list []string) {
	for _, r := range runs {
		list = append(list, strings.Join([]string{r.Started.String(), r.ID, r.Step}, " "))
	}
	slices.Sort(list)
	return list
}
