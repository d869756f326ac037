package beads

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func mustRead(t testing.TB, path string) *Snapshot { return mustIndex(t, path, false) }

func mustReadToEdit(t testing.TB, p Place) *Snapshot { return mustIndex(t, p.Path, true) }

func mustIndex(t testing.TB, path string, summed bool) *Snapshot {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	f, err := NewSnapshot(Place{Path: path, Dir: filepath.Dir(path)}, Source{Lines: file, Size: info.Size(), Close: file.Close, Summed: summed})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// edit edits a file directly, bypassing the store's handling of other programs.
func edit(t testing.TB, p Place, o Options, fn func(*Tx) error) ([]Change, error) {
	t.Helper()
	f := mustRead(t, p.Path)
	tx, err := Try(f, o, fn)
	if err != nil || o.DryRun {
		return nil, err
	}
	before, after, done := content(t, p), "", 0
	for _, patch := range tx.Patches() {
		after += before[done:patch.Start] + string(patch.With)
		done = int(patch.End)
	}
	if err := os.WriteFile(p.Path, []byte(after+before[done:]), 0o644); err != nil {
		t.Fatal(err)
	}
	return tx.Changes(), nil
}

// writeStore creates a .beads directory with the content and returns its store.
func writeStore(t testing.TB, content string) Place {
	t.Helper()
	dir := filepath.Join(t.TempDir(), DirName)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "issues.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return Place{Path: path, Dir: dir}
}

func content(t testing.TB, s Place) string {
	t.Helper()
	b, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rejoined rebuilds the file from the lines of its issues and what is between them.
func rejoined(t testing.TB, f *Snapshot) (out []byte) {
	t.Helper()
	between := func(from, to int64) {
		b := make([]byte, to-from)
		if _, err := f.source.Lines.ReadAt(b, from); err != nil && len(b) > 0 {
			t.Fatal(err)
		}
		out = append(out, b...)
	}
	var done int64
	for _, is := range f.All() {
		r, err := is.Record()
		if err != nil {
			t.Fatal(err)
		}
		between(done, is.off)
		out = append(out, r.Bytes()...)
		done = is.off + int64(len(r.Bytes()))
	}
	between(done, f.Size())
	return out
}

// checkSet checks With's contract for one key.
func checkSet(t testing.TB, before, after *Record, k Key, text string) {
	t.Helper()
	if got := after.Text(k); got != text {
		t.Fatalf("%s: got %q, want %q", k, got, text)
	}
	want, got := object(t, before.Bytes()), object(t, after.Bytes())
	old, had := before.Time(UpdatedAt)
	if updated, ok := after.Time(UpdatedAt); !ok || had && !updated.After(old) {
		t.Fatalf("updated_at went from %q to %q", before.Text(UpdatedAt), after.Text(UpdatedAt))
	}
	for _, o := range []map[string]any{want, got} {
		delete(o, string(UpdatedAt))
		delete(o, string(k))
	}
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("setting %s changed other keys:\n%s\n%s", k, before.Bytes(), after.Bytes())
	}
}

// object decodes a line; numbers stay text, since JSON has numbers that no float64 holds.
func object(t testing.TB, line []byte) (o map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return o
}
