package lint_test

import (
	"fmt"

	"stig/cue"
	"stig/internal/lint"
	"stig/internal/testkit/memory"
)

func ExampleVet() {
	line := `{"id":"demo-1","title":"t","status":"open","notes":"<!-- checkpoint-context -->\nnever closed"}` + "\n"
	file, err := memory.New(line).Snapshot()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	found, err := lint.Vet(file, nil, lint.Rules{Schema: cue.Embedded()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range found {
		fmt.Println(d.Severity, d.Place(), d.Rule)
	}
	// Output: error demo-1 notes:1:1 section-malformed
}
