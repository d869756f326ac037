package database_test

import (
	"testing"
	"time"

	"stig/beads"
	"stig/mysql"
)

// TestEditsAsTheFileDoes makes edits of every kind, and compares the text with what the
// same edits make of a store in memory.
func TestEdit(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		s := open(t, c, `{"id":"demo-1","title":"Light the lamp","status":"open"}`+"\n"+`{"id":"demo-3","title":"x","comments":[{"id":1,"author":"a","text":"b"}]}`+"\r\n")
		changes, stop := s.Watch()
		defer stop()
		edit(t, s, func(tx *beads.Tx) error { return tx.Set("demo-1", beads.Set{Key: beads.Notes, Text: "seen"}) })
		edit(t, again(t, c), func(tx *beads.Tx) error { _, err := tx.Add(beads.New{ID: "demo-2", Title: "two"}); return err })
		edit(t, again(t, c), func(tx *beads.Tx) error { return tx.AddComment("demo-1", beads.Comment{Author: "mara", Text: "hello"}) })
		edit(t, again(t, c), func(tx *beads.Tx) error { return tx.AddComment("demo-3", beads.Comment{Author: "mara", Text: "hello"}) })
		t.Log(textOf(t, s))
		if textOf(t, s) != textOf(t, again(t, c)) {
			t.Error("differs")
		}
		select {
		case <-changes:
		case <-time.After(3 * time.Second):
			t.Error("no change was sent")
		}
		v, err := s.Server(t.Context())
		t.Log(v, err)
	})
}
