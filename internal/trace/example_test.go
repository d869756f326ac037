package trace_test

import (
	"fmt"

	"stig/internal/trace"
)

func Example() {
	made, err := trace.Draft{
		Type:    trace.Finding,
		Content: map[string]any{"summary": "the office publishes a month at a time", "url": "https://example.org/tides"},
		Body:    "There is no feed.",
	}.Trace()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(made.Text())
	// Output:
	// finding: the office publishes a month at a time
	//
	// There is no feed.
	//
	// url: https://example.org/tides
	// stig: finding/1
}
