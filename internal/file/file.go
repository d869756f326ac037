// Package file reads and replaces small files whole, locks files, and makes what stig keeps
// for itself private. It does not know what is in the files, and makes no directory that
// it is not asked for.
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

// most is the most that Read reads, in bytes.
const most = 16 << 20

// Read reads a plain file of at most 16 MiB whole. What comes with a
// repository may be a link to a device, which has no end or never gives any:
// that and a longer file are refused. Errors are of type *fs.PathError.
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
		return refused("is not a plain file")
	case info.Size() > most:
		return refused("is longer than 16 MiB")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	// Files of /proc say that they are empty, and some never end.
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	err = errors.Join(err, f.Close())
	if err == nil && len(text) > most {
		return refused("is longer than 16 MiB")
	}
	return text, err
}

// Unfinished is the pattern of the names that files have while Replace
// fills them, and keep when the process is killed.
const Unfinished = ".new-*"

// Replace puts a small file in place at once, of the mode that private says: a reader sees
// the old text or the new one, also when the process is killed half-way. It does
// not last through a power cut. The directory must be there.
func Replace(path string, text []byte) error {
	return Replacement{Pattern: Unfinished, Mode: private(filepath.Dir(path))}.Put(path, text)
}

// Replacement is how a file gets new content in one step, so that nobody ever sees
// half of it.
type Replacement struct {
	Pattern string         // of the name while it is filled; see os.CreateTemp
	Mode    fs.FileMode    // that it is to have
	Sync    bool           // it is to last through a power cut
	Checks  []func() error // made when all but the one step is done
}

// Put gives the file at a path a text. After an error it is as it was. Symbolic
// links are not followed, and the directory must be there.
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
