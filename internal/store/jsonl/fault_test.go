package jsonl

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
)

// faultyDisk is the real file system with one failing step: the nth call of the named one.
type faultyDisk struct {
	osDisk
	fails string
	nth   int
	with  error // nil makes a write store half of its bytes and report success
	steps []string
}

// step records a step and reports whether it must fail.
func (d *faultyDisk) step(name string) bool {
	d.steps = append(d.steps, name)
	if name == d.fails {
		d.nth--
	}
	return name == d.fails && d.nth == 0
}

func (d *faultyDisk) lock(ctx context.Context, path, target string) (io.Closer, error) {
	if d.step("lock") {
		return nil, &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked", Cause: d.with, Hint: "x"}
	}
	held, err := d.osDisk.lock(ctx, path, target)
	return faultyLock{held, d}, err
}

func (d *faultyDisk) list(dir string) (listing, error) {
	if d.step("list") {
		return listing{}, d.with
	}
	return d.osDisk.list(dir)
}

func (d *faultyDisk) read(s beads.Place) (*opened, error) {
	if d.step("read") {
		return nil, beads.Unreadable(s.Path, d.with)
	}
	return d.osDisk.read(s)
}

func (d *faultyDisk) temp(dir, pattern string) (tempFile, error) {
	if d.step("temp") {
		return nil, d.with
	}
	t, err := d.osDisk.temp(dir, pattern)
	return faultyTemp{t, d}, err
}

func (d *faultyDisk) open(path string) (source, error) {
	if d.step("open") {
		return nil, d.with
	}
	f, err := d.osDisk.open(path)
	return faultyReader{f, d}, err
}

func (d *faultyDisk) exchange(a, b string) error {
	if d.step("exchange") {
		return d.with
	}
	return d.osDisk.exchange(a, b)
}

func (d *faultyDisk) rename(from, to string) error {
	if d.step("rename") {
		return d.with
	}
	return d.osDisk.rename(from, to)
}

func (d *faultyDisk) remove(path string) error {
	if d.step("remove") {
		return d.with
	}
	return d.osDisk.remove(path)
}

func (d *faultyDisk) syncDir(path string) error {
	if d.step("syncDir") {
		return d.with
	}
	return d.osDisk.syncDir(path)
}

type faultyTemp struct {
	tempFile
	disk *faultyDisk
}

func (t faultyTemp) Write(b []byte) (int, error) {
	if !t.disk.step("write") {
		return t.tempFile.Write(b)
	}
	n, err := t.tempFile.Write(b[:len(b)/2])
	if err == nil {
		err = t.disk.with
	}
	return n, err
}

func (t faultyTemp) copyFrom(src *os.File, off, n int64) error {
	if t.disk.step("copy") {
		return fault.Join(t.tempFile.copyFrom(src, off, n/2), t.disk.with)
	}
	return t.tempFile.copyFrom(src, off, n)
}

func (t faultyTemp) become(of fs.FileInfo, from *os.File) error {
	if t.disk.step("become") {
		return t.disk.with
	}
	return t.tempFile.become(of, from)
}

func (t faultyTemp) Sync() error {
	if t.disk.step("sync") {
		return t.disk.with
	}
	return t.tempFile.Sync()
}

func (t faultyTemp) Close() error {
	err := t.tempFile.Close()
	if t.disk.step("close") {
		return t.disk.with
	}
	return err
}

type faultyReader struct {
	source
	disk *faultyDisk
}

func (r faultyReader) ReadAt(b []byte, off int64) (int, error) {
	if r.disk.step("reread") {
		return 0, r.disk.with
	}
	return r.source.ReadAt(b, off)
}

func (r faultyReader) Close() error {
	return fault.Join(r.source.Close(), r.disk.fault("closeRead"))
}

type faultyLock struct {
	io.Closer
	disk *faultyDisk
}

func (l faultyLock) Close() error { return fault.Join(l.Closer.Close(), l.disk.fault("unlock")) }

func (d *faultyDisk) fault(name string) error {
	if d.step(name) {
		return d.with
	}
	return nil
}

// steps are those of one edit, in order.
const steps = "lock list read temp become copy write copy sync close open reread closeRead " +
	"rename exchange open reread closeRead remove syncDir unlock"

