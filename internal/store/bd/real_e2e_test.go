//go:build e2e

package bd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
)

// These tests run the bd that STIG_TEST_BD names on databases of its own. They need bd 1.0 or
// later.

// workspace is a directory with a store of a real bd.
type workspace struct {
	t       testing.TB
	dir     string
	program Program
	place   beads.Place
}

// inEach runs a test on a database whose files stig can examine, and on one it knows nothing
// about: bd 1.0 takes an unknown mode for an embedded database.
func inEach(t *testing.T, test func(*testing.T, *workspace)) {
	real := os.Getenv("STIG_TEST_BD")
	if real == "" {
		t.Fatal("STIG_TEST_BD names no bd")
	}
	if said, err := exec.Command(real, "version").Output(); err != nil || regexp.MustCompile(`version 0\.`).Match(said) {
		t.Fatalf("a bd before 1.0: %s, %v; name a later one", said, err)
	}
	t.Run("embedded", func(t *testing.T) { test(t, newWorkspace(t, real)) })
	t.Run("elsewhere", func(t *testing.T) {
		w := newWorkspace(t, real)
		path := filepath.Join(w.place.Dir, "metadata.json")
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, bytes.Replace(text, []byte(`"embedded"`), []byte(`"other"`), 1), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		test(t, w)
	})
}

