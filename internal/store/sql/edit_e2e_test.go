//go:build e2e

package sql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/mysql"
	"stig/internal/testkit/memory"
)

// TestEditsAsInMemory makes random edits of a store on a server and of one in memory, which
// keeps its text as a file does. After each edit both have the same text, for every reader, and
// report the same changes.
func TestEditsAsInMemory(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		create(t, c, "")
		for round, text := range []string{
			"",
			`{"id":"d-1","title":"a"}` + "\r\n" + `{"id":"d-5","title":"b","comments":[{"id":1,"author":"m","text":"x"}]}` + "\r\n" + `{"id":"d-9","title":"c"}` + "\r\n",
			"\xef\xbb\xbf" + `{"id":"d-2", "title":"a"}` + "\n\n" + `{"_type":"x"}` + "\n" + `{"id":"d-4","title":"b"}` + "\n\n",
			`{"id":"d-7","title":"a","comments":[ ]}` + "\n" + `{"id":"d-3","title":"b","comments":null}` + "\n" + `{"id":"d-5","title":"c"}`,
			`{"id":"d-3","title":"a","updated_at":"2026-02-01T00:00:00.5Z","comments":[{"id":"u","author":"m","text":"x"} , 7]}`,
		} {
			wipe(t, c)
			s, like := open(t, c, t.TempDir()), memory.At(open(t, c, "").Place(), text)
			if text != "" {
				if err := s.Fill(context.Background(), []byte(text), "", nil); err != nil {
					t.Fatal(err)
				}
			}
			another := open(t, c, t.TempDir())
			random := rand.New(rand.NewPCG(7, uint64(round)))
			for n := range 25 {
				store := s
				if n%2 == 0 {
					store = another
				}
				seed := random.Uint64()
				changes, err := store.Edit(context.Background(), options(), randomEdit(seed))
				want, wantErr := like.Edit(context.Background(), options(), randomEdit(seed))
				if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(changes, want) {
					t.Fatalf("edit %d of %q:\n%v %v, in memory\n%v %v", n, text, changes, err, want, wantErr)
				}
				if got := textOf(t, s); got != like.Text() {
					t.Fatalf("after edit %d of %q:\n%q, in memory\n%q", n, text, got, like.Text())
				}
			}
			if got := textOf(t, open(t, c, "")); got != like.Text() {
				t.Fatalf("read anew:\n%q, in memory\n%q", got, like.Text())
			}
		}
	})
}

// randomEdit changes one to three things.
func randomEdit(seed uint64) func(*beads.Tx) error {
	return func(tx *beads.Tx) error {
		random := rand.New(rand.NewPCG(seed, 1))
		for range 1 + random.IntN(3) {
			id := fmt.Sprintf("d-%d", random.IntN(40))
			if n := tx.Snapshot().Len(); n > 0 && random.IntN(4) > 0 {
				id = tx.Snapshot().At(random.IntN(n)).ID
			}
			var err error
			switch word := fmt.Sprintf("w%d \"<\\\n", random.IntN(5)); random.IntN(8) {
			case 0:
				err = setNotes(id, word)(tx)
			case 1, 2:
				err = add(id)(tx)
			case 3, 4:
				err = addComment(id, word)(tx)
			case 5:
				err = tx.AddRow(id, beads.Row{On: "d-1", Type: "blocks"})
			case 6:
				err = tx.PutBack(id, func(r *beads.Record) (*beads.Record, error) { // removes the first comment
					if all := r.Elements(beads.Comments); len(all) > 0 {
						return r.PutElements(beads.Comments, all[1:])
					}
					return r, nil
				})
			case 7:
				err = tx.Set(id, beads.Set{Key: beads.Title, Text: word}, beads.Set{Key: beads.Assignee, Text: strings.Repeat("ü", 300)})
			}
			if err != nil && random.IntN(8) == 0 {
				return err
			}
		}
		return nil
	}
}

