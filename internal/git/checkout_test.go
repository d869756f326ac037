package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/git"
)

// References in files are read, others are left to git.
func TestRef(t *testing.T) {
	loose, packed := strings.Repeat("a", 40), strings.Repeat("b", 64)
	files := map[string]string{
		"refs/heads/main":      loose + "\n",
		"refs/heads/both":      loose + "\n",
		"refs/heads/other":     "ref: refs/heads/main\n",
		"refs/heads/torn":      "",
		"refs/heads/dir/one":   loose + "\n",
		"refs/heads/packed/in": loose + "\n",
		"packed-refs": "# pack-refs with: peeled fully-peeled sorted \n" + packed + " refs/heads/both\n" + packed + " refs/heads/packed\n" +
			packed + " refs/heads/packed-too\n^" + loose + "\ndamaged refs/heads/no-hash\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := git.Checkout{Common: dir}
	for name, want := range map[string]string{
		"main": loose, "both": loose, "packed": packed, "packed-too": packed,
		"none": "", "dir": "", "main/below": "", "pack": "",
		"other": "?", "torn": "?", "no-hash": "?",
	} {
		got, known := w.Ref("refs/heads/" + name)
		if !known {
			got = "?"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "reftable"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, known := w.Ref("refs/heads/main"); known {
		t.Errorf("read %q from a file that git does not look at", got)
	}
}
