package schemas_test

import (
	"fmt"
	"strings"

	"stig/schemas"
)

func Example() {
	for line := range strings.Lines(schemas.StigmergicWorkflow) {
		if strings.HasPrefix(line, "package ") {
			fmt.Print(line)
		}
	}
	// Output: package stigmergic
}
