package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	text, err := os.ReadFile(f.path)
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist) && exists(f.path):
		return nil, fmt.Errorf("%s: a link to a file that is not there", shortest(f.path))
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s: %w", shortest(f.path), at.Err)
	}
	return append([]byte{}, text...), err
}

// write gives the file its text, in directories that are made when they are
// missing; nil removes the file, and directories that were made for it.
func (f hostFile) write(text []byte) error {
	dir := filepath.Dir(f.path)
	if text != nil {
		if err := f.makeDirs(dir); err != nil {
			return err
		}
		err := replaceFile(f.path, string(text))
		if err != nil && !exists(f.path) {
			err = errors.Join(err, f.removeDirs(dir))
		}
		return err
	}
	if err := os.Remove(f.path); err != nil {
		return err
	}
	return f.removeDirs(dir)
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
