package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/testkit/memory"
)

// TestJournalled: the journal has the result of every attempt of an edit, and nothing of a dry
// run. It needs only the place of the store.
func TestJournalled(t *testing.T) {
	const text = `{"id":"h-1","title":"a"}` + "\n"
	dir := t.TempDir()
	s := memory.At(beads.Place{Path: filepath.Join(dir, "issues.jsonl"), Dir: dir}, text)
	a := &Run{Getenv: func(name string) string { return map[string]string{"STIG_ACTOR": "mara"}[name] }, Env: func() []string { return nil }, Ctx: t.Context(), Say: func(Level, string) {}}
	store := &journalled{Store: s, journal: a.Edits()}
	set := func(title string) func(*beads.Tx) error {
		return func(tx *beads.Tx) error { return tx.Set("h-1", beads.Set{Key: beads.Title, Text: title}) }
	}
	o := beads.Options{Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	dry := o
	dry.DryRun = true
	refused := errors.New("no")
	calls := 0
	for _, edit := range []struct {
		o    beads.Options
		fn   func(*beads.Tx) error
		fail bool
	}{
		{dry, set("b"), false},
		{o, func(tx *beads.Tx) error { return errors.Join(set("b")(tx), refused) }, true},
		{o, set("a"), false}, // no change
		{o, func(tx *beads.Tx) error {
			if calls++; calls == 1 {
				s.Write(text + `{"id":"h-2","title":"theirs"}` + "\n")
			}
			return set("b")(tx)
		}, false},
		{o, func(tx *beads.Tx) error { return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "seen"}) }, false},
		{o, func(tx *beads.Tx) error { return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "gone"}) }, true}, // the notes are not validated
	} {
		if _, err := store.Edit(t.Context(), edit.o, edit.fn); (err != nil) != edit.fail {
			t.Errorf("%v", err)
		}
	}
	late := &journalled{Store: unsynced{s}, journal: a.Edits()}
	if _, err := late.Edit(t.Context(), o, set("c")); err == nil {
		t.Error("no error")
	}
	place, err := clone.At(s.Place().Path)
	if err != nil {
		t.Fatal(err)
	}
	j, err := place.Journal()
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range j.Records {
		got += fmt.Sprintf("%s %s by %s, ", r.Changes[0].Name, r.Result, r.Actor)
	}
	if want := "title failed by mara, title written by mara, notes written by mara, notes failed by mara, title written by mara, "; got != want {
		t.Errorf("the journal says %q\nwant             %q", got, want)
	}
}

// TestJournalWarns: each of the two warnings is printed once per run.
func TestJournalWarns(t *testing.T) {
	var said []string
	a := &Run{Ctx: t.Context(), Say: func(_ Level, text string) { said = append(said, text) }}
	for range 2 {
		a.Edits().WarnOfBeside()
		a.Edits().warn(errors.New("no room"))
	}
	if len(said) != 2 || !strings.Contains(said[0], "beside the store") || !strings.Contains(said[1], "no room") {
		t.Errorf("%q", said)
	}
}

// unsynced is a store that writes and then reports that the data may not be on disk.
type unsynced struct{ beads.Store }

func (s unsynced) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	changes, err := s.Store.Edit(ctx, o, fn)
	return changes, errors.Join(err, errors.New("may not outlast a crash"))
}

// full is a store without free space: an edit fails after it was begun.
type full struct {
	beads.Store
	look func() // called before the write
	err  error
}

func (s full) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	return s.Store.Edit(ctx, o, func(tx *beads.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		s.look()
		return s.err
	})
}

// TestClosingIsAnnounced: the mark of a close exists before the store shows the close, so that
// a process killed in between leaves no issue to be done again. If the write fails, the mark is
// removed.
func TestClosingIsAnnounced(t *testing.T) {
	dir := t.TempDir()
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=m", "-c", "user.email=m@pier", "commit", "-q", "--allow-empty", "-m", "begin"}} {
		cmd := exec.Command("git", argv...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	place := beads.Place{Path: filepath.Join(dir, ".beads", "issues.jsonl"), Dir: filepath.Join(dir, ".beads")}
	if err := os.Mkdir(place.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := memory.At(place, `{"id":"h-1","title":"a","status":"open"}`+"\n"+`{"id":"h-2","title":"b","status":"open"}`+"\n")
	a := &Run{Getenv: func(string) string { return "" }, Env: func() []string { return nil }, Ctx: t.Context(), Actor: "mara", Say: func(_ Level, text string) { t.Error(text) }}
	marked := func() (list []string) {
		at, err := clone.At(place.Path)
		if err != nil {
			t.Fatal(err)
		}
		claims, err := at.Claims()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range claims.Done {
			list = append(list, d.Issue+" on "+d.Branch)
		}
		return list
	}
	o := beads.Options{Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	closing := func(tx *beads.Tx) error { return tx.MarkClosed("h-1", "done") }
	var meanwhile []string
	edit := func(fail error, fn func(*beads.Tx) error) {
		store := &journalled{Store: full{s, func() { meanwhile = marked() }, fail}, journal: a.Edits()}
		if _, err := store.Edit(t.Context(), o, fn); !errors.Is(err, fail) {
			t.Fatal(err)
		}
	}
	want := []string{"h-1 on main"}
	edit(errors.New("no room"), closing)
	if after := marked(); !slices.Equal(meanwhile, want) || len(after) > 0 {
		t.Errorf("not written: %q, and %q after it", meanwhile, after)
	}
	edit(nil, func(tx *beads.Tx) error { return tx.Set("h-2", beads.Set{Key: beads.Title, Text: "c"}) })
	if after := marked(); len(meanwhile)+len(after) > 0 {
		t.Errorf("nothing closed: %q, and %q after it", meanwhile, after)
	}
	edit(nil, closing)
	if after := marked(); !slices.Equal(meanwhile, want) || !slices.Equal(after, want) {
		t.Errorf("written: %q, and %q after it", meanwhile, after)
	}
	edit(nil, func(tx *beads.Tx) error { return tx.Set("h-1", beads.Set{Key: beads.Status, Text: "open"}) })
	if after := marked(); len(after) > 0 {
		t.Errorf("open again: %q", after)
	}
}
