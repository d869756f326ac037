package beads

import "golang.org/x/sys/unix"

// exchange makes two files trade names at once. The error is
// errors.ErrUnsupported where the file system, or the kernel, cannot.
func exchange(a, b string) error {
	err := ignoringEINTR(func() error {
		return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	})
	return unsupported(err, unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EXDEV, unix.EPERM)
}
