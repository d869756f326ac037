package lint_test

import (
	"fmt"
	"os"
	"path/filepath"

	"stig/beads"
	"stig/cue"
	"stig/lint"
)

func ExampleVet() {
	dir, err := os.MkdirTemp("", "stig")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "issues.jsonl")
	line := `{"id":"demo-1","title":"t","status":"open","notes":"<!-- checkpoint-context -->\nnever closed"}` + "\n"
	if err := os.WriteFile(path, []byte(line), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	file, err := beads.Read(beads.Store{Path: path, Dir: dir})
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