func newWorkspace(t *testing.T, real string) *workspace {
	t.Helper()
	home := t.TempDir()
	w := &workspace{t: t, dir: filepath.Join(home, "work")}
	bin := filepath.Join(home, "bin")
	if err := errors.Join(os.Mkdir(w.dir, 0o755), os.Mkdir(bin, 0o755), os.Symlink(real, filepath.Join(bin, "bd"))); err != nil {
		t.Fatal(err)
	}
	path := bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	t.Setenv("PATH", path)
	env := []string{"PATH=" + path, "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "BD_NON_INTERACTIVE=1", "BEADS_ACTOR=mara", "TZ=UTC"}
	w.program = Program{Env: env, OnPath: true, Cache: filepath.Join(home, "cache"), Actor: func() string { return "ann" }, Lock: jsonl.Lock,
		Warn: func(format string, args ...any) { t.Errorf("warned: "+format, args...) },
	}
	beside := filepath.Join(w.dir, beads.DirName)
	w.place = beads.Place{Dir: beside, Path: filepath.Join(beside, "issues.jsonl"), Mode: beads.BD}
	w.git("init", "-q")
	w.git("config", "user.name", "mara")
	w.git("config", "user.email", "mara@harbor.example")
	w.bd("init", "--prefix=w", "--quiet", "--skip-hooks", "--skip-agents")
	return w
}

func (w *workspace) git(args ...string) {
	w.t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", w.dir}, args...)...).CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// bd runs bd and returns its output.
func (w *workspace) bd(argv ...string) string { w.t.Helper(); return w.bdWith("", argv...) }

func (w *workspace) bdWith(stdin string, argv ...string) string {
	w.t.Helper()
	c := exec.Command("bd", argv...)
	c.Dir, c.Env, c.Stdin = w.dir, append(w.program.Env, "BEADS_DIR="+w.place.Dir), strings.NewReader(stdin)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		w.t.Fatalf("bd %q: %v\n%s%s", argv, err, out, errs.Bytes())
	}
	return string(out)
}

// store returns the store as a stig process opens it.
func (w *workspace) store() beads.Store { return w.program.Wrap(jsonl.Open(w.place)) }

func anyNotes(_, _ string) error { return nil }

// edit makes an edit as a stig process does.
func (w *workspace) edit(fn func(*beads.Tx) error) error {
	_, err := w.store().Edit(context.Background(), beads.Options{Now: time.Now().UTC(), Notes: anyNotes}, fn)
	return err
}

// lines returns the lines that stig reads without a cache.
func (w *workspace) lines() string {
	w.t.Helper()
	program := w.program
	program.Cache = ""
	lines, err := program.Wrap(jsonl.Open(w.place)).(*store).read(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return string(lines)
}

// record returns an issue as stig reads it.
func (w *workspace) record(id string) *beads.Record {
	w.t.Helper()
	f, err := w.store().Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	at, ok := f.Index(id)
	if !ok {
		w.t.Fatalf("%s: not there", id)
	}
	r, err := f.At(at).Record()
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// everything are lines with all kinds of values that bd stores.
const everything = `{"id":"w-1","title":"<First> & \"quoted\" ü 漢","description":"a\tb\\n  ","design":"d\r\nd","acceptance_criteria":"it works","notes":"line\n\nline\u2028sep","spec_id":"spec/1","status":"in_progress","priority":0,"issue_type":"bug","assignee":"ann","owner":"ann@example.org","estimated_minutes":0,"created_at":"2026-11-20T09:00:00.75+02:00","created_by":"bo","updated_at":"2026-11-20T10:00:00.25Z","started_at":"2026-11-20T09:30:00Z","external_ref":"gh-9","source_system":"other","metadata":{"b":[1,2.50,null],"a":{"<x>":"ü & \u2028"},"n":1e3},"labels":["z","a","ü,\"x\""],"due_at":"2027-01-01T00:00:00Z","defer_until":"2027-02-01T12:00:00-05:00","pinned":true,"waiters":["mara","bo"],"await_type":"timer","await_id":"x","timeout":5000000000,"sender":"s","work_type":"open_competition","mol_type":"swarm","event_kind":"k","actor":"a","target":"t","payload":"{}","comments":[{"id":"8","issue_id":"w-1","author":"bo","text":"second","created_at":"2026-11-20T09:00:02Z"},{"id":"7","issue_id":"w-1","author":"ann","text":"first\n<b> & 漢","created_at":"2026-11-20T09:00:01.5Z"}]}
{"id":"w-2","title":"Second","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-20T09:00:00Z","updated_at":"2026-11-20T09:00:00Z","dependencies":[{"issue_id":"w-2","depends_on_id":"w-1","type":"blocks","created_at":"2026-11-20T09:00:00Z","created_by":"bo"},{"issue_id":"w-2","depends_on_id":"w-4","type":"related","created_at":"2026-11-20T09:00:00Z"},{"issue_id":"w-2","depends_on_id":"external:other:x","type":"blocks","created_at":"2026-11-20T09:00:00Z"},{"issue_id":"w-2","depends_on_id":"external:a:y","type":"related","created_at":"2026-11-20T09:00:00Z"},{"issue_id":"w-2","depends_on_id":"w-3","type":"tracks","created_at":"2026-11-20T09:00:00Z"},{"issue_id":"w-2","depends_on_id":"w-4.1","type":"related","created_at":"2026-11-20T09:00:00Z"}]}
{"id":"w-3","title":"Closed","status":"closed","priority":2,"issue_type":"feature","created_at":"2026-11-19T09:00:00Z","updated_at":"2026-11-20T09:00:00Z","closed_at":"2026-11-20T09:00:00Z","close_reason":"done & dusted\n"}
{"id":"w-4","title":"Epic","status":"open","priority":4,"issue_type":"epic","created_at":"2026-11-20T09:00:00Z","updated_at":"2026-11-20T09:00:00Z","notes":"BIG"}
{"id":"w-4.1","title":"Child","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-20T09:00:00Z","updated_at":"2026-11-20T09:00:00Z","dependencies":[{"issue_id":"w-4.1","depends_on_id":"w-4","type":"parent-child","created_at":"2026-11-20T09:00:00Z"},{"issue_id":"w-4.1","depends_on_id":"w-2","type":"blocks","created_at":"2026-11-20T09:00:00Z"}]}
{"id":"w-5","title":"A template","is_template":true,"status":"open","priority":2,"issue_type":"task","created_at":"2026-11-20T09:00:00Z","updated_at":"2026-11-20T09:00:00Z"}
{"id":"w-6","title":"Kept out of history","no_history":true,"labels":["l"],"status":"open","priority":1,"issue_type":"task","created_at":"2026-11-20T09:00:00Z","updated_at":"2026-11-20T09:00:00Z"}
{"id":"w-7","title":"Passing","ephemeral":true,"status":"open","priority":1,"issue_type":"task","created_at":"2026-11-20T09:00:00Z","updated_at":"2026-11-20T09:00:00Z"}
`

// stig reads the bytes of bd export.
func TestRealLines(t *testing.T) {
	inEach(t, func(t *testing.T, w *workspace) {
		if got := w.lines(); got != "" {
			t.Errorf("of an empty database: %q", got)
		}
		w.bdWith(strings.Replace(everything, "BIG", strings.Repeat("note ü <&> ", 200_000), 1), "import", "-")
		w.bd("comment", "w-2", "said by bd")
		w.bd("update", "w-2", "--claim")
		w.bd("remember", "tides turn", "--key", "tides")
		want := w.bd("export")
		if got := w.lines(); got != want {
			for k, line := range strings.Split(want, "\n") {
				if lines := strings.Split(got, "\n"); k >= len(lines) || lines[k] != line {
					t.Fatalf("line %d\ngot  %.3000s\nwant %.3000s", k+1, lines[min(k, len(lines)-1)], line)
				}
			}
			t.Errorf("%d bytes more", len(got)-len(want))
		}
		f, err := w.store().Snapshot()
		if err != nil || len(f.Problems()) > 0 || f.Len() != strings.Count(want, "\n") {
			t.Errorf("%v, %+v", err, f)
		}
	})
}

// Every kind of edit reaches bd, and later writes by bd are read; nothing else in the issue
// changes.
func TestRealEdits(t *testing.T) {
	inEach(t, func(t *testing.T, w *workspace) {
		w.bd("create", "First", "--id=w-1", "--description=desc", "--labels=a,b")
		w.bd("create", "Second", "--id=w-2", "--deps=w-1")
		w.bd("create", "Third", "--id=w-3")
		long := strings.Repeat("a long note ü\n", 20_000)
		for _, c := range []struct {
			name string
			do   func(*beads.Tx) error
			key  beads.Key
			want string
		}{
			{"notes", func(tx *beads.Tx) error {
				return tx.Set("w-1", beads.Set{Key: beads.Notes, Text: "n <&> ü\n\n--x \"q\""})
			}, beads.Notes, "n <&> ü\n\n--x \"q\""},
			{"notes past an argument", func(tx *beads.Tx) error { return tx.Set("w-1", beads.Set{Key: beads.Notes, Text: long}) }, beads.Notes, long},
			{"no notes", func(tx *beads.Tx) error { return tx.Set("w-1", beads.Set{Key: beads.Notes, Text: ""}) }, beads.Notes, ""},
			{"title and type", func(tx *beads.Tx) error {
				return tx.Set("w-1", beads.Set{Key: beads.Title, Text: "Re<named>"}, beads.Set{Key: beads.IssueType, Text: "bug"})
			}, beads.Title, "Re<named>"},
			{"description", func(tx *beads.Tx) error { return tx.Set("w-1", beads.Set{Key: beads.Description, Text: "x\ny"}) }, beads.Description, "x\ny"},
			{"claimed", func(tx *beads.Tx) error {
				return tx.Set("w-1", beads.Set{Key: beads.Status, Text: "in_progress"}, beads.Set{Key: beads.Assignee, Text: "bo of quay"})
			}, beads.Assignee, "bo of quay"},
			{"deferred", func(tx *beads.Tx) error {
				return tx.Set("w-1", beads.Set{Key: beads.DeferUntil, Text: "2027-01-02T03:04:05Z"})
			}, beads.DeferUntil, "2027-01-02T03:04:05Z"},
			{"closed", func(tx *beads.Tx) error { return tx.MarkClosed("w-1", "it burns <&>\nall night") }, beads.CloseReason, "it burns <&>\nall night"},
			{"open again", func(tx *beads.Tx) error {
				return tx.Set("w-1", beads.Set{Key: beads.Status, Text: "open"}, beads.Set{Key: beads.ClosedAt, Text: ""}, beads.Set{Key: beads.CloseReason, Text: ""})
			}, beads.CloseReason, ""},
			{"comment", func(tx *beads.Tx) error {
				return tx.AddComment("w-1", beads.Comment{Author: "cy", Text: "one\n two <&>"})
			}, beads.Status, "open"},
			{"dependency", func(tx *beads.Tx) error { return tx.AddRow("w-1", beads.Row{On: "w-3", Type: "related", By: "ann"}) }, beads.Status, "open"},
			{"dependency gone", func(tx *beads.Tx) error { return tx.DropRow("w-2", beads.Dep{On: "w-1", Type: "blocks"}) }, beads.Status, "open"},
			{"a new one", func(tx *beads.Tx) error {
				_, err := tx.Add(beads.New{ID: "w-9", Title: "New", Notes: "n", Status: "open", Type: "task", Priority: 1, By: "ann", Labels: []string{"x"}, Deps: []beads.Dep{{On: "w-1", Type: "blocks"}}})
				return err
			}, beads.Status, "open"},
		} {
			if err := w.edit(c.do); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := w.record("w-1").Text(c.key); got != c.want {
				t.Errorf("%s: %.200q, want %.200q", c.name, got, c.want)
			}
		}
		if got, want := w.lines(), w.bd("export"); got != want {
			t.Errorf("stig reads\n%s\nbd exports\n%s", got, want)
		}
		show := w.bd("show", "w-1")
		for _, part := range []string{"Re<named>", "two <&>"} {
			if !strings.Contains(show, part) {
				t.Errorf("bd shows no %q:\n%s", part, show)
			}
		}
		if ready := w.bd("ready"); !strings.Contains(ready, "w-2") || strings.Contains(ready, "w-9") {
			t.Errorf("ready:\n%s", ready)
		}
		r := w.record("w-1")
		if labels := strings.Join(r.Labels(), " "); labels != "a b" || r.Text("created_by") == "" {
			t.Errorf("labels %q, line %s", labels, r.Bytes())
		}
		w.bd("update", "w-9", "--title=By bd", "--append-notes=more")
		if r := w.record("w-9"); r.Text(beads.Title) != "By bd" || r.Text(beads.Notes) != "n\nmore" {
			t.Errorf("%s", r.Bytes())
		}
		var many []string
		for n := range mostUpdates + 4 {
			many = append(many, fmt.Sprintf("w-m%d", n))
		}
		if err := w.edit(func(tx *beads.Tx) error {
			for _, id := range many {
				if _, err := tx.Add(beads.New{ID: id, Title: "One of many", Status: "open", Type: "task"}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// Claiming somebody else's issue is refused because of the data, not because of bd's wording.
func TestRealConflicts(t *testing.T) {
	inEach(t, func(t *testing.T, w *workspace) {
		w.bd("create", "First", "--id=w-1")
		raced := false
		err := w.edit(func(tx *beads.Tx) error {
			r, err := tx.Record("w-1")
			if err != nil {
				return err
			}
			if !raced {
				raced = true
				w.bd("--actor=bo", "update", "w-1", "--claim")
			} else if who := r.Text(beads.Assignee); who != "bo" {
				t.Errorf("read again: %q", who)
			} else {
				return errors.New("bo has it")
			}
			return tx.Set("w-1", beads.Set{Key: beads.Status, Text: "in_progress"}, beads.Set{Key: beads.Assignee, Text: "ann"})
		})
		if err == nil || err.Error() != "bo has it" {
			t.Errorf("claimed: %v", err)
		}
	})
}

// between runs a command just before the next bd of that name starts.
func between(t *testing.T, w *workspace, name, command string) {
	t.Helper()
	bin := filepath.Join(filepath.Dir(w.dir), "bin")
	real, err := filepath.EvalSymlinks(filepath.Join(bin, "bd"))
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *%s*) ln -sf %s %s/bd; %s >&2 ;; esac\nexec %s \"$@\"\n", name, real, bin, command, real)
	if err := errors.Join(os.WriteFile(filepath.Join(bin, "slow"), []byte(script), 0o755), os.Remove(filepath.Join(bin, "bd")), os.Symlink("slow", filepath.Join(bin, "bd"))); err != nil {
		t.Fatal(err)
	}
}

// A failing bd writes nothing of its step, and the edit says what is written.
func TestRealFailure(t *testing.T) {
	inEach(t, func(t *testing.T, w *workspace) {
		w.bd("create", "First", "--id=w-1")
		err := w.edit(func(tx *beads.Tx) error { return tx.Set("w-1", beads.Set{Key: beads.Status, Text: "unheard-of"}) })
		conflict, ok := fault.As(err, fault.Changed)
		if !ok || !strings.Contains(conflict.Reason, "nothing was written") || !strings.Contains(conflict.Reason, "invalid status") {
			t.Errorf("%v", err)
		}
		between(t, w, "comment", "kill -9 $$")
		err = w.edit(func(tx *beads.Tx) error {
			return errors.Join(tx.Set("w-1", beads.Set{Key: beads.Title, Text: "Renamed"}), tx.AddComment("w-1", beads.Comment{Author: "ann", Text: "seen"}))
		})
		lost, ok := asLost(err)
		if !ok || !strings.Contains(lost.Reason, "a part of the edit is written, but not this: w-1 comments") {
			t.Errorf("%v", err)
		}
		if r := w.record("w-1"); r.Text(beads.Title) != "Renamed" || len(r.Comments()) != 0 {
			t.Errorf("%s", r.Bytes())
		}
	})
}

// Eight stig and eight bd processes write at once, to one issue and to others. Every
// acknowledged write is there in the end, and every failed one was reported.
func TestRealTogether(t *testing.T) {
	inEach(t, func(t *testing.T, w *workspace) {
		const each = 8
		w.program.Warn = t.Logf // what was read may be uncommitted
		for n := range each {
			w.bd("create", "Its own", fmt.Sprintf("--id=w-%d", n))
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		told := map[string]error{}
		note := func(name string, err error) { mu.Lock(); defer mu.Unlock(); told[name] = err }
		for n := range each {
			all.Go(func() {
				note(fmt.Sprintf("stig%d", n), w.edit(func(tx *beads.Tx) error {
					r, err := tx.Record("w-0")
					if err != nil {
						return err
					}
					return errors.Join(tx.Set("w-0", beads.Set{Key: beads.Notes, Text: r.Text(beads.Notes) + fmt.Sprintf("stig%d\n", n)}),
						tx.AddComment(fmt.Sprintf("w-%d", n), beads.Comment{Author: "ann", Text: fmt.Sprintf("stig%d", n)}))
				}))
			})
			all.Go(func() {
				c := exec.Command("bd", "update", fmt.Sprintf("w-%d", n), fmt.Sprintf("--title=bd%d", n), fmt.Sprintf("--add-label=bd%d", n))
				c.Dir, c.Env = w.dir, append(w.program.Env, "BEADS_DIR="+w.place.Dir)
				out, err := c.CombinedOutput()
				if err != nil {
					err = fmt.Errorf("%w: %s", err, out)
				}
				note(fmt.Sprintf("bd%d", n), err)
			})
		}
		all.Wait()
		notes, failed := w.record("w-0").Text(beads.Notes), 0
		for n := range each {
			own := w.record(fmt.Sprintf("w-%d", n))
			if err := told[fmt.Sprintf("stig%d", n)]; err != nil {
				failed++
				t.Logf("stig%d: %v", n, err)
			} else if name := fmt.Sprintf("stig%d", n); !strings.Contains(notes, name+"\n") || len(own.Comments()) == 0 {
				t.Errorf("%s was acknowledged, and is lost:\n%s\n%s", name, notes, own.Bytes())
			}
			if err := told[fmt.Sprintf("bd%d", n)]; err != nil {
				failed++
				t.Logf("bd%d: %v", n, err)
			} else if name := fmt.Sprintf("bd%d", n); own.Text(beads.Title) != name || !strings.Contains(string(own.Bytes()), `"labels":["`+name) {
				t.Errorf("%s was acknowledged, and is lost: %s", name, own.Bytes())
			}
		}
		t.Logf("%d writers, %d refused, none lost", 2*each, failed)
	})
}

// A watch fires when bd writes, and not when stig or bd read.
func TestRealWatch(t *testing.T) {
	inEach(t, func(t *testing.T, w *workspace) {
		w.bd("create", "First", "--id=w-1")
		changes, stop := w.store().Watch()
		defer stop()
		time.Sleep(300 * time.Millisecond)
		w.lines()
		w.bd("export")
		select {
		case <-changes:
			t.Error("a reader is no change")
		case <-time.After(2 * watchExport):
		}
		w.bd("update", "w-1", "--title=Renamed")
		select {
		case <-changes:
		case <-time.After(10 * watchExport):
			t.Error("nothing was sent")
		}
	})
}

// If a stig process is killed (signal 9) while its bd starts, alone or with its bd, the issue
// is as before or as after the edit, and the next run can write.
func TestRealKilled(t *testing.T) {
	if dir := os.Getenv("STIG_TEST_KILLED"); dir != "" { // the run to kill
		b := Program{Env: os.Environ(), OnPath: true, Warn: func(string, ...any) {}, Lock: jsonl.Lock}
		beside := filepath.Join(dir, beads.DirName)
		place := beads.Place{Dir: beside, Path: filepath.Join(beside, "issues.jsonl"), Mode: beads.BD}
		_, err := b.Wrap(jsonl.Open(place)).Edit(t.Context(), beads.Options{Now: time.Now(), Notes: anyNotes}, func(tx *beads.Tx) error {
			return tx.Set("w-1", beads.Set{Key: beads.Title, Text: "Killed"}, beads.Set{Key: beads.Notes, Text: "killed"})
		})
		t.Fatalf("not killed: %v", err)
	}
	inEach(t, func(t *testing.T, w *workspace) {
		w.program.Warn = t.Logf // an orphaned bd may not have committed yet
		w.bd("create", "First", "--id=w-1")
		for n, how := range []string{"kill -9 $PPID", "kill -9 $PPID; sleep 1; exit 1"} {
			between(t, w, "update", how)
			c := exec.Command(os.Args[0], "-test.run=^TestRealKilled$")
			c.Env = append(os.Environ(), append(w.program.Env, "STIG_TEST_KILLED="+w.dir)...)
			if out, err := c.CombinedOutput(); err == nil || strings.Contains(string(out), "not killed") {
				t.Errorf("%v: %s", err, out)
			}
			for range 30 { // an orphaned bd may go on
				if time.Sleep(time.Second / 2); w.record("w-1").Text(beads.Title) == "Killed" {
					break
				}
			}
			r := w.record("w-1")
			if title, notes := r.Text(beads.Title), r.Text(beads.Notes); (title == "Killed") != (notes == "killed") {
				t.Errorf("half an edit: %s", r.Bytes())
			}
			want := fmt.Sprintf("after %d", n)
			if err := w.edit(func(tx *beads.Tx) error {
				return tx.Set("w-1", beads.Set{Key: beads.Title, Text: want}, beads.Set{Key: beads.Notes, Text: ""})
			}); err != nil {
				t.Error(err)
			}
			if r := w.record("w-1"); r.Text(beads.Title) != want || r.Has(beads.Notes) {
				t.Errorf("%s", r.Bytes())
			}
		}
	})
}

// asLost returns an error about something written and lost.
func asLost(err error) (*fault.Error, bool) {
	lost, ok := fault.As(err, fault.Changed)
	return lost, ok && errors.Is(err, beads.ErrLost)
}
