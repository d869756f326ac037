package jsonl

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"stig/beads"
)

// A clone brings links to wherever it likes.
func TestReadText(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long")
	if err := join(os.WriteFile(long, nil, 0o644), os.Truncate(long, maxText+1)); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"/dev/zero": "is not a plain file", long: "is longer than 16 MiB", dir: "is a directory", "nowhere": "no such file"} {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(target, link); err != nil {
			unlessLinux(t, err)
		}
		_, err := ReadText(link)
		if at, ok := errors.AsType[*fs.PathError](err); !ok || at.Path != link || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", target, err, want)
		}
	}
	if err := os.Truncate(long, 3); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadText(long); err != nil || len(text) != 3 {
		t.Errorf("%q, %v", text, err)
	}
}

// What stands beside the store is read by every command.
func TestDevicesBesideTheStore(t *testing.T) {
	for _, name := range []string{"redirect", "metadata.json", "config.yaml", "prefix", "issues.jsonl"} {
		root := tree(t, ".git/", ".beads/x.jsonl")
		if err := os.Symlink("/dev/zero", filepath.Join(root, ".beads", name)); err != nil {
			unlessLinux(t, err)
		}
		s, err := Discover(Where{Dir: root})
		if err == nil {
			var f *beads.Snapshot
			if f, err = Read(s); err == nil {
				_, err = f.Prefix()
			}
		}
		if _, ok := errors.AsType[*beads.StoreError](err); !ok || !strings.Contains(err.Error(), "is not a plain file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A lock that is a link would make a file wherever it leads.
func TestLockIsNoLink(t *testing.T) {
	root := tree(t, ".git/", ".beads/issues.jsonl")
	elsewhere := filepath.Join(t.TempDir(), "made")
	if err := os.Symlink(elsewhere, filepath.Join(root, ".beads", jsonlLock)); err != nil {
		unlessLinux(t, err)
	}
	_, err := await(ctx, filepath.Join(root, ".beads", jsonlLock), "")
	if e, ok := errors.AsType[*beads.StoreError](err); !ok || !strings.Contains(e.Error(), "is a link") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was made there")
	}
}

// TestReplaceText: the new text with mode 0600, nothing left beside it, and the
// old text where the directory is not there.
func TestReplaceText(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "small")
	for _, text := range []string{"one\n", "", "another\n"} {
		if err := ReplaceText(path, []byte(text)); err != nil {
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
	if err := ReplaceText(filepath.Join(dir, "none", "small"), nil); err == nil {
		t.Error("a directory that is not there is no error")
	}
}
