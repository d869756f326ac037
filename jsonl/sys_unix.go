//go:build unix

package jsonl

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// flock locks the whole file for this open file alone, when those that came
// before are done.
func flock(f *os.File) error {
	return ignoringEINTR(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX) })
}

// ignoringEINTR calls again what a signal interrupted.
func ignoringEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// mayWrite asks the system whether this process may write path.
func mayWrite(path string) error {
	return ignoringEINTR(func() error { return unix.Access(path, unix.W_OK) })
}

// keepOwner gives f the owner and the group of the file it is to replace. Only
// root may give a file away; for others it becomes theirs, as with any editor,
// and keeps the group when they are in it.
func keepOwner(f *os.File, of fs.FileInfo) error {
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

// SyncDir makes the names in a directory last through a crash.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // file systems that have no such thing
	}
	return join(err, d.Close())
}

// isFull reports whether there was no room: on the disk, in a quota, under a
// limit on the size of a file.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// IsGone reports whether no process of this machine has the id. Another process
// may have it by now.
func IsGone(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

// inodeOf is the number of a file in its file system.
func inodeOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino)
	}
	return 0
}

// stampOf asks what the system says of an open file.
func stampOf(f *os.File) stamp {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstat(int(f.Fd()), &st) }); err != nil {
		return stamp{}
	}
	return stamp{uint64(st.Dev), uint64(st.Ino), st.Size, time.Unix(st.Mtim.Unix()), time.Unix(st.Ctim.Unix())}
}

// linksOf is how many names a file has.
func linksOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink)
	}
	return 1
}
