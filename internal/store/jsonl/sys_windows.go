package jsonl

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// mayWrite leaves it to the mode bits and the write itself.
func mayWrite(string) error { return nil }

// isFull reports whether the cause is lack of room.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// IsGone reports whether no process on this machine has the id. Another process may have it by
// now.
func IsGone(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err == nil {
		err = windows.CloseHandle(h)
	}
	return errors.Is(err, windows.ERROR_INVALID_PARAMETER)
}

// inodeOf is unsupported here.
func inodeOf(fs.FileInfo) uint64 { return 0 }

// linksOf is unsupported here.
func linksOf(fs.FileInfo) int { return 1 }

// stampOf returns none: an open file cannot be replaced here.
func stampOf(*os.File) stamp { return stamp{} }
