package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"stig/internal/testkit/sample"
)

// TestBytesRead checks how often commands read the whole store: once for the index; once more,
// or in part, for the notes that they need; a write also copies it, and reads it twice to see
// that nothing changed meanwhile.
func TestBytesRead(t *testing.T) {
	const issues = 3000
	dir, path := sample.Store(t, issues)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	size, id := info.Size(), middleID(issues)
	for _, c := range []struct {
		readings float64
		args     []string
	}{
		{1, []string{"signals", "get", id}},
		{1, []string{"show", id}},
		{1, []string{"orient", id}},
		{1.74, []string{"ready"}}, // once for the index, then the notes of ready issues
		{1, []string{"list"}},
		{1, []string{"cycles"}},
		{2, []string{"orient"}},
		{2, []string{"vet"}},
		{2, []string{"check"}},
		{4, []string{"checkpoint", id, "--surprise", "0.35", "--done", "x", "--remains", "y", "--actor", "mara"}},
	} {
		before := bytesRead(t)
		inProcess(t, dir, c.args...)
		read := float64(bytesRead(t)-before) / float64(size)
		if read < c.readings-0.5 || read > c.readings*1.12 {
			t.Errorf("stig %s read the store %.2f times, want %.2f", strings.Join(c.args, " "), read, c.readings)
		}
	}
}

// bytesRead returns how many bytes this process has read so far.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(text), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}
