package main

import (
	"bytes"
	"testing"

	"stig/cue"
)

// TestReadingCompilesNoSchema runs commands with a schema that does not compile: commands that
// only read valid tables must not notice, the one that validates must.
func TestReadingCompilesNoSchema(t *testing.T) {
	harbor := fromHere("..", "..", "examples", "harbor")
	run := func(args ...string) (code int, failed any) {
		defer func() { failed = recover() }()
		a := newApp()
		var out bytes.Buffer
		a.Out, a.Err = &out, &out
		a.Schema = cue.New("broken.cue", []byte("{"))
		return a.Execute(t.Context(), command(a), append([]string{"-C", harbor}, args...)), nil
	}
	for _, args := range [][]string{
		{"orient"}, {"orient", "harbor-9fd.3"}, {"orient", "harbor-4ke.5", "--json"}, {"review", "harbor-9fd.3"},
		{"show", "harbor-9fd.3"}, {"signals", "get", "harbor-q5v", "--json"}, {"vet"}, {"schema"}, {"version"},
	} {
		if code, failed := run(args...); code != 0 || failed != nil {
			t.Errorf("stig %v: exit %d, %v", args, code, failed)
		}
	}
	if _, failed := run("checkpoint", "harbor-9fd.3", "--surprise", "0.2", "--dry-run"); failed == nil {
		t.Error("a checkpoint was not held against the schema")
	}
}
