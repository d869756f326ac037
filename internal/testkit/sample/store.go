package sample

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
)

// Store makes a store of so many issues for a test, which fails when that
// cannot be done, and gives the directory that holds its .beads and the path of
// the file of issues.
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
