//go:build e2e

package sql_test

import (
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/mysql"
	"stig/internal/store/sql"
	"stig/internal/testkit/servers"
)

// large returns a store of that many issues of about a kilobyte each.
func large(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"id":"d-%06d","title":"issue %d","notes":"%s","status":"open"}`+"\n", i, i, strings.Repeat("n", 900))
	}
	return text.String()
}

// files returns the name and size of each file in a directory of copies.
func files(t *testing.T, dir string) map[string]fs.FileInfo {
	t.Helper()
	found := map[string]fs.FileInfo{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		found[path] = info
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestCopy: copies are readable by the user only, small changes do not rewrite base, and
// damaged files are read from the server again.
func TestCopy(t *testing.T) {
	c := servers.Need(t, servers.MariaDB).Database(t.Name())
	s, cache := create(t, c, large(3000)), t.TempDir()
	want := textOf(t, s)
	if got := textOf(t, open(t, c, cache)); got != want {
		t.Fatal("differs")
	}
	base, written := "", files(t, cache)
	for path, info := range written {
		if info.Mode().Perm() != 0o600 && info.Size() > 0 { // the lock file is empty
			t.Errorf("%s: mode %v", path, info.Mode())
		}
		if filepath.Base(path) == "base" {
			base = path
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v", filepath.Dir(path), info.Mode())
		}
	}
	edit(t, s, setNotes("d-000007", "changed"))
	edit(t, s, add("d-000007.1"))
	want = textOf(t, s)
	reader := open(t, c, cache)
	if got := textOf(t, reader); got != want {
		t.Error("differs after an edit")
	}
	if got := textOf(t, open(t, c, cache)); got != want {
		t.Error("differs when it is read from the copy")
	}
	if now := files(t, cache); !os.SameFile(now[base], written[base]) || len(now) != 3 {
		t.Errorf("the base was written again: %v", now)
	}
	edits := 0
	renew := func() { // base and recent exist and are current
		t.Helper()
		edits++
		edit(t, s, setNotes("d-000011", fmt.Sprint(edits)))
		if want = textOf(t, s); textOf(t, open(t, c, cache)) != want {
			t.Error("differs after another edit")
		}
	}
	for _, name := range []string{"recent", "base"} {
		for _, part := range []int64{0, 1, 50, 95, 99, 100} {
			renew()
			path, at := damage(t, cache, name, part)
			if got := textOf(t, open(t, c, cache)); got != want {
				t.Errorf("byte %d of %s is damaged: the text differs", at, path)
			}
			renew()
			damage(t, cache, name, part)
			edit(t, open(t, c, cache), add(fmt.Sprintf("d-0000%02d.%s%d", part/2, name, part)))
			if want = textOf(t, s); textOf(t, open(t, c, cache)) != want {
				t.Errorf("byte %d of %s is damaged: an edit makes another text", at, path)
			}
		}
		renew()
		if err := os.Truncate(current(t, cache, name), 1000); err != nil {
			t.Fatal(err)
		}
		if textOf(t, open(t, c, cache)) != want {
			t.Errorf("%s is cut short: the text differs", name)
		}
	}
}

// current returns a file of the only copy.
func current(t *testing.T, cache, name string) string {
	t.Helper()
	for path := range files(t, cache) {
		if filepath.Base(path) == name {
			return path
		}
	}
	t.Fatalf("the copy has no file %s", name)
	return ""
}

// damage changes the byte at that percentage of a file.
func damage(t *testing.T, cache, name string, part int64) (path string, at int64) {
	t.Helper()
	path = current(t, cache, name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at = int64(len(text)-1) * part / 100
	text[at] ^= 0x10
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, at
}

// TestAnotherStore: a copy is not used for another store under the same URL, or for a store
// that was restored from a backup and changed since.
func TestAnotherStore(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		db, cache := reach(t, c), t.TempDir()
		s := create(t, c, `{"id":"d-1","title":"a"}`+"\n"+`{"id":"d-2","title":"a"}`+"\n")
		edit(t, s, setNotes("d-1", "first way"))
		edit(t, s, setNotes("d-1", "first way, again"))
		textOf(t, open(t, c, cache))
		stays, again := open(t, c, ""), open(t, c, cache)
		textOf(t, stays)
		exec(t, db, "DELETE FROM stig_events WHERE version > 1") // a backup of version 1 is restored
		exec(t, db, "DELETE FROM stig_lines WHERE id = 'd-1'")
		exec(t, db, "UPDATE stig_meta SET version = 1, turn = 'x'")
		for name, late := range map[string]*sql.Store{"the copy": again, "a process that goes on": stays} {
			late.SetPatience(100 * time.Millisecond)
			if _, err := late.Snapshot(); !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "this server is behind: it has version 1 of the store; version 3 was read before") {
				t.Errorf("%s: %v", name, err)
			}
		}
		removed := filepath.Join(t.TempDir(), "copies")
		if err := os.CopyFS(removed, os.DirFS(cache)); err != nil {
			t.Fatal(err)
		}
		one := open(t, c, removed)
		one.SetPatience(0)
		_, err := one.Snapshot()
		e, _ := fault.As(err, fault.Store)
		_, rm, _ := strings.Cut(e.Hint, "remove the newer local copy: ")
		if out, err := osexec.Command("sh", "-c", rm).CombinedOutput(); err != nil {
			t.Errorf("%s: %s%v", rm, out, err)
		}
		if got := textOf(t, open(t, c, removed)); strings.Contains(got, "first") || got == "" {
			t.Errorf("version 1 reads %s", got)
		}
		s = open(t, c, "")
		for range 3 {
			edit(t, s, setNotes("d-2", "second way"))
			edit(t, s, setNotes("d-2", "second way, too"))
		}
		want := textOf(t, open(t, c, ""))
		if got := textOf(t, stays); got != want || strings.Contains(got, "first") {
			t.Errorf("a process that goes on reads %s", got)
		}
		if got := textOf(t, again); got != want {
			t.Errorf("the copy gives %s", got)
		}
		for _, table := range []string{"lines", "comments", "others", "events", "live", "meta"} {
			exec(t, db, "DROP TABLE stig_"+table)
		}
		create(t, c, `{"id":"e-1"}`+"\n")
		if got := textOf(t, stays) + textOf(t, open(t, c, cache)); got != `{"id":"e-1"}`+"\n"+`{"id":"e-1"}`+"\n" {
			t.Errorf("another store reads %s", got)
		}
	})
}

// TestCopiesAtOnce runs readers that share a copy while others write.
func TestCopiesAtOnce(t *testing.T) {
	c := servers.Need(t, servers.MariaDB).Database(t.Name())
	s, cache := create(t, c, large(2500)), t.TempDir()
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for i := range 12 {
				r := open(t, c, cache)
				if n == 0 {
					edit(t, r, func(tx *beads.Tx) error { // enough that base is rewritten too
						for k := range 200 {
							if err := setNotes(fmt.Sprintf("d-%06d", (i*200+k)%2500), strings.Repeat("m", 900)+fmt.Sprint(i))(tx); err != nil {
								return err
							}
						}
						return nil
					})
				}
				f, err := r.Snapshot()
				if err != nil || f.Len() != 2500 || len(f.Problems()) > 0 {
					t.Error(err, f.Len(), f.Problems())
				}
			}
		})
	}
	group.Wait()
	if textOf(t, s) != textOf(t, open(t, c, cache)) {
		t.Error("differs")
	}
}
