package main

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/rogpeppe/go-internal/testscript"
)

// event sends a hook the event in a file; negated, the hook must answer nothing: event
// start.json session-start --host codex
func event(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: event file hook [arguments]")
	}
	text := ts.ReadFile(args[0])
	stdin := scriptField(ts, "stdin")
	reflect.NewAt(stdin.Type(), unsafe.Pointer(stdin.UnsafeAddr())).Elem().SetString(text)
	stig(ts, false, append([]string{"hook"}, args[1:]...))
	answer := "" // output of a process, or of this one
	if scriptField(ts, "builtinStdout").IsNil() {
		answer = ts.ReadFile("stdout")
	} else {
		answer = fmt.Sprint(ts.Stdout())
	}
	if neg && answer != "" {
		ts.Fatalf("the hook answers %s", answer)
	}
}
