package memory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/memory"
)

const two = `{"id":"h-1","title":"Light the lamp","status":"open","mine":1.50,"updated_at":"2026-01-01T00:00:00Z"}` + "\n" +
	`{"id":"h-2","title":"Ring the bell","notes":"one","updated_at":"2026-01-01T00:00:00Z"}` + "\n"

var now = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// held is a store, and a function that replaces an issue's line as a program without the lock
// does.
type held struct {
	beads.Store
	write func(id, line string) error
}

// stores are the implementations of beads.Store, each with a text in it.
var stores = map[string]func(t *testing.T, text string) held{
	"jsonl": func(t *testing.T, text string) held {
		p := place(t, text)
		return held{jsonl.Open(p), func(id, line string) error {
			text, err := os.ReadFile(p.Path)
			return errors.Join(err, os.WriteFile(p.Path, []byte(withLine(string(text), id, line)), 0o644))
		}}
	},
	"jsonl, kept between readings": func(t *testing.T, text string) held {
		p := place(t, text)
		store := jsonl.Open(p)
		store.Cache = jsonl.NewCache(time.Now)
		return held{store, func(id, line string) error {
			text, err := os.ReadFile(p.Path)
			return errors.Join(err, os.WriteFile(p.Path, []byte(withLine(string(text), id, line)), 0o644))
		}}
	},
	"memory": func(t *testing.T, text string) held {
		s := memory.New(text)
		return held{s, func(id, line string) error {
			s.Write(withLine(s.Text(), id, line))
			return nil
		}}
	},
}

func place(t *testing.T, text string) beads.Place {
	dir := filepath.Join(t.TempDir(), beads.DirName)
	p := beads.Place{Path: filepath.Join(dir, "issues.jsonl"), Dir: dir}
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(p.Path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return p
}

// withLine replaces the line of an issue.
func withLine(text, id, line string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, `{"id":"`+id+`"`) {
			lines[i] = line + "\n"
		}
	}
	return strings.Join(lines, "")
}

// TestStores checks every implementation against the contract of beads.Store.
func TestStores(t *testing.T) {
	laws := []struct {
		name string
		text string
		law  func(t *testing.T, s held)
	}{
		{"describes itself", two, describes},
		{"edits one line and keeps the bytes of the rest", two, edits},
		{"keeps a line as it is where nothing changes", two, changesNothing},
		{"writes nothing on a dry run", two, runsDry},
		{"writes nothing after an error, and returns it", two, returnsErrors},
		{"refuses", two + "{broken\n", refusesProblems},
		{"judges notes", two, judges},
		{"adds", two, adds},
		{"starts over when somebody else wrote", two, startsOver},
		{"gives up on who never stops", two, givesUp},
		{"heeds its context", two, heedsContext},
		{"loses no edit of eight at once", two, keepsAll},
		{"tells of changes", two, watches},
		{"keeps a snapshot as it was", two, keepsSnapshots},
	}
	for name, open := range stores {
		for _, l := range laws {
			t.Run(name+" "+l.name, func(t *testing.T) {
				t.Parallel()
				l.law(t, open(t, l.text))
			})
		}
	}
}

func set(id, text string) func(*beads.Tx) error {
	return func(tx *beads.Tx) error { return tx.Set(id, beads.Set{Key: beads.Title, Text: text}) }
}

// lines returns the lines of a store by the ids of their issues.
func lines(t *testing.T, s beads.Store) map[string]string {
	t.Helper()
	f, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]string{}
	for _, is := range f.All() {
		r, err := is.Record()
		if err != nil {
			t.Fatal(err)
		}
		all[is.ID] = string(r.Bytes())
	}
	return all
}

// same fails unless the store has the same content as a text.
func same(t *testing.T, s beads.Store, text string) {
	t.Helper()
	got, want := lines(t, s), lines(t, memory.New(text))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the store holds %q, want %q", got, want)
	}
}

func describes(t *testing.T, s held) {
	f, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p := s.Place(); p != f.Place() || filepath.Base(p.Path) != "issues.jsonl" || filepath.Base(p.Dir) != beads.DirName {
		t.Errorf("%+v, and of its snapshot %+v", p, f.Place())
	}
	if prefix, err := f.Prefix(); prefix != "h" || err != nil {
		t.Errorf("prefix %q, %v", prefix, err)
	}
}

func edits(t *testing.T, s held) {
	changes, err := s.Edit(t.Context(), beads.Options{Now: now}, set("1", "lit"))
	want := `{"id":"h-1","title":"lit","status":"open","mine":1.50,"updated_at":"2026-11-20T09:00:00Z"}`
	if err != nil || len(changes) != 1 || changes[0].ID != "h-1" || string(changes[0].After) != want {
		t.Fatalf("%+v, %v", changes, err)
	}
	same(t, s, withLine(two, "h-1", want))
}

func changesNothing(t *testing.T, s held) {
	if changes, err := s.Edit(t.Context(), beads.Options{Now: now}, set("h-1", "Light the lamp")); err != nil || len(changes) != 0 {
		t.Errorf("%+v, %v", changes, err)
	}
	same(t, s, two)
}

func runsDry(t *testing.T, s held) {
	if changes, err := s.Edit(t.Context(), beads.Options{Now: now, DryRun: true}, set("h-1", "lit")); err != nil || len(changes) != 1 {
		t.Errorf("%+v, %v", changes, err)
	}
	same(t, s, two)
}

