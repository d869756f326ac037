package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// placed puts the path first in what is wrong with a file.
func placed(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", shortest(at.Path), at.Err)
	}
	return err
}

// replaceFile gives a file new content in one step, so that nobody ever sees
// half of it. It keeps the mode, and follows symbolic links. Checks are made when
// all but that step is done; after one that fails the file is as it was.
func replaceFile(path, text string, checks ...func() error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".stig-*.tmp")
	if err != nil {
		return err
	}
	_, err = temp.WriteString(text)
	for _, step := range append([]func() error{
		func() error { return temp.Chmod(mode) },
		temp.Sync,
	}, checks...) {
		if err == nil {
			err = step()
		}
	}
	if e := temp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
