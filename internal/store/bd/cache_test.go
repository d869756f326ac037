package bd

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stig/internal/beads"
)

// A cache returns what was put for the same store and version, and nothing from a damaged file.
func TestCache(t *testing.T) {
	c := cache{filepath.Join(t.TempDir(), "bd")}
	c.put("/a", "v1", []byte("lines\n"))
	if got, ok := c.get("/a", "v1"); !ok || string(got) != "lines\n" {
		t.Errorf("%q, %v", got, ok)
	}
	for _, other := range [][2]string{{"/a", "v2"}, {"/b", "v1"}, {"/a", ""}, {"/a", "1"}} {
		if _, ok := c.get(other[0], other[1]); ok {
			t.Errorf("%q: found", other)
		}
	}
	kept, err := os.ReadFile(c.path("/a"))
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string][]byte{
		"cut short": kept[:len(kept)-1], "longer": append(kept, 'x'), "another byte": append(kept[:len(kept)-2:len(kept)-2], 'S', '\n'),
		"no text": kept[:20], "empty": nil, "another form": append([]byte("x"), kept...),
	} {
		if err := os.WriteFile(c.path("/a"), damage, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.get("/a", "v1"); ok {
			t.Errorf("%s: trusted", name)
		}
	}
	cache{}.put("/a", "v1", nil) // caches nothing, and does no harm
}

// The fingerprint of a database changes when bd writes, not when it reads; if bd may use
// another database it is unknown.
func TestFingerprint(t *testing.T) {
	p := beads.Place{Dir: t.TempDir()}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(p.Dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	const noms = "embeddeddolt/w/.dolt/noms/"
	write("metadata.json", `{"dolt_mode":"embedded"}`)
	if got := (Program{}).fingerprint(p); got != "" {
		t.Errorf("of no database: %q", got)
	}
	write(noms+"manifest", "root 1")
	write(noms+"vvvv", "journal")
	was := Program{}.fingerprint(p)
	write(noms+"LOCK", "held")
	write(noms+"journal.idx", "index")
	write("config.yaml", "issue-prefix: w\n")
	if now := (Program{}).fingerprint(p); was == "" || now != was {
		t.Errorf("a reader changes %q to %q", was, now)
	}
	for name, text := range map[string]string{noms + "manifest": "root 2", noms + "vvvv": "journal, longer"} {
		write(name, text)
		now := Program{}.fingerprint(p)
		if now == was || now == "" {
			t.Errorf("%s was written: %q", name, now)
		}
		was = now
	}
	if got := (Program{Env: []string{"BEADS_DOLT_SERVER_MODE=1"}}).fingerprint(p); got != "" {
		t.Errorf("with a variable: %q", got)
	}
	for name, text := range map[string]string{"config.yaml": "dolt:\n  shared-server: true\n", ".env": "BEADS_DOLT_SERVER_MODE=1\n", "metadata.json": `{"dolt_mode":"server"}`} {
		kept, _ := os.ReadFile(filepath.Join(p.Dir, name))
		write(name, text)
		if got := (Program{}).fingerprint(p); got != "" {
			t.Errorf("%s says %q: %q", name, text, got)
		}
		if write(name, string(kept)); kept == nil {
			if err := os.Remove(filepath.Join(p.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
