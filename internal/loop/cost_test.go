//go:build unix

package loop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/clone"
	"stig/internal/loop"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/sample"
	"stig/internal/workspace"
)

// BenchmarkPass measures the cost of a pass around a command that does nothing, with git:
// processor time of the loop, processor time of the programs it starts, and elapsed time. One
// loop does a single run and another 5 more; the result is the difference between the cheapest
// of each.
func BenchmarkPass(b *testing.B) {
	debug.SetGCPercent(200) // as cmd/stig does
	for _, size := range []int{1000, 10000} {
		for _, c := range []struct{ name, script string }{{"silent", "true"}, {"advanced", "echo x >>work.txt"}} {
			b.Run(fmt.Sprintf("%d/%s", size, c.name), func(b *testing.B) {
				runs, least := 2, [2]cost{}
				if c.name == "advanced" {
					runs = 6
				}
				for b.Loop() {
					for k, n := range []int{1, runs} {
						a := sampleApp(b, sampled(b, size), b.TempDir())
						before := spent()
						passes(b, a, c.script, n)
						used := spent().minus(before)
						if least[k].wall == 0 || used.own+used.children < least[k].own+least[k].children {
							least[k] = used
						}
					}
				}
				each := least[1].minus(least[0])
				per := time.Duration(runs - 1)
				b.ReportMetric(ms(each.own/per), "own-ms/pass")
				b.ReportMetric(ms(each.children/per), "git-ms/pass")
				b.ReportMetric(ms(each.wall/per), "wall-ms/pass")
				b.ReportMetric(ms(least[0].own+least[0].children), "first-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// TestPassReads limits the edits and readings of the store and the starts of git per pass.
// Whatever the number of passes, the whole store is read once if nobody else changes it. An
// edit copies it, compares it once, and hashes a part. A pass with two edits reads 4.8 times
// the store's size, and its prompt reads the lines with comments for the inbox. One more is
// allowed for a machine so busy that the file system's clock stands still.
func TestPassReads(t *testing.T) {
	for _, c := range []struct {
		name, script string
		gits         int
	}{
		{"silent", "true", 9}, // two before the command and two after it, for what work trees share
		{"advanced", "echo x >>work.txt", 13},
	} {
		one, two := countPasses(t, c.script, 1), countPasses(t, c.script, 2)
		if one.readings != 1 || two.readings != 1 {
			t.Errorf("%s: the store was read whole %d times in one pass, %d in two", c.name, one.readings, two.readings)
		}
		if edits := two.edits - one.edits; edits != 2 {
			t.Errorf("%s: a pass edits the store %d times", c.name, edits)
		}
		if gits := two.gits - one.gits; gits > c.gits {
			t.Errorf("%s: a pass starts git %d times, want %d at most", c.name, gits, c.gits)
		}
		if bytes := two.bytes - one.bytes; bytes > 7 {
			t.Errorf("%s: a pass reads %.2f times the bytes of the store", c.name, bytes)
		}
	}
}

// counts is what a loop did.
type counts struct {
	readings, edits, gits int
	bytes                 float64 // bytes read, in sizes of the store
}

// countPasses runs a loop for n passes.
func countPasses(t *testing.T, script string, runs int) (c counts) {
	t.Helper()
	dir, log := sampled(t, 600), filepath.Join(t.TempDir(), "git")
	store := filepath.Join(dir, ".beads", "issues.jsonl")
	a := sampleApp(t, dir, t.TempDir())
	a.Cache = jsonl.NewCache(time.Now)
	a.Env = func() []string { // so that git knows the committer and does not look it up
		return append(os.Environ(), "GIT_TRACE2_EVENT="+log, "GIT_AUTHOR_EMAIL=m@pier", "GIT_COMMITTER_NAME=m", "GIT_COMMITTER_EMAIL=m@pier")
	}
	before := bytesRead(t)
	passes(t, a, script, runs)
	info, err := os.Stat(store)
	if err != nil {
		t.Fatal(err)
	}
	c.bytes, c.readings = float64(bytesRead(t)-before)/float64(info.Size()), a.Cache.Readings()
	place, err := clone.At(store)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := place.Recent()
	if err != nil {
		t.Fatal(err)
	}
	c.edits = len(journal.Records)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e struct{ Event, Sid string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Event == "start" && !strings.Contains(e.Sid, "/") { // otherwise git started it
			c.gits++
		}
	}
	return c
}

// passes runs a loop for n passes.
func passes(tb testing.TB, a *workspace.Run, script string, n int) {
	tb.Helper()
	done, err := loop.Work(tb.Context(), a, loop.Request{
		Command: []string{"sh", "-c", script}, UntilEmpty: true, Attempts: 2, Cap: time.Hour, NoClose: true,
		Bounds: loop.Bounds{Runs: n}, RunTimeout: time.Hour,
	})
	if err != nil || len(done.Runs) != n {
		tb.Fatal(err, done)
	}
}

// bytesRead returns how many bytes this process has read; 0 if the system does not say.
func bytesRead(tb testing.TB) (n int64) {
	tb.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscanf(string(text), "rchar: %d", &n); err != nil {
		tb.Fatal(err)
	}
	return n
}

type cost struct{ own, children, wall time.Duration }

func (c cost) minus(o cost) cost {
	return cost{c.own - o.own, c.children - o.children, c.wall - o.wall}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

var start = time.Now()

func spent() cost {
	return cost{used(syscall.RUSAGE_SELF), used(syscall.RUSAGE_CHILDREN), time.Since(start)}
}

func used(who int) time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(who, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// sampled creates a repository with a committed store of n issues.
func sampled(tb testing.TB, issues int) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	var text bytes.Buffer
	if err := sample.Write(&text, issues, 1); err != nil {
		tb.Fatal(err)
	}
	store := filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(store), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(store, text.Bytes(), 0o644); err != nil {
		tb.Fatal(err)
	}
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=m", "-c", "user.email=m@pier", "commit", "-qm", "begin"}} {
		cmd := exec.Command("git", argv...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatal(err, string(out))
		}
	}
	return dir
}

// sampleApp returns a run in a sampled repository.
func sampleApp(tb testing.TB, dir, home string) *workspace.Run {
	at := func() (string, error) { return home, nil }
	vars := map[string]string{"STIG_ACTOR": "bo", "STIG_TRUST": "1", "PATH": os.Getenv("PATH"), "HOME": home}
	return &workspace.Run{
		Getenv: func(name string) string { return vars[name] }, Env: os.Environ, HomeDir: at, ConfigDir: at,
		Now: time.Now, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { tb.Log(text) },
		Ctx: tb.Context(), Running: "test", Dir: dir,
	}
}