// Whichever step fails, and however, the error names its place and a remedy; the store is
// whole, old before the exchange and new after it; and no file is left behind.
func TestEditFaults(t *testing.T) {
	edited := strings.Replace(strings.Replace(harbour, `"one"`, `"two"`, 1), `"updated_at":"2026-01-01T00:00:00Z"`, updatedNow, 1)
	whole := &faultyDisk{}
	s := writeStore(t, harbour)
	if _, err := editOn(ctx, whole, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two")); err != nil || content(t, s) != edited {
		t.Fatalf("%v: %s", err, content(t, s))
	}
	if got := strings.Join(whole.steps, " "); got != steps {
		t.Fatalf("the steps are\n%s, want\n%s", got, steps)
	}
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	for _, with := range []error{full, syscall.EIO, fs.ErrPermission, fs.ErrNotExist, nil} {
		seen := map[string]int{}
		for step := range strings.FieldsSeq(steps) {
			seen[step]++
			if with == nil && step != "write" {
				continue
			}
			d := &faultyDisk{fails: step, nth: seen[step], with: with}
			s := writeStore(t, harbour)
			_, err := editOn(ctx, d, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two"))
			want := harbour
			switch {
			case step == "list", step == "remove", step == "open" && with == fs.ErrNotExist:
				// Harmless: the next writer removes what is left; a store that is gone for a
				// moment is read again.
				want = edited
				if err != nil {
					t.Errorf("%s fails with %v: %v", step, with, err)
				}
			case step == "unlock":
				want = edited
				if err == nil {
					t.Errorf("%s fails with %v: no error", step, with)
				}
			default:
				if step == "syncDir" {
					want = edited
				}
				checkFault(t, step, with, s, err)
			}
			if got := content(t, s); got != want {
				t.Errorf("%s fails with %v: the file holds %q", step, with, got)
			}
			switch step {
			case "lock":
				checkClean(t, s, "issues.jsonl")
			case "remove":
				if _, err := editAt(ctx, s, beads.Options{Now: testNow}, func(*beads.Tx) error { return nil }); err != nil {
					t.Error(err)
				}
				fallthrough
			default:
				checkClean(t, s, jsonlLock, "issues.jsonl")
			}
		}
	}
}

func checkFault(t *testing.T, step string, with error, s beads.Place, err error) {
	t.Helper()
	e, ok := fault.As(err, fault.Store)
	if !ok || e.Hint == "" || !strings.HasPrefix(err.Error(), s.Dir) || with != nil && !errors.Is(err, with) {
		t.Errorf("%s fails with %v: %v", step, with, err)
	}
	if errors.Is(with, syscall.ENOSPC) && step != "lock" && !strings.Contains(e.Hint, "make room") && !strings.Contains("read open reread closeRead", step) {
		t.Errorf("%s fails with %v: the hint is %q", step, with, e.Hint)
	}
}

// A writer that fails and cannot clean up reports both; the next one cleans up.
func TestEditFaultTwice(t *testing.T) {
	s := writeStore(t, harbour)
	d := &faultyDisk{fails: "remove", nth: 1, with: syscall.EIO}
	_, err := editOn(ctx, struct{ disk }{renameless{d}}, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two"))
	if !errors.Is(err, syscall.EROFS) || !errors.Is(err, syscall.EIO) || content(t, s) != harbour {
		t.Errorf("%v: %s", err, content(t, s))
	}
	names, err := listDir(s.Dir)
	if err != nil || len(names.names) != 3 {
		t.Fatalf("no file was left behind: %v, %v", names, err)
	}
	if found, err := Discover(Where{Dir: s.Dir, BeadsDir: s.Dir}); err != nil || found.Path != s.Path {
		t.Errorf("beside a file that was left behind, found %v, %v", found, err)
	}
	if f := mustRead(t, s.Path); f.Len() != 2 {
		t.Errorf("read %d issues", f.Len())
	}
	if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two")); err != nil {
		t.Error(err)
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
}

// renameless is a disk that became read-only before the exchange.
type renameless struct{ disk }

func (renameless) exchange(string, string) error { return syscall.EROFS }

// A directory that disappears during an edit is an error with its place, at any step.
func TestEditDirectoryGone(t *testing.T) {
	for _, fn := range []func(beads.Place) func(*beads.Tx) error{
		func(s beads.Place) func(*beads.Tx) error {
			return func(tx *beads.Tx) error {
				return fault.Join(os.RemoveAll(s.Dir), tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "two"}))
			}
		},
		func(s beads.Place) func(*beads.Tx) error {
			return func(tx *beads.Tx) error {
				return fault.Join(tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "two"}), os.RemoveAll(s.Dir))
			}
		},
	} {
		s := writeStore(t, harbour)
		_, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, fn(s))
		e, ok := fault.As(err, fault.Store)
		if !ok || !strings.HasPrefix(err.Error(), s.Path) || !strings.Contains(e.Hint, "still there") {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(s.Dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the directory came back: %v", err)
		}
		if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, fn(s)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("gone before: %v", err)
		}
	}
}

// An interrupted edit writes nothing.
func TestEditInterrupted(t *testing.T) {
	s := writeStore(t, harbour)
	c, cancel := context.WithCancel(ctx)
	_, err := editAt(c, s, beads.Options{Now: testNow, Notes: anyNotes}, func(tx *beads.Tx) error {
		cancel()
		return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "two"})
	})
	if !errors.Is(err, context.Canceled) || content(t, s) != harbour {
		t.Errorf("%v: %s", err, content(t, s))
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
}

// Notes are written only as far as the caller accounts for them.
func TestEditNotesJudged(t *testing.T) {
	s := writeStore(t, harbour)
	for name, notes := range map[string]func(string, string) error{
		"by nobody":   nil,
		"and refused": func(before, after string) error { return errors.New(before + " became " + after) },
	} {
		changes, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: notes}, setNotes("h-1", "two"))
		e, ok := fault.As(err, fault.Refused)
		if !ok || e.Line != 2 || e.Hint == "" || changes != nil || content(t, s) != harbour {
			t.Errorf("judged %s: %v, %v", name, changes, err)
		}
		if notes != nil && !strings.Contains(err.Error(), "h-1: one became two") {
			t.Errorf("judged %s: %v", name, err)
		}
	}
	if _, err := editAt(ctx, s, beads.Options{Now: testNow}, setNotes("h-2", "first")); err != nil {
		t.Errorf("notes where there were none: %v", err)
	}
}
