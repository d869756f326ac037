//go:build unix

package jsonl

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
)

// Whoever may write the store may lock it, whatever the umask of the lock's creator: it has the
// mode and group of the store.
func TestEditLockShared(t *testing.T) {
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	s := writeStore(t, harbour)
	lock := filepath.Join(s.Dir, jsonlLock)
	group := os.Getgid()
	if os.Geteuid() == 0 {
		group = 12345
	}
	if err := os.Chown(s.Path, -1, group); err != nil {
		t.Fatal(err)
	}
	for i, mode := range []fs.FileMode{0o664, 0o600, 0o666} {
		if err := os.Chmod(s.Path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", string(rune('a'+i)))); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(lock)
		if err != nil || info.Mode().Perm()&mode != mode {
			t.Errorf("store %v: lock %v, %v", mode, info.Mode(), err)
		}
		var stat unix.Stat_t
		if err := unix.Stat(lock, &stat); err != nil || int(stat.Gid) != group {
			t.Errorf("the lock's group is %d, want %d: %v", stat.Gid, group, err)
		}
	}
}

// A lock that another user keeps private is reported as such, and the command in the hint fixes
// it.
func TestUnlockable(t *testing.T) {
	s := writeStore(t, harbour)
	lock := filepath.Join(s.Dir, jsonlLock)
	if err := os.Chmod(s.Path, 0o664); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"make the directory writable: " + s.Dir, "chmod 0664 " + lock} {
		if i == 1 {
			if err := os.WriteFile(lock, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e := file.Unlockable(lock, s.Path, fs.ErrPermission).(*fault.Error)
		if !strings.HasSuffix(e.Hint, want) {
			t.Errorf("hint %q, want %q", e.Hint, want)
		}
	}
	if e := file.Unlockable(lock, s.Path, unix.EROFS).(*fault.Error); e.Hint != "check how the file system is mounted" {
		t.Errorf("hint %q of a file system that is read-only", e.Hint)
	}
}
