package jsonl

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxText is the most that ReadText reads, in bytes.
const maxText = 16 << 20

// ReadText reads a plain file of at most 16 MiB whole. What comes with a
// repository may be a link to a device, which has no end or never gives any:
// that and a longer file are refused. Errors are of type *fs.PathError.
func ReadText(path string) ([]byte, error) {
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
	case info.Size() > maxText:
		return refused("is longer than 16 MiB")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	// Files of /proc say that they are empty, and some never end.
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	err = errors.Join(err, f.Close())
	if err == nil && len(text) > maxText {
		return refused("is longer than 16 MiB")
	}
	return text, err
}

// UnfinishedText is the pattern of the names that files have while ReplaceText
// fills them, and keep when the process is killed.
const UnfinishedText = ".new-*"

// ReplaceText puts a small file in place at once, with mode 0600: a reader sees
// the old text or the new one, also when the process is killed half-way. It does
// not last through a power cut. The directory must be there.
func ReplaceText(path string, text []byte) error {
	return Replacement{Pattern: UnfinishedText, Mode: 0o600}.Put(path, text)
}

// PutNew makes a file in one step, unless one of the checks fails right before. What earlier
// calls left beside it when they were killed is removed.
func PutNew(path string, text []byte, checks ...func() error) error {
	w := &writer{disk: osDisk{}, target: path}
	w.removeUnfinished()
	return Replacement{Pattern: w.pattern(), Mode: 0o644, Sync: true, Checks: checks}.Put(path, text)
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
		err = rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
