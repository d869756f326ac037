package beads

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func mustRead(t testing.TB, path string) *File {
	t.Helper()
	f, err := Read(Store{Path: path, Dir: filepath.Dir(path)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func mustReadToEdit(t testing.TB, s Store) *File {
	t.Helper()
	f, err := readToEdit(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// writeStore makes a .beads with the content and gives its store.
func writeStore(t testing.TB, content string) Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), storeDir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "issues.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return Store{Path: path, Dir: dir}
}

func content(t testing.TB, s Store) string {
	t.Helper()
	b, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rejoined puts the file together from the lines of its issues and what stands
// between them.
func rejoined(t testing.TB, f *File) (out []byte) {
	t.Helper()
	between := func(from, to int64) {
		b := make([]byte, to-from)
		if _, err := f.disk.ReadAt(b, from); err != nil && len(b) > 0 {
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
	info, err := f.disk.Stat()
	if err != nil {
		t.Fatal(err)
	}
	between(done, info.Size())
	return out
}

// checkSet holds a record to what With promises for one key.
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

// object decodes a line; numbers stay as they are written, for JSON knows those
// too that no float64 holds.
func object(t testing.TB, line []byte) (o map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return o
}
