package jsonl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/beads"
)

// strangeDisk is the real one, but a stranger puts a file of its own in the
// place of the store just before each exchange that a text is given for.
type strangeDisk struct {
	osDisk
	target  string
	put     []string // "" for an exchange without a stranger
	without bool     // the system cannot exchange
}

func (d *strangeDisk) exchange(a, b string) error {
	if len(d.put) > 0 {
		text := d.put[0]
		d.put = d.put[1:]
		if text != "" {
			x := filepath.Join(filepath.Dir(d.target), "x")
			if err := join(os.WriteFile(x, []byte(text), 0o644), os.Rename(x, d.target)); err != nil {
				return err
			}
		}
	}
	if d.without {
		return errors.ErrUnsupported
	}
	return d.osDisk.exchange(a, b)
}

// A stranger between the last comparison and the exchange gets its file back,
// and the edit starts over on that. Of two, one after the other, the last
// stays, and what the first one wrote is kept beside it and named.
func TestEditStrangers(t *testing.T) {
	sung, rung := strings.Replace(harbour, "Ring", "Sing", 1), strings.Replace(harbour, "Ring", "Wring", 1)
	for _, c := range []struct {
		name    string
		put     []string
		without bool
		holds   []string
		kept    string
	}{
		{"none", nil, false, []string{"Ring", `"two"`}, ""},
		{"none, and no exchange", nil, true, []string{"Ring", `"two"`}, ""},
		{"one", []string{sung}, false, []string{"Sing", `"two"`}, ""},
		{"one each time", []string{sung, "", rung}, false, []string{"Wring", `"two"`}, ""},
		{"two", []string{sung, rung}, false, []string{"Wring", `"one"`}, sung},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := writeStore(t, harbour)
			d := &strangeDisk{target: s.Path, put: c.put, without: c.without}
			_, err := editOn(ctx, d, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two"))
			for _, want := range c.holds {
				if got := content(t, s); !strings.Contains(got, want) {
					t.Errorf("no %s in %s", want, got)
				}
			}
			kept, globErr := filepath.Glob(filepath.Join(s.Dir, "*"+keptAs+"*"))
			if globErr != nil {
				t.Fatal(globErr)
			}
			if c.kept == "" {
				if err != nil || len(kept) != 0 {
					t.Errorf("%v, kept %q", err, kept)
				}
				checkClean(t, s, jsonlLock, "issues.jsonl")
				return
			}
			e, ok := errors.AsType[*beads.ConflictError](err)
			if !ok || len(kept) != 1 || !strings.Contains(e.Reason, kept[0]) || e.Hint == "" {
				t.Fatalf("%v, kept %q", err, kept)
			}
			if text, err := os.ReadFile(kept[0]); err != nil || string(text) != c.kept {
				t.Errorf("%s holds %q, %v", kept[0], text, err)
			}
			if found, err := Discover(Where{Dir: s.Dir, BeadsDir: s.Dir}); err != nil || found.Path != s.Path {
				t.Errorf("beside it, found %v, %v", found, err)
			}
		})
	}
}
