package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// private is the mode of a private file in dir: 0600, or 0660 if the group may write dir, as in
// a git directory shared by a group.
func private(dir string) fs.FileMode {
	if isShared(dir) {
		return 0o660
	}
	return 0o600
}

func isShared(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&0o020 != 0 && runtime.GOOS != "windows"
}

// OpenPrivate is os.OpenFile with the mode from private, whatever the umask. Somebody else's
// file keeps its mode.
func OpenPrivate(path string, flags int) (*os.File, error) {
	mode := private(filepath.Dir(path))
	f, err := os.OpenFile(path, flags, mode)
	if err == nil && mode != 0o600 {
		_ = f.Chmod(mode)
	}
	return f, err
}

// MkdirPrivate creates a private directory, accessible to the group that may write its parent,
// and missing parents. An existing one stays as it is.
func MkdirPrivate(dir string) error {
	above := filepath.Dir(dir)
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err := MkdirPrivate(above); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(dir, 0o700) // it may be a file
	}
	if err == nil && isShared(above) {
		err = os.Chmod(dir, 0o770|setgid(above))
	}
	return err
}

// setgid makes files of a new directory belong to the group, where the parents have it.
func setgid(dir string) fs.FileMode {
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	return info.Mode() & fs.ModeSetgid
}
