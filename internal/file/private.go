package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// private is the mode of a file in dir that is nobody else's: 0600, and 0660 where dir is
// a group's to write, as git's directory is of a repository that a group shares.
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

// OpenPrivate is os.OpenFile with the mode that private says, whatever the umask. The mode
// of a file of somebody else stays as it is.
func OpenPrivate(path string, flags int) (*os.File, error) {
	mode := private(filepath.Dir(path))
	f, err := os.OpenFile(path, flags, mode)
	if err == nil && mode != 0o600 {
		_ = f.Chmod(mode)
	}
	return f, err
}

// MkdirPrivate makes a directory that is nobody else's, and that of the group which may
// write the one above it, and those above where they are missing. One that is there stays
// as it is.
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

// setgid is what makes the files of a new directory the group's, where those above are.
func setgid(dir string) fs.FileMode {
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	return info.Mode() & fs.ModeSetgid
}
