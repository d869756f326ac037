//go:build unix

package jsonl

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"stig/internal/file"
)

// mayWrite asks the system whether this process may write path.
func mayWrite(path string) error {
	return file.IgnoringEINTR(func() error { return unix.Access(path, unix.W_OK) })
}

// isFull reports whether the cause is lack of room: the disk, a quota, a file size limit.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// IsGone reports whether no process on this machine has the id. Another process may have it by
// now.
func IsGone(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

// inodeOf returns the number of a file in its file system.
func inodeOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino)
	}
	return 0
}

// stampOf returns the stamp of an open file.
func stampOf(f *os.File) stamp {
	var st unix.Stat_t
	if err := file.IgnoringEINTR(func() error { return unix.Fstat(int(f.Fd()), &st) }); err != nil {
		return stamp{}
	}
	return stamp{uint64(st.Dev), uint64(st.Ino), st.Size, time.Unix(st.Mtim.Unix()), time.Unix(st.Ctim.Unix())}
}

// linksOf returns the number of a file's names.
func linksOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink)
	}
	return 1
}
