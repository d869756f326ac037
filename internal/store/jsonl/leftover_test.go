package jsonl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
)

// killedDisk is the real one, but the process is killed at a step, and before that another
// program may replace the store just before the exchange.
type killedDisk struct {
	*faultyDisk
	stranger strangeDisk
}

func (d *killedDisk) exchange(a, b string) error {
	if err := d.faultyDisk.fault("exchange"); err != nil {
		panic(err)
	}
	return d.stranger.exchange(a, b)
}

func (d *killedDisk) open(path string) (source, error) {
	f, err := d.faultyDisk.open(path)
	if errors.Is(err, errKilled) {
		panic(err)
	}
	return f, err
}

func (d *killedDisk) remove(path string) error {
	err := d.faultyDisk.remove(path)
	if errors.Is(err, errKilled) {
		panic(err)
	}
	return err
}

var errKilled = errors.New("killed")

func killedEdit(s beads.Place, d *killedDisk) {
	defer func() { _ = recover() }()
	_, _ = editOn(ctx, d, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two"))
	panic("it was not killed")
}

// A version that another program wrote while stig replaced the store survives a kill between
// exchange and putting back, and any number of later writes, in exactly one file. What stig
// itself replaced is removed.
func TestEditKilled(t *testing.T) {
	sung := strings.Replace(harbour, "Ring", "Sing", 1)
	for _, c := range []struct {
		name, step string
		nth        int
		stranger   []string
		kept       string
	}{
		{"before the exchange", "exchange", 1, nil, ""},
		{"after the exchange", "open", 2, nil, ""},
		{"before the old one is removed", "remove", 1, nil, ""},
		{"before a stranger's is put back", "exchange", 2, []string{sung}, sung},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := writeStore(t, harbour)
			for range 2 {
				if err := os.WriteFile(s.Path, []byte(harbour), 0o644); err != nil {
					t.Fatal(err)
				}
				killedEdit(s, &killedDisk{&faultyDisk{fails: c.step, nth: c.nth, with: errKilled},
					strangeDisk{target: s.Path, put: c.stranger}})
				early, err := Leftovers(s)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 3 {
					if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-2", fmt.Sprint(i))); err != nil {
						t.Fatal(err)
					}
				}
				found, err := Leftovers(s)
				if err != nil {
					t.Fatal(err)
				}
				if c.kept == "" {
					if len(early) != 0 || len(found) != 0 {
						t.Errorf("kept %v, then %v", early, found)
					}
					continue
				}
				if len(early) == 0 || len(found) != 1 {
					t.Fatalf("found %v, then %v", early, found)
				}
				if text, err := os.ReadFile(found[0].Path); err != nil || string(text) != c.kept || found[0].Size != int64(len(text)) {
					t.Errorf("%v holds %q, %v", found[0], text, err)
				}
			}
		})
	}
}

// An old replacement equal to the store is not another program's version, whatever its name.
func TestEditLeftoverLikeStore(t *testing.T) {
	s := writeStore(t, harbour)
	gone := process{thisProcess().host, 1 << 30, "1"}
	path := filepath.Join(s.Dir, ".issues.jsonl.stig-old-"+gone.String()+"-7-ff.0123456789abcdef-1.2.3.tmp")
	if err := os.WriteFile(path, []byte(harbour), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := Leftovers(s); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
}

// Files of writers that may live stay until they are an hour old, wherever the writers run;
// those of ended processes are removed.
func TestEditLeftoversOfOthers(t *testing.T) {
	this := thisProcess()
	parent := process{host: this.host, pid: os.Getppid()}
	parent.start, _ = startOf(parent.pid)
	for _, c := range []struct {
		name  string
		by    process
		age   time.Duration
		stays bool
	}{
		{"a living process", parent, 0, true},
		{"a process of the same id that ended", process{this.host, parent.pid, "1"}, 0, parent.start == "0"},
		{"no process", process{this.host, 1 << 30, "1"}, 0, false},
		{"another machine", process{"00000000", 1, "1"}, 59 * time.Minute, true},
		{"another machine long ago", process{"00000000", 1, "1"}, 61 * time.Minute, false},
	} {
		s := writeStore(t, harbour)
		path := filepath.Join(s.Dir, ".issues.jsonl.stig-new-"+c.by.String()+"-7.tmp")
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, testNow.Add(-c.age), testNow.Add(-c.age)); err != nil {
			t.Fatal(err)
		}
		if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != c.stays {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// PutNew removes what killed calls left beside it, but nothing of processes that may live, no
// other files, and nothing that may be the only copy.
func TestPutNew(t *testing.T) {
	dir := t.TempDir()
	gone, living := process{thisProcess().host, 1 << 30, "1"}, process{"00000000", 1, "1"}
	kept := []string{".copy.jsonl.stig-new-" + living.String() + "-7.tmp", ".copy.jsonl.stig-old-" + gone.String() + "-7-ff.00-1.2.3.tmp",
		".other.jsonl.stig-new-" + gone.String() + "-7.tmp", ".copy.jsonl.stig-x.tmp"}
	for _, name := range append(kept, ".copy.jsonl.stig-new-"+gone.String()+"-7.tmp") {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "copy.jsonl")
	refused := errors.New("refused")
	if err := PutNew(path, []byte("text"), func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	if err := PutNew(path, []byte("text")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := append([]string{"copy.jsonl"}, kept...)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("\n got %q\nwant %q", names, want)
	}
}
