//go:build unix

package working_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"stig/app"
	"stig/app/working"
	"stig/cue"
	"stig/internal/sample"
	"stig/work"
)

// BenchmarkPass measures what a pass costs around a command of no work, with git: the
// processor time of the loop, that of the programs which it starts, and the time on the
// clock. A loop does one run, another one 5 more; the difference counts, of the
// cheapest of each.
func BenchmarkPass(b *testing.B) {
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

// TestPassReads holds a pass to so many readings of the whole store and to so many starts
// of git; what a reading is, TestBytesRead of the command line says. Without a change of
// the store by others a pass reads no more than its two edits do, each of which copies the
// store, compares it twice and sums up a part, and the notes of what is ready.
func TestPassReads(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux counts the bytes that a process reads")
	}
	for _, c := range []struct {
		name, script string
		runs         int
		readings     float64
		gits         int
	}{
		{"silent", "true", 2, 9.9, 7},
		{"advanced", "echo x >>work.txt", 3, 9.9, 15},
	} {
		readings, gits := countPass(t, c.script, c.runs)
		for range 3 { // what was changed just before it is read, is summed up once more
			if readings > c.readings {
				again, _ := countPass(t, c.script, c.runs)
				readings = min(readings, again)
			}
		}
		if readings > c.readings || gits > c.gits {
			t.Errorf("%s: a pass read the store %.2f times, want %.2f at most; it started git %d times, want %d at most", c.name, readings, c.readings, gits, c.gits)
		}
	}
}

// countPass gives how often a pass reads the store, and starts git: what so many runs take
// more than one.
func countPass(t *testing.T, script string, runs int) (readings float64, gits int) {
	t.Helper()
	for _, n := range []int{1, runs} {
		dir, log := sampled(t, 1500), filepath.Join(t.TempDir(), "git")
		a := sampleApp(t, dir, t.TempDir())
		a.Env = func() []string { return append(os.Environ(), "GIT_TRACE2_EVENT="+log) }
		before := bytesRead(t)
		passes(t, a, script, n)
		readings = float64(bytesRead(t)-before)/float64(storeSize(t, dir)) - readings
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		gits = -gits
		for line := range strings.Lines(string(text)) {
			var e struct{ Event, Sid string }
			if json.Unmarshal([]byte(line), &e) == nil && e.Event == "start" && !strings.Contains(e.Sid, "/") { // else git started it
				gits++
			}
		}
	}
	return readings / float64(runs-1), gits / (runs - 1)
}

func storeSize(tb testing.TB, dir string) int64 {
	tb.Helper()
	info, err := os.Stat(filepath.Join(dir, ".beads", "issues.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	return info.Size()
}

// passes has a loop do so many runs.
func passes(tb testing.TB, a *app.App, script string, n int) {
	tb.Helper()
	done, err := working.Work(tb.Context(), a, working.Request{
		Command: []string{"sh", "-c", script}, UntilEmpty: true, Attempts: 2, Cap: time.Hour, NoClose: true,
		Bounds: work.Bounds{Runs: n}, RunTimeout: time.Hour,
	})
	if err != nil || len(done.Runs) != n {
		tb.Fatal(err, done)
	}
}

// bytesRead is how much this process has read so far.
func bytesRead(tb testing.TB) (n int64) {
	tb.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		tb.Fatal(err)
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

// sampled is a repository with a store of so many issues, committed.
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

// sampleApp is a run in a sampled repository.
func sampleApp(tb testing.TB, dir, home string) *app.App {
	at := func() (string, error) { return home, nil }
	vars := map[string]string{"STIG_ACTOR": "bo", "STIG_TRUST": "1", "PATH": os.Getenv("PATH"), "HOME": home}
	return &app.App{
		Getenv: func(name string) string { return vars[name] }, Env: os.Environ, HomeDir: at, ConfigDir: at,
		Now: time.Now, Schema: cue.Embedded(), Say: func(_ app.Level, text string) { tb.Log(text) },
		Ctx: tb.Context(), Running: "test", Dir: dir,
	}
}
