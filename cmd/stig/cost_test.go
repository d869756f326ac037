package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"stig/app"
	"stig/internal/sample"
)

// middleID is the id of an issue in the middle of a generated store.
func middleID(issues int) string { return sample.ID(issues/2 | 1) }

// inProcess runs a command line in this process and gives what it printed.
func inProcess(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	a := newApp()
	a.Out, a.Err = &out, &out
	environment := a.Getenv
	a.Getenv = func(name string) string {
		if name == "STIG_NOW" {
			return "2026-11-20T09:00:00Z"
		}
		return environment(name)
	}
	if code := a.Run(t.Context(), command(a), append([]string{"-C", dir}, args...)); code > app.ExitFound {
		t.Fatalf("stig %v: exit %d: %s", args, code, out.Bytes())
	}
	return out.String()
}

// TestSameOnAllCores asserts that the number of cores changes no byte of what
// commands print.
func TestSameOnAllCores(t *testing.T) {
	const issues = 1500
	dir, _ := sample.Store(t, issues)
	id := middleID(issues)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, args := range [][]string{
		{"orient", "--json", "--full"}, {"orient"}, {"orient", id, "--json", "--full"}, {"show", id}, {"ready", "--json"},
		{"list", "--json"}, {"plan", "--json"}, {"cycles", "--json"}, {"vet", "--json"}, {"check", "--json"},
	} {
		var first string
		for _, cores := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(cores)
			switch got := inProcess(t, dir, args...); {
			case first == "":
				first = got
			case got != first:
				t.Errorf("stig %v: other output with GOMAXPROCS %d", args, cores)
			}
		}
		if len(first) < 100 {
			t.Errorf("stig %v printed %q, which proves little", args, first)
		}
	}
}

// TestBytesRead holds commands to so many readings of the whole store: one to
// know what there is and one more where all notes are read, or a part of one
// for those of what is ready; for a write one to know, one to copy, and two to
// see that nothing changed meanwhile.
func TestBytesRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux counts the bytes that a process reads")
	}
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
		{1.74, []string{"ready"}}, // once for the index, and the notes of what is ready
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

// bytesRead is how much this process has read so far.
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
