package jsonl

import "golang.org/x/sys/unix"

// exchange makes two files trade names at once. The error is
// errors.ErrUnsupported where the file system cannot.
func exchange(a, b string) error {
	err := ignoringEINTR(func() error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) })
	return unsupported(err, unix.EINVAL, unix.ENOTSUP)
}
