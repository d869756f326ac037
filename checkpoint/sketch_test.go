package checkpoint_test

import (
	"strings"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/cue"
	"stig/internal/beads"
	"stig/signals"
)

func TestSketchTakesNoOnesPlace(t *testing.T) {
	store := storeOf(`{"id":"demo-1","title":"a","status":"in_progress"}`)
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	rules := checkpoint.Rules{Schema: cue.Embedded(), Now: now}
	sketch := func(text string) error {
		_, err := checkpoint.DraftEstimate(t.Context(), store, beads.Options{Now: now}, "demo-1",
			checkpoint.Update{Estimate: signals.Estimate{Done: text}}, rules)
		return err
	}
	if err := sketch("one"); err != nil {
		t.Fatal(err)
	}
	if err := sketch("two"); err == nil {
		t.Errorf("the second sketch: %v", err)
	}
	if text := store.Text(); !strings.Contains(text, "one") || strings.Contains(text, "two") {
		t.Errorf("the store holds %s", text)
	}
}
