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

// exchange swaps the names of two files atomically. The error is errors.ErrUnsupported if the
// file system or the kernel cannot.
func exchange(a, b string) error {
	err := file.IgnoringEINTR(func() error {
		return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	})
	return unsupported(err, unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EXDEV, unix.EPERM)
}

// beginWriting tells the disk to start writing a part of a file. It is only a hint for Sync,
// which reports all errors.
func beginWriting(f *os.File, off, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE)
}

// hold keeps others from opening a file for writing until release is called, and reports
// whether nobody has it open for writing or is about to: read leases are given only for such
// files, fcntl(2). If no lease can be had, for example on somebody else's file, it assumes that
// nobody has.
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

// isWritten reports whether a program has the file open for writing: no read lease is given
// then, fcntl(2). If no lease can be had, for example on somebody else's file, it assumes that
// none has.
func isWritten(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK) // closing it ends the lease
	}
	return err == unix.EAGAIN
}

// isNew reports whether the file was last written when it was created, so that it never had
// other content.
func isNew(f *os.File, info fs.FileInfo) bool {
	const moment = 5 * time.Millisecond
	var made unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &made)
	if err != nil || made.Mask&unix.STATX_BTIME == 0 {
		return false
	}
	return info.ModTime().Sub(time.Unix(made.Btime.Sec, int64(made.Btime.Nsec))) < moment
}

// hostID identifies the system that assigns process ids, since its boot: a container has its
// own.
func hostID() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	host, _ := os.Hostname()
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(append(boot, space+host...)))
}

// startOf returns when a process started, in a unit that is fixed for one host, and whether it
// runs: a zombie does not. "0" means that the system does not say.
func startOf(pid int) (start string, running bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "0", true
	}
	// pid (name) state …, where the name may contain anything; proc(5)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, started = 0, 19
	if len(fields) <= started {
		return "0", true
	}
	return string(fields[started]), string(fields[state]) != "Z"
}
