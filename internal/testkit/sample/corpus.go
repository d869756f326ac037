package sample

import (
	"os"
	"path/filepath"
	"testing"
)

// CorpusDir returns the directory of real stores that STIG_CORPUS names. Without one the test
// fails.
func CorpusDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("STIG_CORPUS")
	if dir == "" {
		tb.Fatal("STIG_CORPUS names no directory of real stores")
	}
	return dir
}

// Corpus lists the real stores in CorpusDir whose names below it match one of the patterns. If
// none does, the test fails.
func Corpus(tb testing.TB, patterns ...string) (paths []string) {
	tb.Helper()
	dir := CorpusDir(tb)
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			tb.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		tb.Fatalf("%s contains no store %q", dir, patterns)
	}
	return paths
}
