package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"stig/beads"
)

// hostFile is a file that an assistant's program reads.
type hostFile struct {
	path string
	root string // directories below it that are left empty go too
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// read gives nil when there is no such file.
func (f hostFile) read() ([]byte, error) {
	text, err := beads.ReadText(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && exists(f.path):
		return nil, fmt.Errorf("%s: a link to a file that is not there", shortest(f.path))
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, placed(err)
	}
	return append([]byte{}, text...), nil
}

// change is the step from the text that was read to another, where nil is no
// file; no step when they are the same.
func (f hostFile) change(before, after []byte, what ...string) []setupStep {
	if bytes.Equal(before, after) && (before == nil) == (after == nil) {
		return nil
	}
	unchanged := func() error { return f.unchanged(before) }
	do := func() error { return f.write(after, unchanged) }
	if after == nil {
		do = func() error { return f.remove(unchanged) }
	}
	return []setupStep{{what, f.diff(before, after), do}}
}

// unchanged refuses a file that no longer says what was read.
func (f hostFile) unchanged(before []byte) error {
	now, err := f.read()
	if err != nil || bytes.Equal(now, before) && (now == nil) == (before == nil) {
		return err
	}
	return &beads.ConflictError{
		Path: shortest(f.path), Reason: "changed since it was read",
		Hint: "another program wrote to it: run the command again",
	}
}

// diff shows a file that is not there as /dev/null.
func (f hostFile) diff(before, after []byte) string {
	name := func(text []byte) string {
		if text == nil {
			return os.DevNull
		}
		return shortest(f.path)
	}
	text := string(diff.Diff(name(before), before, name(after), after))
	return text[strings.IndexByte(text, '\n')+1:]
}

// write gives the file its text, in directories that are made when they are
// missing, if it is unchanged.
func (f hostFile) write(text []byte, unchanged func() error) error {
	dir := filepath.Dir(f.path)
	if err := f.makeDirs(dir); err != nil {
		return err
	}
	err := replaceFile(f.path, string(text), unchanged)
	if err != nil && !exists(f.path) {
		err = errors.Join(err, f.removeDirs(dir))
	}
	return err
}

// remove removes the file, if it is unchanged, and directories that were made
// for it.
func (f hostFile) remove(unchanged func() error) error {
	if err := unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.path); err != nil {
		return err
	}
	return f.removeDirs(filepath.Dir(f.path))
}

// foundEmpty lies in a directory that was there and empty when a file was put
// below it, so that this one stays when the file goes.
const foundEmpty = ".was-empty-before-stig"

func (f hostFile) makeDirs(dir string) error {
	first := dir
	for first != f.root && !exists(first) {
		first = filepath.Dir(first)
	}
	if entries, err := os.ReadDir(first); err == nil && len(entries) == 0 && first != f.root {
		if err := os.WriteFile(filepath.Join(first, foundEmpty), nil, 0o644); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o755)
}

func (f hostFile) removeDirs(dir string) error {
	for ; dir != f.root && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) == 1 && entries[0].Name() == foundEmpty {
			return os.Remove(filepath.Join(dir, foundEmpty))
		}
		if len(entries) > 0 {
			return nil
		}
		if err := os.Remove(dir); err != nil {
			return err
		}
	}
	return nil
}
