package signals_test

import (
	"reflect"
	"testing"

	"stig/notes"
	"stig/signals"
)

// TestMergedEstimates: what is named is found again, and other names are not.
func TestMergedEstimates(t *testing.T) {
	first := signals.MergedEstimateName("2026-11-20", "## State estimate (2026-11-20)\r\n\r\nseen\r\n")
	if want := signals.MergedEstimateName("2026-11-20", "\n## State estimate (2026-11-20)\n\nseen"); first != want {
		t.Errorf("line ends change the name: %q, %q", first, want)
	}
	second := signals.MergedEstimateName("", "old")
	if second != "merged-estimate 0000-00-00 cba06b57" {
		t.Errorf("got %q", second)
	}
	text := "before\n\n"
	for _, name := range []string{first, "merged-estimate", "merged-estimate 2026-11-20", "merged-estimate 2026-11-20 xyz", "merged-estimate soon cba06b57", second} {
		text += "<!-- " + name + " -->\nbody\n<!-- /" + name + " -->\n\n"
	}
	got := signals.MergedEstimates(notes.Parse(text))
	want := []signals.MergedEstimate{{first, "2026-11-20", "body"}, {second, "", "body"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