func returnsErrors(t *testing.T, s held) {
	enough := errors.New("enough")
	if _, err := s.Edit(t.Context(), beads.Options{Now: now}, func(tx *beads.Tx) error {
		if err := set("h-1", "lit")(tx); err != nil {
			return err
		}
		return enough
	}); err != enough {
		t.Errorf("the error became %v", err)
	}
	if _, err := s.Edit(t.Context(), beads.Options{Now: now}, set("h-9", "x")); !is[*fault.Error](err) {
		t.Errorf("an unknown id: %v", err)
	}
	same(t, s, two)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func refusesProblems(t *testing.T, s held) {
	if _, err := s.Edit(t.Context(), beads.Options{Now: now}, set("h-1", "lit")); !is[*fault.Error](err) {
		t.Errorf("%v", err)
	}
	same(t, s, two)
}

func judges(t *testing.T, s held) {
	notes := func(tx *beads.Tx) error { return tx.Set("h-2", beads.Set{Key: beads.Notes, Text: "two"}) }
	if _, err := s.Edit(t.Context(), beads.Options{Now: now}, notes); !is[*fault.Error](err) {
		t.Errorf("without a judge: %v", err)
	}
	refuse := func(before, after string) error { return fmt.Errorf("%s became %s", before, after) }
	if _, err := s.Edit(t.Context(), beads.Options{Now: now, Notes: refuse}, notes); !is[*fault.Error](err) || !strings.Contains(err.Error(), "one became two") {
		t.Errorf("refused: %v", err)
	}
	same(t, s, two)
	if _, err := s.Edit(t.Context(), beads.Options{Now: now, Notes: func(string, string) error { return nil }}, notes); err != nil {
		t.Error(err)
	}
}

func adds(t *testing.T, s held) {
	line := ""
	changes, err := s.Edit(t.Context(), beads.Options{Now: now}, func(tx *beads.Tx) error {
		l, err := tx.Add(beads.New{ID: "h-1.1", Title: "Fill it", Status: "open"})
		line = string(l)
		return err
	})
	if err != nil || len(changes) != 1 || changes[0].Before != nil {
		t.Fatalf("%+v, %v", changes, err)
	}
	same(t, s, two+line+"\n")
}

const theirs = `{"id":"h-1","title":"theirs","status":"open","updated_at":"2026-02-01T00:00:00Z"}`

func startsOver(t *testing.T, s held) {
	calls := 0
	changes, err := s.Edit(t.Context(), beads.Options{Now: now}, func(tx *beads.Tx) error {
		if calls++; calls == 1 {
			if err := s.write("h-1", theirs); err != nil {
				t.Fatal(err)
			}
		}
		return tx.Set("h-1", beads.Set{Key: beads.Status, Text: "blocked"})
	})
	if err != nil || calls != 2 || len(changes) != 1 || string(changes[0].Before) != theirs {
		t.Errorf("%d calls, %+v, %v", calls, changes, err)
	}
	if got := lines(t, s)["h-1"]; !strings.Contains(got, "theirs") || !strings.Contains(got, "blocked") {
		t.Errorf("one of the two is lost: %s", got)
	}
}

func givesUp(t *testing.T, s held) {
	calls := 0
	_, err := s.Edit(t.Context(), beads.Options{Now: now}, func(tx *beads.Tx) error {
		calls++
		if err := s.write("h-1", strings.Replace(theirs, "theirs", fmt.Sprint("theirs ", calls), 1)); err != nil {
			t.Fatal(err)
		}
		return tx.Set("h-1", beads.Set{Key: beads.Status, Text: "blocked"})
	})
	if !is[*fault.Error](err) || calls != 5 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if got := lines(t, s)["h-1"]; !strings.Contains(got, "theirs 5") || strings.Contains(got, "blocked") {
		t.Errorf("written although it was refused: %s", got)
	}
}

func heedsContext(t *testing.T, s held) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Edit(ctx, beads.Options{Now: now}, set("h-1", "lit")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	same(t, s, two)
}

func keepsAll(t *testing.T, s held) {
	const workers, each = 8, 5
	var group sync.WaitGroup
	for n := range workers {
		group.Go(func() {
			for i := range each {
				if _, err := s.Edit(t.Context(), beads.Options{Now: now}, func(tx *beads.Tx) error {
					r, err := tx.Record("h-1")
					if err != nil {
						return err
					}
					return tx.Set("h-1", beads.Set{Key: beads.Title, Text: r.Text(beads.Title) + fmt.Sprintf(" %d.%d", n, i)})
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := strings.Count(lines(t, s)["h-1"], "."); got != workers*each+1 { // and of a number
		t.Errorf("%d edits are there, want %d", got-1, workers*each)
	}
}

func watches(t *testing.T, s held) {
	changes, stop := s.Watch()
	defer stop()
	if _, err := s.Edit(t.Context(), beads.Options{Now: now}, set("h-1", "lit")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changes:
	case <-time.After(10 * time.Second):
		t.Error("nothing was told")
	}
	stop()
}

func keepsSnapshots(t *testing.T, s held) {
	f, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := s.Edit(t.Context(), beads.Options{Now: now}, set("h-1", "lit")); err != nil {
		t.Fatal(err)
	}
	if r, err := f.At(0).Record(); err != nil || r.Text(beads.Title) != "Light the lamp" || f.At(0).Title != "Light the lamp" {
		t.Errorf("%v, %v", r, err)
	}
}
