package beads

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// corpus gives the real stores that STIG_CORPUS names.
func corpus(t *testing.T) []string {
	dir := os.Getenv("STIG_CORPUS")
	if dir == "" {
		t.Skip("STIG_CORPUS is not set")
	}
	var files []string
	for _, pattern := range []string{"*.jsonl", "edge/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("%s holds no .jsonl file", dir)
	}
	return files
}

// Whatever real stores hold, it comes back byte for byte.
func TestCorpusIdentity(t *testing.T) {
	for _, path := range corpus(t) {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := mustRead(t, path)
		if got := rejoined(t, f); !bytes.Equal(got, want) {
			t.Errorf("%s: the lines joined differ from the file", path)
		}
		t.Logf("%s: %d issues, %d problems", filepath.Base(path), f.Len(), len(f.Problems()))
		for _, p := range f.Problems()[:min(3, len(f.Problems()))] {
			t.Logf("  %+v", p)
		}
	}
}

// Setting notes on any real issue changes its notes and updated_at alone, and
// taking them back gives the line as it was.
func TestCorpusRoundTrip(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, path := range corpus(t) {
		f := mustRead(t, path)
		for _, is := range f.All() {
			r, err := is.Record()
			if err != nil {
				t.Fatal(err)
			}
			set, err := r.With(now, Set{Notes, r.Text(Notes) + "\n<added> é"})
			if err != nil {
				t.Fatal(err)
			}
			checkSet(t, r, set, Notes, r.Text(Notes)+"\n<added> é")
			back, err := set.With(now, Set{Notes, r.Text(Notes)})
			if err != nil {
				t.Fatal(err)
			}
			if back != r {
				t.Errorf("%s:%d: setting the old notes again is no return", path, is.Line)
			}
		}
	}
}

// An edit of a real store changes one line of it, and the way back gives the
// same file but for updated_at.
func TestCorpusEdit(t *testing.T) {
	for _, path := range corpus(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := writeStore(t, string(data))
		f := mustRead(t, s.Path)
		if len(f.Problems()) > 0 {
			continue
		}
		i := f.Len() / 2
		for f.At(i).Status == "tombstone" {
			i++
		}
		is := f.At(i)
		changes, err := Edit(t.Context(), s, Options{Now: testNow, Notes: anyNotes}, setNotes(is.ID, "seen <by> all"))
		if err != nil || len(changes) != 1 {
			t.Fatalf("%s: %v %v", path, changes, err)
		}
		before, after := bytes.Split(data, []byte("\n")), bytes.Split([]byte(content(t, s)), []byte("\n"))
		if len(before) != len(after) {
			t.Fatalf("%s: %d lines became %d", path, len(before), len(after))
		}
		for i := range before {
			if bytes.Equal(before[i], after[i]) != (i != is.Line-1) {
				t.Errorf("%s:%d: changed: %v", path, i+1, i != is.Line-1)
			}
		}
	}
}
