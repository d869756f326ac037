package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"stig/beads"
	"stig/internal/memory"
	"stig/live"
)

// The journal says of every attempt of an edit what became of it, and nothing of a
// dry run. It knows the store by its place alone.
func TestJournalled(t *testing.T) {
	const text = `{"id":"h-1","title":"a"}` + "\n"
	dir := t.TempDir()
	s := memory.At(beads.Place{Path: filepath.Join(dir, "issues.jsonl"), Dir: dir}, text)
	a := &App{Getenv: func(name string) string { return map[string]string{"STIG_ACTOR": "mara"}[name] }, Env: func() []string { return nil }, Ctx: t.Context(), Say: func(Level, string) {}}
	store := &journalled{Store: s, journal: a.edits()}
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
		{o, func(tx *beads.Tx) error { return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "gone"}) }, true}, // nothing judges the notes
	} {
		if _, err := store.Edit(t.Context(), edit.o, edit.fn); (err != nil) != edit.fail {
			t.Errorf("%v", err)
		}
	}
	late := &journalled{Store: unsynced{s}, journal: a.edits()}
	if _, err := late.Edit(t.Context(), o, set("c")); err == nil {
		t.Error("no error")
	}
	place, err := live.At(s.Place().Path)
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

// unsynced is a store that writes, and then says that it may not last.
type unsynced struct{ beads.Store }

func (s unsynced) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	changes, err := s.Store.Edit(ctx, o, fn)
	return changes, errors.Join(err, errors.New("may not outlast a crash"))
}
