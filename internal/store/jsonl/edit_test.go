package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
)

const harbour = `{"_schema":"beads-jsonl/1"}` + "\n" +
	`{"id":"h-1","title":"Light the lamp","notes":"one","updated_at":"2026-01-01T00:00:00Z","mine":1.50}` + "\r\n\n" +
	`{"id": "h-2", "title": "Ring the bell", "updated_at": "2026-01-01T00:00:00Z"}`

var ctx = context.Background()

func setNotes(id, text string) func(*beads.Tx) error {
	return func(tx *beads.Tx) error { return tx.Set(id, beads.Set{Key: beads.Notes, Text: text}) }
}

// anyNotes lets an edit change notes freely.
func anyNotes(before, after string) error { return nil }

// checkClean checks that the store's directory contains only the named files.
func checkClean(t *testing.T, s beads.Place, want ...string) {
	t.Helper()
	d, err := listDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.names, want) {
		t.Errorf("the directory holds %q, want %q", d.names, want)
	}
}

func TestEdit(t *testing.T) {
	s := writeStore(t, "\xef\xbb\xbf"+harbour)
	if err := os.Chmod(s.Path, 0o640); err != nil {
		t.Fatal(err)
	}
	changes, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, func(tx *beads.Tx) error {
		if err := tx.Set("h-2", beads.Set{Key: beads.Notes, Text: "seen"}); err != nil {
			return err
		}
		r, err := tx.Record("2") // without its prefix, and with the changes so far
		if err != nil || r.Text(beads.Notes) != "seen" {
			return fmt.Errorf("%v %v", r, err)
		}
		if err := tx.Set("h-2", beads.Set{Key: beads.Notes, Text: r.Text(beads.Notes) + " & heard"}); err != nil {
			return err
		}
		return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: ""}, beads.Set{Key: beads.Status, Text: "open"})
	})
	if err != nil {
		t.Fatal(err)
	}
	one := `{"id":"h-1","title":"Light the lamp","status":"open",` + updatedNow + `,"mine":1.50}`
	two := `{"id": "h-2", "title": "Ring the bell", "notes": "seen \u0026 heard", "updated_at": "2026-11-20T15:11:12Z"}`
	want := "\xef\xbb\xbf" + `{"_schema":"beads-jsonl/1"}` + "\n" + one + "\r\n\n" + two
	if got := content(t, s); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(changes) != 2 || changes[0].ID != "h-1" || changes[0].Line != 2 || string(changes[0].After) != one ||
		changes[1].ID != "h-2" || changes[1].Line != 4 || string(changes[1].After) != two ||
		string(changes[1].Before) != harbour[strings.Index(harbour, `{"id": "h-2"`):] {
		t.Errorf("changes %+v", changes)
	}
	info, err := os.Stat(s.Path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
}

// If nothing changes the file is not even opened for writing.
func TestEditNoChange(t *testing.T) {
	s := writeStore(t, harbour)
	before, err := os.Stat(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	sentinel := errors.New("enough")
	for name, fn := range map[string]func(*beads.Tx) error{
		"nothing": func(*beads.Tx) error { return nil },
		"same":    setNotes("h-1", "one"),
		"there and back": func(tx *beads.Tx) error {
			return fault.Join(tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "two"}), tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "one"}))
		},
		"error": func(tx *beads.Tx) error {
			return fault.Join(tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "two"}), sentinel)
		},
	} {
		changes, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, fn)
		if len(changes) != 0 || (err != nil) != (name == "error") {
			t.Errorf("%s: %v %v", name, changes, err)
		}
		after, err := os.Stat(s.Path)
		if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
			t.Errorf("%s: the file was touched (%v)", name, err)
		}
	}
	if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, func(*beads.Tx) error { return sentinel }); err != sentinel {
		t.Errorf("the function's error became %v", err)
	}
}

// A dry run computes the same and leaves no trace.
func TestEditDryRun(t *testing.T) {
	s := writeStore(t, harbour)
	dry, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes, DryRun: true}, setNotes("h-1", "two"))
	if err != nil {
		t.Fatal(err)
	}
	checkClean(t, s, "issues.jsonl")
	if content(t, s) != harbour {
		t.Error("the file changed")
	}
	wet, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two"))
	if err != nil || !reflect.DeepEqual(dry, wet) || len(wet) != 1 {
		t.Errorf("%v\ndry %+v\nwet %+v", err, dry, wet)
	}
}

