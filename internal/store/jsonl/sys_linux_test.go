package jsonl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
)

// A program that writes in place may have opened the file before it lost its name.
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
	// A program that opens it while it is held waits, and is noticed.
	unheld, release = hold(path)
	asks := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			err = f.Close()
		}
		asks <- err
	}()
	for unheld() { // the test's own time limit ends an endless wait
	}
	release()
	if err := <-asks; err != nil {
		t.Error(err)
	}
}

// lateDisk is the real one, but a program has opened the store to write in place just before
// the first exchange, and writes and closes it after the next.
type lateDisk struct {
	osDisk
	text  string
	opens bool // still to come
	late  *os.File
}

func (d *lateDisk) exchange(a, b string) error {
	if d.opens {
		d.opens = false
		late, err := os.OpenFile(b, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		d.late = late
		return d.osDisk.exchange(a, b)
	}
	err := d.osDisk.exchange(a, b)
	if d.late != nil {
		_, e := d.late.WriteAt([]byte(d.text), 0)
		err = fault.Join(err, fault.Join(e, d.late.Close()))
		d.late = nil
	}
	return err
}

// A program that opened the store before it was replaced writes to the store, and not to an
// orphaned file.
func TestEditGivesBackWhatIsOpen(t *testing.T) {
	s := writeStore(t, harbour)
	d := &lateDisk{text: strings.Replace(harbour, "Ring", "Sing", 1), opens: true}
	_, err := editOn(ctx, d, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two"))
	if got := content(t, s); err != nil || !strings.Contains(got, "Sing") || !strings.Contains(got, `"two"`) {
		t.Errorf("%v: %s", err, got)
	}
}
