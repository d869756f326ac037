//go:build !windows

package file

import "os"

// Rename atomically replaces a file by another.
func Rename(from, to string) error { return os.Rename(from, to) }