// The command to type depends on whether the mode or the owner forbids it.
func TestReadOnlySaysWhatHelps(t *testing.T) {
	for _, c := range []struct {
		mode fs.FileMode
		err  error
		want string
	}{
		{0o644, nil, ""},
		{0o444, nil, "chmod u+w"},
		{0o444, fs.ErrPermission, "chmod u+w"},
		{0o464, fs.ErrPermission, "chmod u+w"},
		{0o644, fs.ErrPermission, "who owns it: ls -ld"},
		{0o644, errors.New("read-only file system"), "mounted"},
	} {
		err := readOnly("x", c.mode, c.err)
		refused, ok := fault.As(err, fault.Refused)
		if ok != (c.want != "") || ok && !strings.Contains(refused.Hint, c.want) {
			t.Errorf("%o, %v: %+v, want %q", c.mode, c.err, err, c.want)
		}
	}
}

// Each refusal names its place and leaves the file alone. A dry run refuses the same.
func TestEditRefuses(t *testing.T) {
	set := setNotes("h-1", "two")
	for _, c := range []struct {
		name, content, want string
		fn                  func(*beads.Tx) error
		prepare             func(*beads.Place) error
	}{
		{"bad JSON", harbour + "\n{\"id\":}\n[]\n", `:5: bad-json: expected a value, found "}" (and 1 more)`, set, nil},
		{"conflict", "<<<<<<< ours\n" + harbour, `:1: conflict-marker: conflict marker "<<<<<<< ours"`, set, nil},
		{"cut short", harbour + "\n{\"id\":\"x", `:5: cut-short: the last line is truncated: `, set, nil},
		{"repeated id", harbour + "\n" + `{"id":"h-1"}`, `:5: id "h-1" is already used on line 2`, set, nil},
		{"tombstone", `{"id":"h-1","status":"tombstone"}`, `:1: h-1 was deleted (status tombstone)`, set, nil},
		{"read-only file", harbour, `issues.jsonl: is read-only (mode 0444)`, set, func(s *beads.Place) error { return os.Chmod(s.Path, 0o444) }},
		{"read-only directory", harbour, `.beads: is read-only (mode 0555)`, set, func(s *beads.Place) error { return os.Chmod(s.Dir, 0o555) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := writeStore(t, c.content)
			if c.prepare != nil {
				if err := c.prepare(&s); err != nil {
					t.Fatal(err)
				}
			}
			for _, dry := range []bool{true, false} {
				changes, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes, DryRun: dry}, c.fn)
				e, ok := fault.As(err, fault.Refused)
				if !ok || !strings.Contains(err.Error(), c.want) || e.Hint == "" || changes != nil {
					t.Errorf("dry run %t: %v, want %s", dry, err, c.want)
				}
				if dry {
					checkClean(t, s, "issues.jsonl")
				}
				if content(t, s) != c.content {
					t.Error("the file changed")
				}
			}
			if err := os.Chmod(s.Dir, 0o755); err != nil {
				t.Fatal(err)
			}
		})
	}
	s := writeStore(t, harbour+"\n"+`{"id":"h-3"}`+"\n"+`{"id":"h-3"}`)
	if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, set); err != nil {
		t.Errorf("an id that repeats elsewhere stops an edit: %v", err)
	}
	_, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-9", "x"))
	if e, ok := fault.As(err, fault.NotFound); !ok || !strings.HasPrefix(e.Hint, "did you mean ") {
		t.Errorf("unknown id: %v", err)
	}
}

// An edit says what in the notes must survive; only an issue's first notes need no such
// function, and if one is given it applies to them too.
func TestEditJudgesNotes(t *testing.T) {
	refuse := func(before, after string) error { return errors.New("all of it") }
	for _, c := range []struct {
		line  string
		judge func(before, after string) error
		want  bool
	}{
		{`{"id":"h-1"}`, nil, true},
		{`{"id":"h-1"}`, refuse, false},
		{`{"id":"h-1","notes":"one"}`, nil, false},
		{`{"id":"h-1","notes":"one"}`, refuse, false},
		{`{"id":"h-1","notes":"one"}`, anyNotes, true},
		{`{"id":"h-1","notes":"two"}`, refuse, true},
	} {
		s := writeStore(t, c.line+"\n")
		_, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: c.judge}, setNotes("h-1", "two"))
		if fault.Is(err, fault.Refused) == c.want || (content(t, s) == c.line+"\n") != (!c.want || strings.Contains(c.line, "two")) {
			t.Errorf("%s: %v, %s", c.line, err, content(t, s))
		}
	}
}

