package process_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stig/process"
)

// TestDetach starts a program that reads its input late: it gets all of it,
// and nobody waits for that.
func TestDetach(t *testing.T) {
	dir := t.TempDir()
	input := bytes.Repeat([]byte("0123456789abcde\n"), 1<<10)
	start := time.Now()
	err := process.Detach(process.Command{Argv: []string{"sh", "-c", "sleep 0.3; cat >part; mv part whole"}, Dir: dir, Stdin: input}, "late")
	if took := time.Since(start); err != nil || took > 250*time.Millisecond {
		t.Fatalf("%v after %s", err, took)
	}
	var got []byte
	for range 500 {
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
