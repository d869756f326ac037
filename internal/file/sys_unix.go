//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"stig/internal/fault"
)

// flock locks the whole file for this open file, after those that came first.
func flock(f *os.File) error {
	return IgnoringEINTR(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX) })
}

// IgnoringEINTR repeats a call that a signal interrupted.
func IgnoringEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// KeepOwner gives f the owner and group of the file it replaces. Only root may give a file
// away; for others it becomes theirs, as with any editor, and keeps the group if they belong to
// it.
func KeepOwner(f *os.File, of fs.FileInfo) error {
	was, ok := of.Sys().(*syscall.Stat_t)
	now, err := f.Stat()
	if err != nil || !ok {
		return err
	}
	is := now.Sys().(*syscall.Stat_t)
	if was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}
	err = f.Chown(int(was.Uid), int(was.Gid))
	if errors.Is(err, fs.ErrPermission) {
		err = f.Chown(-1, int(was.Gid))
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// SyncDir makes the names in a directory survive a crash.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // file systems without support
	}
	return fault.Join(err, d.Close())
}
