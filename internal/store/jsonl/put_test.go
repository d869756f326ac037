package jsonl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
)

// strangeDisk is the real one, but another program replaces the store just before each exchange
// that has a text.
type strangeDisk struct {
	osDisk
	target  string
	put     []string // "" for an undisturbed exchange
	inPlace bool     // the other program writes in place and resets the file's time
	without bool     // the system cannot exchange
}

func (d *strangeDisk) exchange(a, b string) error {
	if len(d.put) > 0 {
		text := d.put[0]
		d.put = d.put[1:]
		if text != "" {
			if err := d.stranger(text); err != nil {
				return err
			}
		}
	}
	if d.without {
		return errors.ErrUnsupported
	}
	return d.osDisk.exchange(a, b)
}

func (d *strangeDisk) stranger(text string) error {
	if d.inPlace {
		info, err := os.Stat(d.target)
		return fault.Join(err, fault.Join(os.WriteFile(d.target, []byte(text), 0o644), os.Chtimes(d.target, time.Time{}, info.ModTime())))
	}
	x := filepath.Join(filepath.Dir(d.target), "x")
	return fault.Join(os.WriteFile(x, []byte(text), 0o644), os.Rename(x, d.target))
}

// A program that writes between the last comparison and the exchange gets its file back, and
// the edit starts over on it. Of two, the last one stays, and the first one's version is kept
// beside it and named.
func TestEditStrangers(t *testing.T) {
	for name, store := range map[string]func(beads.Place) *Store{
		"read": Open,
		"kept": cached, // so old that the stamp decides the comparison before the exchange
	} {
		t.Run(name, func(t *testing.T) { testEditStrangers(t, store) })
	}
}

func testEditStrangers(t *testing.T, store func(beads.Place) *Store) {
	sung, rung := strings.Replace(harbour, "Ring", "Sing", 1), strings.Replace(harbour, "Ring", "Wring", 1)
	for _, c := range []struct {
		name    string
		put     []string
		without bool
		inPlace bool
		holds   []string
		kept    string
	}{
		{"none", nil, false, false, []string{"Ring", `"two"`}, ""},
		{"none, and no exchange", nil, true, false, []string{"Ring", `"two"`}, ""},
		{"one", []string{sung}, false, false, []string{"Sing", `"two"`}, ""},
		{"one in place", []string{sung}, false, true, []string{"Sing", `"two"`}, ""},
		{"one each time", []string{sung, "", rung}, false, false, []string{"Wring", `"two"`}, ""},
		{"two", []string{sung, rung}, false, false, []string{"Wring", `"one"`}, sung},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := writeStore(t, harbour)
			d := &strangeDisk{target: s.Path, put: c.put, without: c.without, inPlace: c.inPlace}
			backdate(t, s)
			o := beads.Options{Now: testNow, Notes: anyNotes}
			_, err := store(s).edit(ctx, d, o, trying(o, setNotes("h-1", "two")))
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
			e, ok := fault.As(err, fault.Changed)
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
