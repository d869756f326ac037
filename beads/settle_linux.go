package beads

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// isWritten reports whether a program has the file open for writing: no lease
// for reading is given then, fcntl(2). Where no lease can be had, such as on a
// file of somebody else, it is taken that none has.
func isWritten(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK) // closing it ends the lease too
	}
	return err == unix.EAGAIN
}

// isNew reports whether the file was last written when it was made, so that it
// never held anything else.
func isNew(f *os.File, info fs.FileInfo) bool {
	const moment = 5 * time.Millisecond
	var made unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &made)
	if err != nil || made.Mask&unix.STATX_BTIME == 0 {
		return false
	}
	return info.ModTime().Sub(time.Unix(made.Btime.Sec, int64(made.Btime.Nsec))) < moment
}
