package gate_test

import (
	"fmt"

	"stig/internal/gate"
)

func ExamplePlan() {
	onPath := func(word string) bool { return word == "go" || word == "git" }
	text := "- `go test ./...` passes\n- never `git gc --auto`\n- make lint is clean\n"
	for _, check := range gate.Plan(text, onPath) {
		fmt.Printf("%d %s: %s (%s)\n", check.Line, check.Class, check.Text, check.Reason)
	}
	// Output:
	// 1 run: go test ./... ()
	// 2 skipped: git gc --auto (mentioned after "never")
	// 3 skipped: make lint (prose is never run: put the command into a fence marked verify)
}
