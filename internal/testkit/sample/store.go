package sample

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
)

// Store creates a store with this many issues for a test, and returns the directory that
// contains its .beads and the path of the file of issues. On an error the test fails.
func Store(tb testing.TB, issues int) (dir, path string) {
	tb.Helper()
	dir = tb.TempDir()
	path = filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmp.Or(Write(file, issues, 1), file.Close()); err != nil {
		tb.Fatal(err)
	}
	return dir, path
}
