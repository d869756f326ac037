package jsonl

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
)

const (
	// settleTime is how long a program that writes the store in place may take.
	settleTime = time.Second
	// settlePoll is how long a reader waits before it looks again.
	settlePoll = 10 * time.Millisecond
)

// opened is a store as read, and the file with its lines.
type opened struct {
	*beads.Snapshot
	file  *os.File
	stamp stamp // of the file while it holds this, if every change shows in it; else zero
}

// read reads a store until it is complete, for at most settleTime, since a program that writes
// in place first truncates it. Only a file changed within that time is read again, so that one
// that has been empty or truncated for longer costs nothing. An edit uses the sum to check that
// the file still holds what was read.
func read(p beads.Place, how beads.Source) (*opened, error) {
	f, _, err := readResting(p, how)
	return f, err
}

// readResting is read that also returns the file's stamp before and after the reading, nil if a
// program may be writing it.
func readResting(p beads.Place, how beads.Source) (f *opened, resting fs.FileInfo, err error) {
	limit := time.After(settleTime)
	for wait := time.Duration(0); ; wait = settlePoll {
		f, before, err := readOnce(p, how)
		if err != nil {
			return nil, nil, err
		}
		after, err := f.file.Stat()
		if err != nil {
			return nil, nil, fault.Join(beads.Unreadable(p.Path, err), f.Close())
		}
		moved := !sameAtAGlance(before, after)
		if !moved && !f.mayBeUnfinished(after) {
			return f, after, nil
		}
		select {
		case <-limit:
			return f, nil, nil
		case now := <-time.After(wait):
			if age := now.Sub(after.ModTime()).Abs(); !moved && age > settleTime {
				return f, nil, nil
			}
		}
		if err := f.Close(); err != nil {
			return nil, nil, beads.Unreadable(p.Path, err)
		}
	}
}

// readOnce also returns the file's stamp before the reading.
func readOnce(p beads.Place, how beads.Source) (*opened, fs.FileInfo, error) {
	file, err := openPlain(p.Path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fault.Join(beads.Unreadable(p.Path, err), file.Close())
	}
	snapshot, err := beads.NewSnapshot(p, sourceOf(p, file, info.Size(), how))
	if err != nil {
		return nil, nil, fault.Join(beads.Unreadable(p.Path, err), file.Close())
	}
	return &opened{Snapshot: snapshot, file: file}, info, nil
}

// sourceOf returns a source for the store's file; how holds the other options.
func sourceOf(p beads.Place, file *os.File, size int64, how beads.Source) beads.Source {
	how.Lines, how.Size, how.Close = file, size, file.Close
	how.Prefix = func(fallback bool) (string, error) { return prefix(p.Dir, fallback) }
	return how
}

// openPlain opens a regular file for reading and refuses everything else.
func openPlain(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, beads.Unreadable(path, err)
	}
	if info.IsDir() {
		return nil, &fault.Error{Code: fault.Store, Path: path, Reason: "is a directory", Hint: "name the .jsonl file in it"}
	}
	if !info.Mode().IsRegular() {
		return nil, &fault.Error{Code: fault.Store, Path: path, Reason: "is not a regular file", Hint: "name a .jsonl file"}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, beads.Unreadable(path, err)
	}
	return file, nil
}

// mayBeUnfinished reports whether a program seems to be writing the file in place: it is empty
// or truncated without having been created so, or is open for writing.
func (f *opened) mayBeUnfinished(info fs.FileInfo) bool {
	short := info.Size() == 0 || slices.ContainsFunc(f.Problems(), func(p beads.Problem) bool { return p.Rule == beads.CutShort })
	return short && !isNew(f.file, info) || isWritten(f.file)
}

// text is the whole store as read.
func (f *opened) text() (string, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.NewSectionReader(f.file, 0, f.Size()))
	if err != nil {
		return "", beads.Unreadable(f.Place().Path, err)
	}
	if n < f.Size() {
		return "", beads.ErrStale
	}
	return text.String(), nil
}

const prefixFile = "prefix" // in .beads: the prefix that Init was given

// prefix returns the prefix of new ids: issue-prefix of config.yaml, or as fallback the one
// Init saved.
func prefix(dir string, fallback bool) (string, error) {
	d, err := listDir(dir)
	if err != nil {
		return "", err
	}
	if !fallback {
		settings, err := d.settings()
		return strings.TrimRight(settings["issue-prefix"], "-"), err
	}
	if !d.has(prefixFile) {
		return "", nil
	}
	path := filepath.Join(d.dir, prefixFile)
	text, err := file.Read(path)
	if err != nil {
		return "", beads.Unreadable(path, err)
	}
	prefix := strings.TrimSpace(string(text))
	if err := beads.CheckPrefix(prefix); err != nil {
		return "", &fault.Error{Code: fault.Store, Path: path, Reason: err.Error(), Hint: "fix or remove it"}
	}
	return prefix, nil
}
