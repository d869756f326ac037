package jsonl

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stig/internal/file"
)

// If no lock can be created, the error says so, not that there is none.
func TestLockNotMade(t *testing.T) {
	unlock, err := file.LockFile("/sys/stig.lock", time.Second)
	if err == nil {
		t.Fatal(unlock())
	}
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EROFS) {
		t.Error(err)
	}
}
