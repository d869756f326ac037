package jsonl

import (
	"golang.org/x/sys/unix"

	"stig/internal/file"
)

// exchange swaps the names of two files atomically. The error is errors.ErrUnsupported if the
// file system cannot.
func exchange(a, b string) error {
	err := file.IgnoringEINTR(func() error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) })
	return unsupported(err, unix.EINVAL, unix.ENOTSUP)
}
