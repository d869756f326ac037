package checkpoint_test

import (
	"fmt"
	"time"

	"stig/checkpoint"
	"stig/cue"
	"stig/notes"
	"stig/signals"
)

func ExampleApply() {
	rules := checkpoint.Rules{Schema: cue.Embedded(), Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	_, report, err := checkpoint.Apply("demo-1", notes.Parse(""), checkpoint.Update{
		Signals:  map[signals.Signal]string{signals.Surprise: "0.2"},
		Estimate: signals.Estimate{Done: "the parser reads both forms"},
	}, rules)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Changed, report.Sections)
	// Output: [{surprise 0.0 0.2}] [stigmergic-signals checkpoint-context]
}
