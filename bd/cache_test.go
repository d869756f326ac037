package bd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A cache gives what was put there for the same store and version, and nothing of a file
// that anything happened to.
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
	for n := range 3 * cachedAtAll {
		c.put(fmt.Sprintf("/store/%d", n), "v1", nil)
	}
	if all, err := os.ReadDir(c.dir); err != nil || len(all) > cachedAtAll {
		t.Errorf("%d files are kept, %v", len(all), err)
	}
	if _, ok := c.get(fmt.Sprintf("/store/%d", 3*cachedAtAll-1), "v1"); !ok {
		t.Error("the latest one went")
	}
	cache{}.put("/a", "v1", nil) // keeps nothing, and harms nothing
}
