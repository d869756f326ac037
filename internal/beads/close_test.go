package beads

import (
	"strings"
	"testing"
)

// Closing writes the four keys of a closed issue together and leaves the rest of the line
// alone.
func TestMarkClosed(t *testing.T) {
	s := writeStore(t, `{"id":"h-1","title":"t","status":"open","mine":1.50,"updated_at":"2026-01-01T00:00:00Z"}`+"\n")
	_, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error { return tx.MarkClosed("h-1", "it <works>") })
	if err != nil {
		t.Fatal(err)
	}
	at := testNow.UTC().Format("2006-01-02T15:04:05Z")
	want := `{"id":"h-1","title":"t","status":"closed","mine":1.50,"updated_at":"` + at + `","closed_at":"` + at + `","close_reason":"it \u003cworks\u003e"}` + "\n"
	if got := content(t, s); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// Only MarkClosed closes an issue: once, and with a reason.
func TestClosingRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Tx) error
		want string
	}{
		{"set", func(tx *Tx) error { return tx.Set("h-1", Set{Status, "closed"}) }, `h-1: status: must not be set to "closed"`},
		{"set among others", func(tx *Tx) error {
			return tx.Set("h-1", Set{Title, "x"}, Set{CloseReason, "r"}, Set{Status, "closed"}, Set{ClosedAt, "2026-01-01T00:00:00Z"})
		}, `h-1: status: must not be set to "closed"`},
		{"new", func(tx *Tx) error {
			_, err := tx.Add(New{ID: "h-9", Title: "t", Status: "closed"})
			return err
		}, `h-9: status: a new issue must not be "closed"`},
		{"twice", func(tx *Tx) error { return tx.MarkClosed("h-2", "again") }, "h-2: status: is closed already"},
		{"no reason", func(tx *Tx) error { return tx.MarkClosed("h-1", "") }, "h-1: close_reason: must not be empty"},
		{"deleted", func(tx *Tx) error { return tx.MarkClosed("h-3", "r") }, "h-3 was deleted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := writeStore(t, `{"id":"h-1","title":"t","status":"open"}`+"\n"+`{"id":"h-2","title":"t","status":"closed"}`+"\n"+`{"id":"h-3","title":"t","status":"tombstone"}`+"\n")
			before := content(t, s)
			_, err := edit(t, s, Options{Now: testNow}, c.edit)
			if err == nil || !strings.Contains(err.Error(), c.want) || content(t, s) != before {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// A closed issue can be edited and reopened.
func TestSetOfClosed(t *testing.T) {
	s := writeStore(t, `{"id":"h-2","title":"t","status":"closed","close_reason":"r"}`+"\n")
	_, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error {
		if err := tx.Set("h-2", Set{Title, "u"}, Set{Status, "closed"}); err != nil {
			return err
		}
		return tx.Set("h-2", Set{Status, "open"}, Set{CloseReason, ""})
	})
	if err != nil || !strings.HasPrefix(content(t, s), `{"id":"h-2","title":"u","status":"open","updated_at"`) {
		t.Errorf("%v, %s", err, content(t, s))
	}
}
