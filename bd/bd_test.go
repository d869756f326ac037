package bd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/beads"
	"stig/fault"
	"stig/internal/memory"
)

const harbor = `{"id":"h-1","title":"Light the lamp"}` + "\n" + `{"id":"h-2","title":"Ring the bell"}` + "\n"

var options = beads.Options{Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}

func open(id string) func(*beads.Tx) error {
	return func(tx *beads.Tx) error { return tx.Set(id, beads.Set{Key: beads.Status, Text: "new"}) }
}

// Another program is asked before an edit and told after it, both without the
// lock, and the edit is made once more when it lost what was written.
func TestTold(t *testing.T) {
	lost := &fault.Error{Code: fault.Changed, Path: "p", Reason: "lost", Hint: "h", Err: beads.ErrLost}
	for _, c := range []struct {
		name  string
		fails int // how many calls of after
		err   error
		wiped string // what of it is gone meanwhile: "all", "h-1", or nothing
		want  []string
	}{
		{"taken up", 0, nil, "", []string{"ahead", "h-1 h-2"}},
		{"lost once", 1, nil, "all", []string{"ahead", "h-1 h-2", "ahead", "h-1 h-2"}},
		{"one lost", 1, nil, "h-1", []string{"ahead", "h-1 h-2", "ahead", "h-1 h-2"}},
		{"there, but not taken up", 1, nil, "", []string{"ahead", "h-1 h-2", "ahead", "h-1 h-2"}},
		{"lost again", 2, lost, "all", []string{"ahead", "h-1 h-2", "ahead", "h-1 h-2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := memory.New(harbor)
			var calls []string
			mustBeFree := func() {
				limit, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := s.Edit(limit, options, func(*beads.Tx) error { return nil }); err != nil {
					t.Errorf("the lock is held: %v", err)
				}
			}
			wrapped := &told{Store: s,
				ahead: func(context.Context) error {
					mustBeFree()
					calls = append(calls, "ahead")
					return nil
				},
				after: func(_ context.Context, changes []beads.Change) error {
					mustBeFree()
					var ids []string
					for _, change := range changes {
						ids = append(ids, change.ID)
					}
					calls = append(calls, strings.Join(ids, " "))
					if len(calls)/2 > c.fails {
						return nil
					}
					first, _, _ := strings.Cut(harbor, "\n")
					_, second, _ := strings.Cut(s.Text(), "\n")
					switch c.wiped {
					case "all":
						s.Write(harbor)
					case "h-1":
						s.Write(first + "\n" + second)
					}
					return lost
				},
			}
			_, err := wrapped.Edit(t.Context(), options, func(tx *beads.Tx) error {
				return errors.Join(open("h-1")(tx), open("h-2")(tx))
			})
			if !errors.Is(err, c.err) || !slices.Equal(calls, c.want) {
				t.Errorf("%v, calls %q, want %q", err, calls, c.want)
			}
		})
	}
	s := memory.New(harbor)
	wrapped := &told{Store: s, ahead: func(context.Context) error { return lost }}
	if _, err := wrapped.Edit(t.Context(), options, open("h-2")); !errors.Is(err, lost) || s.Text() != harbor {
		t.Errorf("written although it must not be: %v", err)
	}
	dry := options
	dry.DryRun = true
	if changes, err := wrapped.Edit(t.Context(), dry, open("h-2")); err != nil || len(changes) != 1 {
		t.Errorf("a dry run tells nobody: %v, %v", changes, err)
	}
}

// What lives in a Dolt database is not written, and other stores stay as they are.
func TestWrap(t *testing.T) {
	for mode, refused := range map[beads.Mode]bool{beads.Plain: false, beads.Export: true} {
		s := memory.At(beads.Place{Path: "issues.jsonl", Mode: mode}, harbor)
		_, err := Program{}.Wrap(s).Edit(t.Context(), options, open("h-1"))
		e, ok := fault.As(err, fault.Refused)
		if ok != refused || refused && (!strings.Contains(e.Reason, "Dolt database") || e.Hint == "") || (s.Text() == harbor) != refused {
			t.Errorf("mode %d: %v\n%s", mode, err, s.Text())
		}
	}
	if s := memory.New(harbor); (Program{}).Wrap(s) != beads.Store(s) {
		t.Error("a store without bd was wrapped")
	}
}
