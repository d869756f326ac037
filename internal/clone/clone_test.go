package clone_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/clone"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// cloneAt returns a repository with a store and one commit.
func cloneAt(t testing.TB) (dir, store string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "main")
	store = filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.MkdirAll(filepath.Dir(store), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store, []byte("{\"id\":\"a-1\",\"title\":\"x\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".beads")
	git(t, dir, "-c", "user.name=m", "-c", "user.email=m@a.example", "commit", "-qm", "begin")
	return dir, store
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func at(t testing.TB, store string) clone.Place {
	t.Helper()
	p, err := clone.At(store)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func record(n int) clone.Record {
	return clone.Record{At: noon, Command: "test", Changes: []clone.Change{{Issue: fmt.Sprint("a-", n), Kind: "key", Name: "title", Now: "x"}}}
}

func write(t testing.TB, p clone.Place, r clone.Record) {
	t.Helper()
	pending, err := p.Begin(r)
	if err == nil {
		err = pending.End(clone.Written)
	}
	if err != nil {
		t.Error(err)
	}
}

func read(t testing.TB, p clone.Place) clone.Journal {
	t.Helper()
	j, err := p.Journal()
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestPlaces: all work trees of a clone share one journal, which records where each edit was
// made.
func TestPlaces(t *testing.T) {
	dir, store := cloneAt(t)
	git(t, dir, "worktree", "add", "-q", "../beside")
	beside := filepath.Join(filepath.Dir(dir), "beside", ".beads", "issues.jsonl")
	head := git(t, dir, "rev-parse", "HEAD")
	for _, c := range []struct {
		name, store, branch string
		before              []string
	}{
		{"loose reference", store, "main", nil},
		{"linked work tree", beside, "beside", nil},
		{"packed references", store, "main", []string{"pack-refs", "--all"}},
		{"detached", store, "", []string{"checkout", "-q", "--detach"}},
	} {
		if c.before != nil {
			git(t, dir, c.before...)
		}
		p := at(t, c.store)
		if p.Branch != c.branch || p.Head != head || p.Store != ".beads/issues.jsonl" || p.Worktree != filepath.Dir(filepath.Dir(c.store)) {
			t.Errorf("%s: %+v", c.name, p)
		}
		write(t, p, record(1))
	}
	if j := read(t, at(t, beside)); len(j.Records) != 4 || j.Records[1].Branch != "beside" || j.Records[1].Head != head {
		t.Errorf("%+v", j)
	}
	link := filepath.Join(dir, "link.jsonl")
	if err := os.Symlink(store, link); err != nil {
		t.Fatal(err)
	}
	if p := at(t, link); p.Store != ".beads/issues.jsonl" {
		t.Errorf("through a link: %+v", p)
	}
}

// TestJournalConcurrent: concurrent writers write whole lines, and every record exists once.
func TestJournalConcurrent(t *testing.T) {
	_, store := cloneAt(t)
	p := at(t, store)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 20 {
				write(t, p, record(100*n+i))
			}
		})
	}
	all.Wait()
	j, seen := read(t, p), map[string]bool{}
	for _, r := range j.Records {
		if r.Result != clone.Written {
			t.Errorf("%s: %q", r.Seq, r.Result)
		}
		seen[r.Changes[0].Issue] = true
	}
	if len(j.Records) != 160 || len(seen) != 160 || len(j.Damaged) > 0 {
		t.Errorf("%d records of %d issues, damaged %v", len(j.Records), len(seen), j.Damaged)
	}
}

// TestJournalTorn: a writer may be killed after any byte. Its partial line is no record, and
// the records before and after it are read.
func TestJournalTorn(t *testing.T) {
	_, store := cloneAt(t)
	p := at(t, store)
	write(t, p, record(1))
	write(t, p, record(2))
	path := filepath.Join(filepath.Dir(filepath.Dir(store)), ".git", "stig", "journal-000001-20261120.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := range whole {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, p, record(3))
		ended := bytes.Count(whole[:size], []byte("\n")) + 1
		records := []int{0: 0, 1: 0, 2: 1, 3: 1, 4: 2}[min(ended, 4)]
		j := read(t, p)
		if n := len(j.Records); n < records+1 || n > records+2 || len(j.Damaged) > 0 || j.Records[n-1].Changes[0].Issue != "a-3" {
			t.Fatalf("cut at %d of %d: %d records, want %d, and damaged %v", size, len(whole), n, records+1, j.Damaged)
		}
	}
}

// TestJournalBounds: the oldest segments are dropped by size and by age, and after a month a
// new segment starts.
func TestJournalBounds(t *testing.T) {
	day := func(before int) string { return noon.AddDate(0, 0, -before).Format("20060102") }
	for _, test := range []struct {
		name     string
		size     int64
		days     []int // before today, when the segments were started
		want     []int
		wantName string // of the last one
	}{
		{"few", 1, []int{5}, []int{5}, "journal-000001-" + day(5) + ".jsonl"},
		{"a full one", 4 << 20, []int{5}, []int{5, 0}, "journal-000002-" + day(0) + ".jsonl"},
		{"one of a month ago", 1, []int{30}, []int{30, 0}, "journal-000002-" + day(0) + ".jsonl"},
		{"many full ones", 4 << 20, make([]int, 20), make([]int, 16), "journal-000021-" + day(0) + ".jsonl"},
		{"large records", 25 << 20, make([]int, 5), make([]int, 3), "journal-000006-" + day(0) + ".jsonl"},
		{"one larger than all may be", 70 << 20, make([]int, 2), make([]int, 2), "journal-000003-" + day(0) + ".jsonl"},
		{"the second is old", 1, []int{150, 91, 60, 40}, []int{91, 60, 40, 0}, "journal-000005-" + day(0) + ".jsonl"},
		{"nobody wrote for a year, or so a clock says", 1, []int{420, 400, 380}, []int{400, 380, 0}, "journal-000004-" + day(0) + ".jsonl"},
		{"one that is very old", 1, []int{400}, []int{400, 0}, "journal-000002-" + day(0) + ".jsonl"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, store := cloneAt(t)
			own := filepath.Join(dir, ".git", "stig")
			if err := os.MkdirAll(own, 0o700); err != nil {
				t.Fatal(err)
			}
			for n, before := range test.days {
				path := filepath.Join(own, fmt.Sprintf("journal-%06d-%s.jsonl", n+1, day(before)))
				if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, test.size)); err != nil {
					t.Fatal(err)
				}
			}
			write(t, at(t, store), record(1))
			left, err := filepath.Glob(filepath.Join(own, "journal-*.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			var days []string
			for _, before := range test.want {
				days = append(days, day(before))
			}
			var got []string
			for _, path := range left {
				got = append(got, path[len(path)-len("20261120.jsonl"):len(path)-len(".jsonl")])
			}
			last := left[len(left)-1]
			if !slices.Equal(got, days) || filepath.Base(last) != test.wantName {
				t.Errorf("got %v, last %s; want %v, %s", got, filepath.Base(last), days, test.wantName)
			}
			if j := read(t, at(t, store)); len(j.Records) != 1 {
				t.Errorf("%d records", len(j.Records))
			}
		})
	}
}

