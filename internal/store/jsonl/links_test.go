package jsonl

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
)

// Every command reads the files beside the store.
func TestDevicesBesideTheStore(t *testing.T) {
	for _, name := range []string{"redirect", "metadata.json", "config.yaml", "prefix", "issues.jsonl"} {
		root := tree(t, ".git/", ".beads/x.jsonl")
		if err := os.Symlink("/dev/zero", filepath.Join(root, ".beads", name)); err != nil {
			t.Fatal(err)
		}
		s, err := Discover(Where{Dir: root})
		if err == nil {
			var f *beads.Snapshot
			if f, err = Read(s); err == nil {
				_, err = f.Prefix()
			}
		}
		if !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "is not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A lock that is a link would create a file wherever it leads.
func TestLockIsNoLink(t *testing.T) {
	root := tree(t, ".git/", ".beads/issues.jsonl")
	elsewhere := filepath.Join(t.TempDir(), "made")
	if err := os.Symlink(elsewhere, filepath.Join(root, ".beads", jsonlLock)); err != nil {
		t.Fatal(err)
	}
	_, err := file.Await(ctx, filepath.Join(root, ".beads", jsonlLock), "")
	if e, ok := fault.As(err, fault.Store); !ok || !strings.Contains(e.Error(), "is a link") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was made there")
	}
}
