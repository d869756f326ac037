package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A log ends at its limit with a note, and accepts what follows without an error.
func TestLogEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	l := &logFile{f, 10}
	for _, text := range []string{"12345", "67890", "", "abc", "def", "ghi"} {
		if n, err := l.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(got), "1234567890\n[stig: the output went on") || strings.Count(string(got), "stig") != 1 || strings.ContainsAny(string(got), "\x00") {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := l.File.Write(nil); err == nil {
		t.Error("the file is still open")
	}
}

// Many small logs stay where few large ones would not.
func TestLogsTakeSoMuch(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for i, size := range []int64{400 << 20, 400 << 20, 400 << 20, 1} {
		path := filepath.Join(dir, string(rune('a'+i))+".log")
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		at := old.Add(-time.Duration(i) * time.Minute)
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := (Job{Logs: dir}).prepareLogs(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || left[0].Name() != "a.log" || left[1].Name() != "b.log" {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestFileNames(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"reef-1.2", "reef/1", "reef%2F1", "..", ".", "a b", "ü", "a:b", "", strings.Repeat("x", 300), strings.Repeat("x", 301), strings.Repeat("/", 300)} {
		name := fileName(id)
		if before, again := seen[name]; again {
			t.Errorf("%q and %q are both %q", before, id, name)
		}
		seen[name] = id
		if len(name) > 120 || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\: `) {
			t.Errorf("%q is %q", id, name)
		}
	}
	if got := fileName("reef-1.2"); got != "reef-1.2" {
		t.Errorf("got %q", got)
	}
}
