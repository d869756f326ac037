package jsonl

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"stig/internal/file"
)

// exchange makes two files trade names at once. The error is
// errors.ErrUnsupported where the file system, or the kernel, cannot.
func exchange(a, b string) error {
	err := file.IgnoringEINTR(func() error {
		return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	})
	return unsupported(err, unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EXDEV, unix.EPERM)
}

// beginWriting tells the disk to begin with a part of a file. Sync waits for it, and does
// without: what goes wrong here goes wrong there.
func beginWriting(f *os.File, off, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}

// hold keeps others from beginning to write a file until release is called, and
// reports whether nobody has it open for writing, nor asks to: a lease for reading
// is given for such a file alone, fcntl(2). Where no lease can be had, such as on
// a file of somebody else, it is taken that nobody has.
func hold(path string) (unheld func() bool, release func()) {
	f, err := os.Open(path)
	if err != nil {
		return func() bool { return true }, func() {}
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return func() bool {
		if err != nil {
			return err != unix.EAGAIN
		}
		lease, asked := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0)
		return asked != nil || lease == unix.F_RDLCK
	}, func() { f.Close() }
}

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

// hostID names the system that gives out process ids, since it started: a
// container has its own.
func hostID() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	host, _ := os.Hostname()
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(append(boot, space+host...)))
}

// startOf is when a process started, in a unit that is the same for all of one
// host, and whether it runs: one that ended and that nobody has waited for does
// not. "0" is a process of which the system says nothing.
func startOf(pid int) (start string, running bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "0", true
	}
	// pid (name) state …, where a name may hold anything; proc(5)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, started = 0, 19
	if len(fields) <= started {
		return "0", true
	}
	return string(fields[started]), string(fields[state]) != "Z"
}
