package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"stig/internal/process"
)

// A word is looked up once: criteria of thousands of issues name the same programs.
func TestFinderAsksOnce(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	program := filepath.Join(dir, "tidegauge")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	asked := 0
	look := process.Finder(dir, func(name string) string { asked++; return name })
	if !look("tidegauge") || !look("./tidegauge") || look("./none") || !look("$TIDE") {
		t.Fatal("not found, or found what is not there")
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if !look("tidegauge") || !look("./tidegauge") || !look("$TIDE") || asked != 1 {
		t.Errorf("looked again, %d times in the environment", asked)
	}
}
