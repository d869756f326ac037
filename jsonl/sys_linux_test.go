package jsonl

import (
	"os"
	"path/filepath"
	"testing"
)

// Who writes in place may have opened the file before it lost its name.
func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "issues.jsonl")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	unheld, release := hold(path)
	if !unheld() {
		t.Error("a reader is taken for a writer")
	}
	release()
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	unheld, release = hold(path)
	if unheld() {
		t.Error("who writes is not seen")
	}
	release()
	writer.Close()
	// Who asks for it while it is held waits, and is seen.
	unheld, release = hold(path)
	asks := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			err = f.Close()
		}
		asks <- err
	}()
	for unheld() { // the test's own time limit ends what never comes
	}
	release()
	if err := <-asks; err != nil {
		t.Error(err)
	}
}
