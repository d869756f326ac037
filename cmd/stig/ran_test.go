package main

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/clone"
)

// ran records runs of worker loops for the store in .beads, from a file with one JSON object a
// line: ran runs
func ran(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ran file")
	}
	place, err := clone.At(ts.MkAbs(filepath.Join(".beads", "issues.jsonl")))
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var r clone.Run
		ts.Check(json.Unmarshal([]byte(line), &r))
		ts.Check(place.RecordRun(r, r.Started))
	}
}
