package jsonl

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// mountSmall returns a directory on its own file system of that size, or "" where mounting is
// not allowed.
func mountSmall(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	err := unix.Mount("stig-test", dir, "tmpfs", 0, "size="+size)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func remount(dir, size string) error {
	return unix.Mount("stig-test", dir, "tmpfs", unix.MS_REMOUNT, "size="+size)
}