// TestNextChild: numbers of children never decrease, in any order of calls.
func TestNextChild(t *testing.T) {
	_, store := cloneAt(t)
	p := at(t, store)
	asked := 0
	other := clone.Source{Name: "branch", Version: "1", Numbers: func(string) (map[string]int, error) {
		asked++
		return map[string]int{"a-1": 5}, nil
	}}
	for i, c := range []struct {
		least   int
		sources []clone.Source
		dryRun  bool
		want    int
	}{
		{least: 0, want: 1},
		{least: 0, want: 2},
		{least: 0, dryRun: true, want: 3},
		{least: 0, want: 3},
		{least: 3, sources: []clone.Source{other}, dryRun: true, want: 6},
		{least: 3, sources: []clone.Source{other}, want: 6},
		{least: 3, sources: []clone.Source{other}, want: 7},
		{least: 0, want: 8},
		{least: 20, want: 21},
	} {
		got, err := p.NextChild("a-1", c.least, c.sources, c.dryRun)
		if got != c.want || err != nil {
			t.Errorf("%d: got %d, want %d: %v", i, got, c.want, err)
		}
	}
	if asked != 2 { // for the dry run, and once for the counter
		t.Errorf("a source that did not change was read %d times", asked)
	}
}

// TestNull: a file that contains null counts as missing.
func TestNull(t *testing.T) {
	dir, store := cloneAt(t)
	p := at(t, store)
	own := filepath.Join(dir, ".git", "stig")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"children.json", "leases.json"} {
		if err := os.WriteFile(filepath.Join(own, name), []byte("null\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := p.NextChild("a-1", 0, nil, false); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	hold := func(c *clone.Claims) (bool, error) { c.Hold(clone.Lease{Issue: "a-1"}); return true, nil }
	if _, err := p.ChangeClaims(hold); err != nil {
		t.Error(err)
	}
}

// TestBeside: if git's directory cannot be used, live state is beside the store, and is merged
// with what git's directory has.
func TestBeside(t *testing.T) {
	dir, store := cloneAt(t)
	p := at(t, store)
	write(t, p, record(1))
	own := filepath.Join(dir, ".git", "stig")
	if err := os.Rename(own, own+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pending, err := p.Begin(record(2))
	if err != nil || !pending.Beside() {
		t.Fatalf("%+v, %v", pending, err)
	}
	if err := pending.End(clone.Written); err != nil {
		t.Fatal(err)
	}
	if n, err := p.NextChild("a-1", 0, nil, false); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if status := git(t, dir, "status", "--porcelain"); status != "" {
		t.Errorf("git sees %q", status)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(own+".away", own); err != nil {
		t.Fatal(err)
	}
	if j := read(t, p); len(j.Records) != 2 || j.Records[1].Result != clone.Written {
		t.Errorf("%+v", j)
	}
}

// TestJournalOrder: records stay in the order of the writes, even if the clock was set back.
func TestJournalOrder(t *testing.T) {
	_, store := cloneAt(t)
	p, err := clone.At(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"first", "second", "third"} {
		at := noon
		if command == "second" {
			at = noon.Add(-time.Hour)
		}
		if _, err := p.Begin(clone.Record{At: at, Command: command}); err != nil {
			t.Fatal(err)
		}
	}
	journal, err := p.Journal()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range journal.Records {
		got = append(got, r.Command)
	}
	if strings.Join(got, " ") != "first second third" {
		t.Errorf("got %q", got)
	}
}

// TestSeparate: two stores of a clone, and one store in two work trees, have separate state;
// only work trees share a journal.
func TestSeparate(t *testing.T) {
	dir, store := cloneAt(t)
	other := filepath.Join(dir, "sub", ".beads", "issues.jsonl")
	if err := os.MkdirAll(filepath.Dir(other), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(filepath.Dir(dir), "tree")
	git(t, dir, "worktree", "add", "-q", tree)
	places := []clone.Place{at(t, store), at(t, other), at(t, filepath.Join(tree, ".beads", "issues.jsonl"))}
	for i, p := range places {
		write(t, p, record(i))
		if err := p.Remember(clone.Seen{Left: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int{2, 1, 2} {
		journal, err := places[i].Journal()
		if err != nil || len(journal.Records) != want {
			t.Errorf("%d: %d records, want %d; %v", i, len(journal.Records), want, err)
		}
		if seen := places[i].Seen(); seen.Left != fmt.Sprint(i) {
			t.Errorf("%d: remembers %q", i, seen.Left)
		}
	}
}

// TestIgnoredBeside: git ignores live state beside the store, even if a full disk left an empty
// .gitignore.
func TestIgnoredBeside(t *testing.T) {
	store := filepath.Join(t.TempDir(), "issues.jsonl")
	ignore := filepath.Join(filepath.Dir(store), ".stig", ".gitignore")
	if err := os.MkdirAll(filepath.Dir(ignore), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ignore, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, at(t, store), record(1))
	if text, err := os.ReadFile(ignore); err != nil || string(text) != "*\n" {
		t.Errorf("%q: %v", text, err)
	}
}
