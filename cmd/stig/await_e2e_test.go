//go:build e2e

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// TestAwaitOutlastsCarelessWriters removes the store for a moment and rewrites it in two
// pieces, as programs without the lock do.
func TestAwaitOutlastsCarelessWriters(t *testing.T) {
	t.Parallel()
	w, store := awaiting(t)
	text, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(store); err != nil {
		t.Fatal(err)
	}
	w.waits(t, 1500*time.Millisecond)
	text = bytes.Replace(text, []byte(`so none of us can choose.\n`), []byte(`so none of us can choose.\n\n## Resolved (2026-11-20)\nNobody.\n`), 1)
	file, err := os.Create(store)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	at := bytes.Index(text, []byte("harbor-b7q")) + 200
	if _, err := file.Write(text[:at]); err != nil {
		t.Fatal(err)
	}
	w.waits(t, 200*time.Millisecond)
	if _, err := file.Write(text[at:]); err != nil {
		t.Fatal(err)
	}
	w.ends(t, 10*time.Second, 0)
	if got := w.out.String(); got != "Nobody.\n" {
		t.Errorf("printed %q", got)
	}
	if got := w.err.String(); strings.Count(got, "; waiting for it\n") != 1 {
		t.Errorf("said %q, want once that the store is waited for", got)
	}
}
