package process_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stig/internal/process"
)

// TestDetach starts a program that reads its input late: it gets all of it, and nobody waits.
func TestDetach(t *testing.T) {
	dir := t.TempDir()
	input := bytes.Repeat([]byte("0123456789abcde\n"), 1<<10)
	script := "until [ -e read ]; do sleep 0.01; done; cat >part; mv part whole"
	started := make(chan error, 1)
	go func() {
		started <- process.Detach(process.Command{Argv: []string{"sh", "-c", script}, Dir: dir, Stdin: input}, "late")
	}()
	var err error
	select {
	case err = <-started:
	case <-time.After(20 * time.Second):
		err = errors.New("it is waited for")
	}
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "read"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for range 2000 {
		if got, err = os.ReadFile(filepath.Join(dir, "whole")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !bytes.Equal(got, input) {
		t.Errorf("%v: it got %d bytes, want %d", err, len(got), len(input))
	}
	if err := process.Detach(process.Command{Argv: []string{"sh"}, Stdin: append(input, '\n')}, "sh"); err == nil {
		t.Error("more input than a pipe holds is taken")
	}
	if err := process.Detach(process.Command{Argv: []string{filepath.Join(dir, "absent")}}, "absent"); err == nil {
		t.Error("a program that is not there is no error")
	}
}
