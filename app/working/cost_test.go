//go:build unix

package working_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
				dir := sampled(b, size)
				runs, least := 2, [2]cost{}
				if c.name == "advanced" {
					runs = 6
				}
				for b.Loop() {
					for k, n := range []int{1, runs} {
						a := sampleApp(b, dir, b.TempDir())
						_ = os.RemoveAll(filepath.Join(dir, ".git", "stig"))
						before := spent()
						done, err := working.Work(b.Context(), a, working.Request{
							Command: []string{"sh", "-c", c.script}, UntilEmpty: true, Attempts: 2, Cap: time.Hour, NoClose: true,
							Bounds: work.Bounds{Runs: n}, RunTimeout: time.Hour,
						})
						used := spent().minus(before)
						if err != nil || len(done.Runs) != n {
							b.Fatal(err, done)
						}
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