// A symlinked store stays a symlink; its target is replaced where it is.
func TestEditSymlink(t *testing.T) {
	s := writeStore(t, "")
	target := filepath.Join(t.TempDir(), "data.jsonl")
	err := errors.Join(os.WriteFile(target, []byte(harbour), 0o600), os.Remove(s.Path), os.Symlink(target, s.Path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.Readlink(s.Path); err != nil || got != target {
		t.Errorf("the link is %q (%v)", got, err)
	}
	if got := content(t, s); !strings.Contains(got, `"notes":"two"`) {
		t.Errorf("the target holds %s", got)
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
	checkClean(t, beads.Place{Dir: filepath.Dir(target)}, "data.jsonl")
}

// What another program writes between the reading and the rename is not lost: the edit starts
// over on it, however it was written.
func TestEditOtherWriter(t *testing.T) {
	for name, write := range map[string]func(path, data string) error{
		"in place": func(path, data string) error { return os.WriteFile(path, []byte(data), 0o644) },
		"by rename": func(path, data string) error {
			return fault.Join(os.WriteFile(path+".x", []byte(data), 0o644), os.Rename(path+".x", path))
		},
		"with the old time": func(path, data string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return fault.Join(os.WriteFile(path, []byte(data), 0o644), os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := writeStore(t, harbour)
			other := strings.Replace(harbour, "Ring", "Sing", 1)
			runs := 0
			changes, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, func(tx *beads.Tx) error {
				runs++
				if runs == 1 {
					if err := write(s.Path, other); err != nil {
						return err
					}
				}
				return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "two"})
			})
			if err != nil || runs != 2 || len(changes) != 1 {
				t.Fatalf("%d runs, %v, %v", runs, changes, err)
			}
			if got := content(t, s); !strings.Contains(got, "Sing the bell") || !strings.Contains(got, `"notes":"two"`) {
				t.Errorf("got %s", got)
			}
			checkClean(t, s, jsonlLock, "issues.jsonl")
		})
	}
}

// A store that keeps changing is a conflict, and the other program's last version stays.
func TestEditNeverStill(t *testing.T) {
	s := writeStore(t, harbour)
	last := ""
	_, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, func(tx *beads.Tx) error {
		last += "\n"
		if err := os.WriteFile(s.Path, []byte(harbour+last), 0o644); err != nil {
			return err
		}
		return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "two"})
	})
	e, ok := fault.As(err, fault.Changed)
	if !ok || e.Hint == "" || len(last) != 5 || content(t, s) != harbour+last {
		t.Errorf("%v after %d runs", err, len(last))
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
	// A store that is gone cannot be read again.
	_, err = editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, func(tx *beads.Tx) error {
		return fault.Join(tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "two"}), os.Remove(s.Path))
	})
	if !fault.Is(err, fault.Store) {
		t.Errorf("removed meanwhile: %v", err)
	}
	checkClean(t, s, jsonlLock)
}

// A line that moved before the function asked for it makes the edit start over too.
func TestEditStaleLine(t *testing.T) {
	s := writeStore(t, harbour)
	runs := 0
	_, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, func(tx *beads.Tx) error {
		if runs++; runs == 1 {
			if err := os.WriteFile(s.Path, []byte("\n\n"+harbour), 0o644); err != nil {
				return err
			}
		}
		return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: "two"})
	})
	if err != nil || runs != 2 || !strings.HasPrefix(content(t, s), "\n\n{") {
		t.Errorf("%d runs, %v: %q", runs, err, content(t, s))
	}
}

