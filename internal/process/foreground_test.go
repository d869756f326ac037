package process_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"stig/internal/process"
)

// TestForeground: the program has the very files it was given, and its exit code is returned.
func TestForeground(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	printed, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer printed.Close()
	if _, err := out.WriteString("typed\nnot read\n"); err != nil {
		t.Fatal(err)
	}
	out.Close()
	exit, err := process.Foreground(t.Context(), process.Command{Argv: []string{"sh", "-c", `read line; echo "$line"; exit 3`}},
		process.Terminal{In: in, Out: theirs, Err: theirs})
	theirs.Close()
	if err != nil || exit != 3 {
		t.Fatalf("exit %d, %v", exit, err)
	}
	text := make([]byte, 100)
	n, err := printed.Read(text)
	if err != nil || string(text[:n]) != "typed\n" {
		t.Errorf("printed %q, %v", text[:n], err)
	}
}

// TestForegroundEnds: an interrupt ends the program, and a missing program is an error.
func TestForegroundEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := process.Foreground(ctx, process.Command{Argv: []string{"sleep", "20"}}, process.Terminal{})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	if _, err := process.Foreground(t.Context(), process.Command{Argv: []string{"no-such-editor"}}, process.Terminal{}); err == nil {
		t.Error("a program that is not there was run")
	}
}
