package bd

import (
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/testkit/memory"
)

const harbor = `{"id":"h-1","title":"Light the lamp"}` + "\n" + `{"id":"h-2","title":"Ring the bell"}` + "\n"

var options = beads.Options{Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}

func open(id string) func(*beads.Tx) error {
	return func(tx *beads.Tx) error { return tx.Set(id, beads.Set{Key: beads.Status, Text: "new"}) }
}

// An export of a Dolt database is not written, and other stores are unchanged.
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
