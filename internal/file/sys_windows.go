package file

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// flock locks the whole file for this open file, after those that came first.
func flock(f *os.File) error {
	const all = ^uint32(0)
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, all, all, new(windows.Overlapped))
}

// KeepOwner does nothing: a new file inherits its permissions from the directory.
func KeepOwner(*os.File, fs.FileInfo) error { return nil }

// SyncDir does nothing: directories cannot be synced here.
func SyncDir(string) error { return nil }
