//go:build e2e && linux

package main

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// nightDisk returns a directory on its own file system, which the test can fill, or a plain
// directory if mounting is not allowed.
func nightDisk(t *testing.T) (dir string, mounted bool) {
	t.Helper()
	dir = t.TempDir()
	err := unix.Mount("stig-test", dir, "tmpfs", 0, "size=512m")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return dir, false
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}
