package checkpoint_test

import (
	"strings"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/cue"
	"stig/internal/fault"
	"stig/notes"
	"stig/signals"
)

func rules() checkpoint.Rules {
	return checkpoint.Rules{Schema: cue.Embedded(), Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
}

// others is text that a checkpoint must keep.
const others = "# Log\n\nfree text with `<!-- checkpoint-context -->` in it\n\n" +
	"<!-- audit-findings -->\nkeep\n<!-- /audit-findings -->\n\n"

func TestApplyKeepsWhatItWasNotAskedToChange(t *testing.T) {
	d := notes.Parse(others)
	u := checkpoint.Update{
		Signals:  map[signals.Signal]string{signals.Surprise: "0.4", signals.Progress: "implementing"},
		Estimate: signals.Estimate{Done: "half", Remains: "the other half"},
		Question: checkpoint.Question{Text: "left or right?", By: "mara"},
	}
	result, report, err := checkpoint.Apply("demo-1", d, u, rules())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(result.Text(), strings.TrimRight(others, "\n")) {
		t.Errorf("other text is gone:\n%s", result.Text())
	}
	if got := strings.Join(report.Sections, " "); got != "stigmergic-signals checkpoint-context escalation-context" {
		t.Errorf("sections %s", got)
	}
	again, second, err := checkpoint.Apply("demo-1", result, u, rules())
	if err != nil {
		t.Fatal(err)
	}
	if again.Text() != result.Text() || len(second.Changed) != 0 || len(second.Sections) != 0 {
		t.Errorf("the same update changed something: %+v\n%s", second, again.Text())
	}
}

func TestApplyAsksForAnEstimate(t *testing.T) {
	tests := []struct {
		name    string
		notes   string
		update  checkpoint.Update
		refused bool
	}{
		{"implementing", "", progress("implementing"), true},
		{"blocked", "", progress("blocked"), true},
		{"exploring", "", progress("exploring"), false},
		{"an estimate that is there", "<!-- checkpoint-context -->\nx\n<!-- /checkpoint-context -->", progress("blocked"), false},
		{"already so, another signal changes", "<!-- stigmergic-signals -->\n| Signal | Value |\n|---|---|\n| progress | blocked |\n<!-- /stigmergic-signals -->",
			checkpoint.Update{Signals: map[signals.Signal]string{signals.Surprise: "0.1"}}, true},
		{"told not to", "", checkpoint.Update{Signals: progress("blocked").Signals, NoContext: true}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := checkpoint.Apply("demo-1", notes.Parse(test.notes), test.update, rules())
			if fault.Is(err, fault.Usage) != test.refused {
				t.Errorf("error %v, refused %v wanted", err, test.refused)
			}
		})
	}
}

func progress(value string) checkpoint.Update {
	return checkpoint.Update{Signals: map[signals.Signal]string{signals.Progress: value}}
}

func TestApplyAlerts(t *testing.T) {
	table := "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| cynefin | complicated | - |\n<!-- /stigmergic-signals -->"
	tests := []struct {
		notes  string
		signal signals.Signal
		value  string
		alert  string
	}{
		{table, signals.Cynefin, "complex", "upward-shift"},
		{table, signals.Cynefin, "clear", ""},
		{table, signals.Surprise, "0.3", ""}, // a threshold is passed above it, not at it
		{table, signals.Surprise, "0.31", "divergence"},
		{"", signals.Cynefin, "chaotic", ""}, // a first table changes no signal
	}
	for _, test := range tests {
		u := checkpoint.Update{Signals: map[signals.Signal]string{test.signal: test.value}}
		_, report, err := checkpoint.Apply("demo-1", notes.Parse(test.notes), u, rules())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, a := range report.Alerts {
			got += a.Rule
		}
		if got != test.alert {
			t.Errorf("%v=%s: alerts %q, want %q", test.signal, test.value, got, test.alert)
		}
	}
}
