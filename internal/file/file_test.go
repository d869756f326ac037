package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A clone may contain links to anywhere.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long")
	if err := errors.Join(os.WriteFile(long, nil, 0o644), os.Truncate(long, most+1)); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"/dev/zero": "is not a regular file", long: "is longer than 16 MiB", dir: "is a directory", "nowhere": "no such file"} {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		_, err := Read(link)
		if at, ok := errors.AsType[*fs.PathError](err); !ok || at.Path != link || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", target, err, want)
		}
	}
	if err := os.Truncate(long, 3); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(long); err != nil || len(text) != 3 {
		t.Errorf("%q, %v", text, err)
	}
}

// TestReplace: the new text with mode 0600, no other file left, and the old text if the
// directory is missing.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "small")
	for _, text := range []string{"one\n", "", "another\n"} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != text || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
		t.Errorf("%d files, %v", len(entries), err)
	}
	if err := Replace(filepath.Join(dir, "none", "small"), nil); err == nil {
		t.Error("a directory that is not there is no error")
	}
}