// TestConflicts: what another machine writes between the read and the write of an edit is never
// lost. The edit is retried if both changed the same line.
func TestConflicts(t *testing.T) {
	const text = `{"id":"d-1","title":"a","status":"open","updated_at":"2026-03-01T12:00:00Z","comments":[{"id":1,"author":"a","text":"first"}]}` + "\n" +
		`{"id":"d-2","title":"b"}` + "\n" + `{"id":"d-4","title":"no comments"}` + "\n"
	tests := []struct {
		name     string
		ours     func(*beads.Tx) error
		theirs   func(*beads.Tx) error
		wantRuns int
		want     []string // what the text must contain then
		wantErr  string
	}{
		{"other issues", setNotes("d-1", "ours"), setNotes("d-2", "theirs"), 1, []string{`"notes":"ours"`, `"notes":"theirs"`}, ""},
		{"one issue", setNotes("d-1", "ours"), func(tx *beads.Tx) error { return tx.Set("d-1", beads.Set{Key: beads.Title, Text: "theirs"}) }, 2, []string{`"notes":"ours"`, `"title":"theirs"`}, ""},
		{"one of two issues", func(tx *beads.Tx) error {
			return errors.Join(setNotes("d-1", "ours")(tx), setNotes("d-2", "ours too")(tx))
		}, addComment("d-2", "theirs"), 2, []string{`"ours"`, `"ours too"`, `"text":"theirs"`}, ""},
		{"two comments", addComment("d-1", "ours"), addComment("d-1", "theirs"), 1, []string{`"text":"first"`, `"text":"ours"`, `"text":"theirs"`}, ""},
		{"the same comment", addComment("d-1", "same"), addComment("d-1", "same"), 2, []string{`"text":"same"`}, ""},
		{"two first comments", addComment("d-4", "ours"), addComment("d-4", "theirs"), 2, []string{`"text":"ours"`, `"text":"theirs"`}, ""},
		{"a comment on what changes", addComment("d-1", "ours"), setNotes("d-1", "theirs"), 1, []string{`"text":"ours"`, `"notes":"theirs"`}, ""},
		{"a change of what is commented", setNotes("d-1", "ours"), addComment("d-1", "theirs"), 2, []string{`"text":"theirs"`, `"notes":"ours"`}, ""},
		{"a comment on what is deleted", addComment("d-1", "ours"), func(tx *beads.Tx) error { return tx.Set("d-1", beads.Set{Key: beads.Status, Text: "tombstone"}) }, 2, nil, "was deleted"},
		{"the same id", add("d-3"), add("d-3"), 2, nil, `id "d-3" is taken`},
		{"neighbours", add("d-3"), add("d-31"), 1, []string{`{"id":"d-2"`, `{"id":"d-3"`, `{"id":"d-31"`, `{"id":"d-4"`}, ""},
		{"comments that are taken away", func(tx *beads.Tx) error {
			return tx.PutBack("d-1", func(r *beads.Record) (*beads.Record, error) { return r.PutRaw(beads.Comments, []byte(`[{"id":2}]`)) })
		}, addComment("d-1", "theirs"), 2, []string{`"comments":[{"id":2}]`}, ""},
		{"a dry run", nil, setNotes("d-1", "theirs"), 1, []string{`"notes":"theirs"`}, ""},
	}
	onEach(t, func(t *testing.T, c mysql.Config) {
		create(t, c, "")
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				wipe(t, c)
				s, another := open(t, c, ""), open(t, c, "")
				if err := s.Fill(context.Background(), []byte(text), "", nil); err != nil {
					t.Fatal(err)
				}
				o, ours := options(), test.ours
				if ours == nil {
					o.DryRun, ours = true, setNotes("d-2", "never")
				}
				runs := 0
				_, err := s.Edit(context.Background(), o, func(tx *beads.Tx) error {
					if runs++; runs == 1 {
						edit(t, another, test.theirs)
					}
					return ours(tx)
				})
				if test.wantErr == "" && err != nil || test.wantErr != "" && !strings.Contains(fmt.Sprint(err), test.wantErr) {
					t.Errorf("error %v, want %q", err, test.wantErr)
				}
				got := textOf(t, s)
				if got != textOf(t, another) || got != textOf(t, open(t, c, "")) {
					t.Error("readers differ")
				}
				if f, err := s.Snapshot(); err != nil || len(f.Problems()) > 0 {
					t.Error(f.Problems(), err)
				}
				for at, rest := 0, got; at < len(test.want); at++ {
					i := strings.Index(got, test.want[at])
					if test.name == "neighbours" { // in this order
						i = strings.Index(rest, test.want[at])
						rest = rest[max(i, 0):]
					}
					if i < 0 {
						t.Errorf("no %s in\n%s", test.want[at], got)
					}
				}
				if runs != test.wantRuns {
					t.Errorf("%d runs, want %d", runs, test.wantRuns)
				}
				if n := strings.Count(got, `"text":"same"`); n > 1 {
					t.Errorf("one comment stands there %d times", n)
				}
			})
		}
	})
}

// TestGivesUp: an edit that conflicts with others all the time returns an error when its time
// is over.
func TestGivesUp(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		s, another := create(t, c, `{"id":"d-1","title":"a"}`+"\n"), open(t, c, "")
		o, n := options(), 0
		o.Wait = 700 * time.Millisecond
		_, err := s.Edit(context.Background(), o, func(tx *beads.Tx) error {
			n++
			edit(t, another, setNotes("d-1", fmt.Sprint("theirs ", n)))
			return setNotes("d-1", "ours")(tx)
		})
		if !fault.Is(err, fault.Changed) || n < 2 {
			t.Errorf("%v after %d runs", err, n)
		}
		if text := textOf(t, s); strings.Contains(text, "ours") {
			t.Error(text)
		}
	})
}

// TestErrorsOfTheEdit: an error of fn is returned unchanged, whatever it wraps.
func TestErrorsOfTheEdit(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		s := create(t, c, `{"id":"d-1","title":"a"}`+"\n")
		want := fmt.Errorf("mine: %w", io.EOF) // which would mean a lost connection
		if _, err := s.Edit(context.Background(), options(), func(*beads.Tx) error { return want }); err != want {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := s.Edit(ctx, options(), setNotes("d-1", "x")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := s.Edit(context.Background(), beads.Options{Now: now}, setNotes("d-1", "x")); err != nil {
			t.Error(err) // there were no notes to lose
		}
		if _, err := s.Edit(context.Background(), beads.Options{Now: now}, setNotes("d-1", "y")); !fault.Is(err, fault.Refused) {
			t.Error(err)
		}
	})
}
