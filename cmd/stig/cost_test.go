package main

import (
	"bytes"
	"runtime"
	"testing"

	"stig/internal/testkit/sample"
	"stig/internal/workspace"
)

// middleID returns the id of an issue in the middle of a generated store.
func middleID(issues int) string { return sample.ID(issues/2 | 1) }

// inProcess runs a command line in this process and returns its output.
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
	if code := a.Execute(t.Context(), command(a), append([]string{"-C", dir}, args...)); code > workspace.ExitFound {
		t.Fatalf("stig %v: exit %d: %s", args, code, out.Bytes())
	}
	return out.String()
}

// TestSameOnAllCores checks that the number of cores does not change the output.
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
