//go:build !windows

package file

import "os"

// Rename puts a file in the place of another in one step.
func Rename(from, to string) error { return os.Rename(from, to) }
