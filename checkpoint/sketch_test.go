package checkpoint_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/beads"
	"stig/checkpoint"
	"stig/cue"
	"stig/signals"
)

func TestSketchTakesNoOnesPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "issues.jsonl")
	if err := os.WriteFile(path, []byte(`{"id":"demo-1","title":"a","status":"in_progress"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	store, err := beads.Discover(beads.Where{File: path})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	rules := checkpoint.Rules{Schema: cue.Embedded(), Now: now}
	sketch := func(text string) error {
		_, err := checkpoint.Sketch(t.Context(), store, beads.Options{Now: now}, "demo-1",
			checkpoint.Update{Estimate: signals.Estimate{Done: text}}, rules)
		return err
	}
	if err := sketch("one"); err != nil {
		t.Fatal(err)
	}
	if err := sketch("two"); !errors.Is(err, checkpoint.ErrEstimated) {
		t.Errorf("the second sketch: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "one") || strings.Contains(string(text), "two") {
		t.Errorf("%v: %s", err, text)
	}
}
