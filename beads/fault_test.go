package beads

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// faultyDisk is the real file system, but its nth operation fails.
type faultyDisk struct {
	osDisk
	left  int
	short bool // a failing write takes half and says nothing
	hit   string
}

var errFault = &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}

func (d *faultyDisk) fails(op string) bool {
	d.left--
	if d.left == 0 {
		d.hit = op
	}
	return d.left == 0
}

func (d *faultyDisk) temp(dir, pattern string) (tempFile, error) {
	if d.fails("temp") {
		return nil, errFault
	}
	t, err := d.osDisk.temp(dir, pattern)
	return faultyTemp{t, d}, err
}

func (d *faultyDisk) rename(from, to string) error {
	if d.fails("rename") {
		return errFault
	}
	return d.osDisk.rename(from, to)
}

func (d *faultyDisk) syncDir(path string) error {
	if d.fails("syncDir") {
		return errFault
	}
	return d.osDisk.syncDir(path)
}

type faultyTemp struct {
	tempFile
	disk *faultyDisk
}

func (t faultyTemp) Write(b []byte) (int, error) {
	if !t.disk.fails("write") {
		return t.tempFile.Write(b)
	}
	n, err := t.tempFile.Write(b[:len(b)/2])
	if !t.disk.short && err == nil {
		err = errFault
	}
	return n, err
}

func (t faultyTemp) copyFrom(src *os.File, off, n int64) error {
	if t.disk.fails("copy") {
		return errors.Join(t.tempFile.copyFrom(src, off, n/2), errFault)
	}
	return t.tempFile.copyFrom(src, off, n)
}

func (t faultyTemp) become(of fs.FileInfo) error {
	if t.disk.fails("become") {
		return errFault
	}
	return t.tempFile.become(of)
}

func (t faultyTemp) Sync() error {
	if t.disk.fails("sync") {
		return errFault
	}
	return t.tempFile.Sync()
}

func (t faultyTemp) Close() error {
	err := t.tempFile.Close()
	if t.disk.fails("close") {
		return errFault
	}
	return err
}

// Whichever step fails, the error comes out, the store is whole and nothing is
// left lying about; only after the rename does it hold the new text.
func TestEditFaults(t *testing.T) {
	var hit []string
	for _, short := range []bool{false, true} {
		for n := 1; ; n++ {
			s := writeStore(t, harbour)
			d := &faultyDisk{left: n, short: short}
			_, err := edit(ctx, d, s, Options{Now: testNow}, setNotes("h-1", "two"))
			if d.hit == "" {
				if err != nil {
					t.Errorf("nothing failed, but %v", err)
				}
				break
			}
			hit = append(hit, d.hit)
			if e, ok := errors.AsType[*StoreError](err); !ok || e.Hint == "" || !strings.HasPrefix(err.Error(), s.Path) {
				t.Errorf("%s failed: %v", d.hit, err)
			}
			if got := content(t, s); (got == harbour) != (d.hit != "syncDir") {
				t.Errorf("%s failed: the file holds %q", d.hit, got)
			}
			checkClean(t, s, jsonlLock, "issues.jsonl")
		}
	}
	const once = "temp become copy write copy sync close rename syncDir"
	if got := strings.Join(hit, " "); got != once+" "+once {
		t.Errorf("the steps were %s", got)
	}
}

// An interrupted edit writes nothing.
func TestEditInterrupted(t *testing.T) {
	s := writeStore(t, harbour)
	c, cancel := context.WithCancel(ctx)
	_, err := Edit(c, s, Options{Now: testNow}, func(tx *Tx) error {
		cancel()
		return tx.Set("h-1", Set{Notes, "two"})
	})
	if !errors.Is(err, context.Canceled) || content(t, s) != harbour {
		t.Errorf("%v: %s", err, content(t, s))
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
}