func TestLock(t *testing.T) {
	s := writeStore(t, harbour)
	unlock, err := lockAll(ctx, osDisk{}, []string{filepath.Join(s.Dir, jsonlLock)}, s.Path, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes, Wait: 50 * time.Millisecond}, setNotes("h-1", "two"))
	e, ok := fault.As(err, fault.Changed)
	if !ok || !strings.Contains(err.Error(), ".jsonl.lock: another program has held this lock for 50ms") || e.Hint == "" {
		t.Errorf("held: %v", err)
	}
	soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err = editAt(soon, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
	if content(t, s) != harbour {
		t.Error("the file changed")
	}
	// Readers and dry runs do not wait.
	if f, err := Read(s); err != nil || f.Close() != nil {
		t.Errorf("read under the lock: %v", err)
	}
	if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes, DryRun: true}, setNotes("h-1", "two")); err != nil {
		t.Errorf("dry run under the lock: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two")); err != nil {
		t.Errorf("after it was released: %v", err)
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
}

// In a store of beads_rust its own lock is taken too.
func TestLockBR(t *testing.T) {
	s := writeStore(t, harbour)
	s.BR = true
	unlock, err := lockAll(ctx, osDisk{}, []string{filepath.Join(s.Dir, writeLock)}, s.Path, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes, Wait: 50 * time.Millisecond}, setNotes("h-1", "two"))
	if !fault.Is(err, fault.Changed) {
		t.Errorf("held: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two")); err != nil {
		t.Error(err)
	}
}

// A lock file that is removed and recreated while others wait must not let two in.
func TestLockRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), jsonlLock)
	first, err := file.Await(ctx, path, "")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *os.File)
	go func() {
		f, err := file.Await(ctx, path, "")
		if err != nil {
			t.Error(err)
		}
		got <- f
	}()
	time.Sleep(20 * time.Millisecond) // it waits for the file that is removed
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := file.Await(ctx, path, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-got:
		t.Fatal("the lock on a file that is gone let a second one in")
	case <-time.After(50 * time.Millisecond):
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	third := <-got
	if same, err := file.IsAt(third, path); !same || err != nil {
		t.Errorf("the third holds the file at the path: %v %v", same, err)
	}
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
}

// A writer that gave up waiting does not take the lock later, nor create its file.
func TestLockGivenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), jsonlLock)
	first, err := file.Await(ctx, path, "")
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if f, err := file.Lock(soon, path, ""); f != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v, %v", f, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // it gets the file that is gone
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that gave up made a lock file: %v", err)
	}
	limit, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	second, err := file.Lock(limit, path, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

// Writers that want the store all the time all get their turn. With polling, the luckiest of
// sixteen wrote 26 times as often as the unluckiest.
func TestLockFair(t *testing.T) {
	s := writeStore(t, strings.Replace(harbour, `"one"`, `"0"`, 1))
	enough, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	var busy sync.WaitGroup
	counts := make([]int, 16)
	for i := range counts {
		busy.Go(func() {
			for enough.Err() == nil {
				if err := countOnce(s); err != nil {
					t.Error(err)
				}
				counts[i]++
			}
		})
	}
	busy.Wait()
	t.Logf("writes of each: %v", counts)
	if least, most := slices.Min(counts), slices.Max(counts); most > 8*(least+1) {
		t.Error("not everybody had a turn")
	}
}

// The next write removes what a dead writer left behind, but no other files.
func TestEditLeftovers(t *testing.T) {
	s := writeStore(t, harbour)
	half := ".issues.jsonl.stig-new-" + process{hostID(), 1 << 30, "1"}.String() + "-7.tmp"
	for _, name := range []string{half, "issues.jsonl.tmp.7.1", ".other.jsonl.stig-1.tmp"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := editAt(ctx, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two")); err != nil {
		t.Fatal(err)
	}
	checkClean(t, s, jsonlLock, ".other.jsonl.stig-1.tmp", "issues.jsonl", "issues.jsonl.tmp.7.1")
}

// TestEditRelative edits a store named by a path relative to the working directory while its
// directory is absolute.
func TestEditRelative(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("issues.jsonl", []byte(`{"id":"r-1","title":"t"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := beads.Place{Path: "issues.jsonl", Dir: dir}
	changes, err := editAt(t.Context(), s, beads.Options{Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), Wait: time.Second, Notes: anyNotes}, func(tx *beads.Tx) error {
		return tx.Set("r-1", beads.Set{Key: beads.Notes, Text: "n"})
	})
	if err != nil || len(changes) != 1 {
		t.Errorf("changes %v, error %v", changes, err)
	}
}
