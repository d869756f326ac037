package git_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stig/internal/fault"
	"stig/internal/git"
)

// A work tree that does not fit on the disk leaves nothing behind, and works once there is
// room. Where mounting is not allowed there is nothing to fill.
func TestFullDisk(t *testing.T) {
	c := newClone(t)
	c.Dir = t.TempDir()
	err := unix.Mount("stig-test", c.Dir, "tmpfs", 0, "size=256k")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Log("not allowed to mount a file system: left out")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(c.Dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	c.commitFile("large", strings.Repeat("0123456789abcdef", 64<<10))
	_, err = git.PrepareWorktree(t.Context(), c.WorktreeOptions, "a-1")
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.Store || !strings.HasSuffix(e.Error(), "a-1: no space left for a work tree") || !strings.Contains(e.Hint, "free space") {
		t.Errorf("%v", err)
	}
	if left := c.git(c.Root, "for-each-ref", "--format=%(refname)") + c.git(c.Root, "worktree", "list"); strings.Contains(left, "a-1") {
		t.Errorf("left %s", left)
	}
	if err := unix.Mount("stig-test", c.Dir, "tmpfs", unix.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	c.changed(c.prepare("a-1"), false)
}
