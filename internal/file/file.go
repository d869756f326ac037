// Package file reads and replaces small files atomically, locks files, and keeps stig's own
// files private. It does not know their content, and creates no directory unless asked.
//
//	text, err := file.Read(path)
//	err = file.Replace(path, changed(text))
package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// most is the size limit of Read, in bytes.
const most = 16 << 20

// Read reads a regular file of at most 16 MiB. A repository may contain a link to a device,
// which never ends or never answers: that and longer files are refused. Errors are of type
// *fs.PathError.
func Read(path string) ([]byte, error) {
	refused := func(why string) ([]byte, error) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New(why)}
	}
	info, err := os.Stat(path) // opening a pipe would wait for its other end
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return refused("is a directory")
	case !info.Mode().IsRegular():
		return refused("is not a regular file")
	case info.Size() > most:
		return refused("is longer than 16 MiB")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	// Files in /proc report size 0, and some never end.
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	err = errors.Join(err, f.Close())
	if err == nil && len(text) > most {
		return refused("is longer than 16 MiB")
	}
	return text, err
}

// Unfinished is the name pattern of files while Replace fills them; they keep the name if the
// process is killed.
const Unfinished = ".new-*"

// Replace replaces a small file atomically, with the mode from private: a reader sees the old
// or the new text, even if the process is killed half-way. It does not survive a power failure.
// The directory must exist.
func Replace(path string, text []byte) error {
	return Replacement{Pattern: Unfinished, Mode: private(filepath.Dir(path))}.Put(path, text)
}

// Replacement describes how to replace a file's content atomically.
type Replacement struct {
	Pattern string         // name pattern while it is filled; see os.CreateTemp
	Mode    fs.FileMode    // mode of the new file
	Sync    bool           // sync it, to survive a power failure
	Checks  []func() error // called just before the rename
}

// Put replaces the content of the file at a path; after an error the file is unchanged. It does
// not follow symbolic links, and the directory must exist.
func (r Replacement) Put(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), r.Pattern)
	if err != nil {
		return err
	}
	steps := []func() error{func() error { return f.Chmod(r.Mode) }}
	if r.Sync {
		steps = append(steps, f.Sync)
	}
	_, err = f.Write(text)
	for _, step := range append(steps, r.Checks...) {
		if err == nil {
			err = step()
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
