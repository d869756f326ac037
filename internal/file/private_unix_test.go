//go:build unix

package file_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"stig/internal/file"
)

// A private file belongs to the group if its directory does.
func TestPrivate(t *testing.T) {
	for above, want := range map[fs.FileMode][2]fs.FileMode{0o755: {0o700, 0o600}, 0o775 | fs.ModeSetgid: {0o770 | fs.ModeSetgid, 0o660}} {
		top := t.TempDir()
		dir := filepath.Join(top, "stig")
		made, replaced := filepath.Join(dir, "made"), filepath.Join(dir, "replaced")
		if err := os.Chmod(top, above); err != nil {
			t.Fatal(err)
		}
		if err := file.MkdirPrivate(dir); err != nil {
			t.Fatal(err)
		}
		f, err := file.OpenPrivate(made, os.O_CREATE|os.O_WRONLY)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := file.Replace(replaced, nil); err != nil {
			t.Fatal(err)
		}
		for path, mode := range map[string]fs.FileMode{dir: want[0] | fs.ModeDir, made: want[1], replaced: want[1]} {
			if info, err := os.Stat(path); err != nil || info.Mode() != mode {
				t.Errorf("below %v: %s: %v, want %v (%v)", above, filepath.Base(path), info.Mode(), mode, err)
			}
		}
	}
}
