package gate_test

import (
	"fmt"

	"stig/internal/gate"
)

func ExamplePlan() {
	text := "- `go test ./...` passes\n- never `git gc --auto`\n- make lint is clean\n"
	for _, check := range gate.Plan(text) {
		fmt.Printf("%d %s: %s (%s)\n", check.Line, check.Class, check.Text, check.Reason)
	}
	// Output:
	// 1 run: go test ./... ()
	// 2 mention: git gc --auto (mentioned after "never")
	// 3 manual: make lint (prose is never run: put the command into a fence marked verify)
}
