//go:build e2e && unix

package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"stig/internal/testkit/overnight"
)

var (
	nightSize = flag.String("overnight", littleNight, "how many epics, and issues of each, TestOvernight has worked on")
	nightSeed = flag.Uint64("overnight-seed", 1, "what is random in TestOvernight")
	nightKeep = flag.String("overnight-keep", "", "a directory that keeps what the loops and workers of TestOvernight said")
)

// TestOvernight is a night of workers: loops of stig work on one store of issues that depend on
// each other, with scripted workers that do it right, do half, break the build, ask a person,
// hang, do nothing, or fail. In 30 % of the runs the loop, the worker, or both are killed at
// random. The clock jumps, the disk is full for a while, and one loop starts on an old copy of
// the store. A scripted person answers. In the morning overnight.Judge compares stig's output
// with the workers' own records, and with the criteria run again on the merged branch. just
// overnight runs 30 epics of 10 issues.
func TestOvernight(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	n.begin(t)
	n.work()
	morning := n.morning(t)
	for _, problem := range append(n.faults, overnight.Judge(morning)...) {
		t.Error(problem)
	}
	t.Log("\n" + n.table(morning))
	if t.Failed() {
		t.Log("what the loops said:\n" + n.said())
	}
	n.proves(t, morning)
}

// keep saves the output of the loops and workers for later inspection.
func (n *night) keep(t *testing.T) {
	if *nightKeep == "" {
		return
	}
	if err := n.must(n.dir, "cp", "-R", ".", filepath.Join(n.clone, ".git", "stig"), filepath.Join(n.clone, ".beads"), *nightKeep); err != nil {
		t.Error(err)
	}
}

// night is one run of TestOvernight.
type night struct {
	project overnight.Project
	dir     string // of the test's own files
	disk    string // a small file system, or a directory, with the clone, the home and the state
	mounted bool
	clone   string
	always  string // the temper of all workers; "" if each has its own
	late    string // work tree with an old copy of the store; on a server the clone
	server  *nightServer

	stashed, configured string // before the night: the commit of the person's stash, and the clone's configuration

	loops []*nightLoop
	rests int // polls at which all loops rested
	began time.Time

	mu                      sync.Mutex
	ahead                   time.Duration // how far stig's clock is ahead of the machine's
	killed                  map[string]int
	answered, steps, filled int
	exits                   map[int]int
	faults                  []string
	quiet                   bool // loops that end are not restarted
	rolled                  int  // starts for which dice were thrown
	merged                  bool
	did                     map[string]bool // what once has done
	full                    atomic.Bool     // the disk
	held                    atomic.Bool     // loops that end are restarted later
}

// The sizes of a night.
const (
	littleNight    = "1x4"
	mostNightLoops = 10
	nightLease     = 10 * time.Minute
	nightTimeout   = 2 * time.Second // of a run
	nightKills     = 30              // per hundred runs
	nightMost      = 100 * time.Minute
)

func newNight(t *testing.T) *night {
	n := &night{dir: t.TempDir(), killed: map[string]int{}, exits: map[int]int{}, did: map[string]bool{}, began: time.Now()}
	n.project.Seed, n.project.Green = *nightSeed, true
	if _, err := fmt.Sscanf(*nightSize, "%dx%d", &n.project.Epics, &n.project.Each); err != nil {
		t.Fatalf("-overnight %s: %v", *nightSize, err)
	}
	n.disk, n.mounted = nightDisk(t)
	n.clone, n.late = filepath.Join(n.disk, "clone"), filepath.Join(n.disk, "late")
	if n.server = newNightServer(t, n.project); n.server != nil {
		n.late = n.clone
	}
	return n
}

// begin creates the clone, the old copy of its store, and the loops.
func (n *night) begin(t *testing.T) {
	var err error
	files := n.project.Files()
	if n.server != nil {
		delete(files, ".beads/issues.jsonl")
		files[".gitignore"] = ".beads/\n"
	}
	for path, text := range files {
		path = filepath.Join(n.clone, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	for _, dir := range []string{"home", "tmp"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(n.disk, dir), 0o755))
	}
	err = errors.Join(err, n.setAhead(0))
	steps := [][]string{{"git", "init", "-q", "-b", "main"}, {"git", "add", "."}, {"git", "commit", "-qm", "Begin"}}
	if n.server != nil {
		err = errors.Join(err, nameStore(n.clone, n.server.config))
	} else {
		steps = append(steps, []string{"git", "worktree", "add", "-q", "-b", "late", n.late}, []string{"stig", "setup", "git"})
	}
	for _, args := range append(steps, []string{"stig", "trust"}) {
		err = errors.Join(err, n.must(n.clone, args...))
	}
	if err = errors.Join(err, n.must(n.late, "stig", "trust"), n.stash()); err != nil {
		t.Fatal(err)
	}
	n.makeLoops(t, min(mostNightLoops, max(2, n.project.Epics*n.project.Each/4)))
	t.Cleanup(n.end)
	t.Cleanup(func() { n.keep(t) })
}

// makeLoops creates the loops; on a server each has a machine of its own.
func (n *night) makeLoops(t *testing.T, count int) {
	own := make([]nightMachine, count)
	for i := range own {
		own[i] = nightMachine{dir: n.clone, home: filepath.Join(n.disk, "home")}
	}
	own[count-1].dir = n.late
	if n.server != nil {
		own = n.machines(t, count)
	}
	for i := range count {
		n.loops = append(n.loops, &nightLoop{night: n, name: fmt.Sprintf("worker-%d", i+1), nightMachine: own[i], byShell: i%2 == 0})
	}
}

// command returns a program of the night, with stig's clock.
func (n *night) command(dir string, args ...string) *exec.Cmd {
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	c.Env = append([]string{"HOME=" + filepath.Join(n.disk, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(n.disk, "tmp"),
		"GOCOVERDIR=" + n.dir, "STIG_ACTOR=ines", clockFile + "=" + filepath.Join(n.dir, "clock"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=mara", "GIT_AUTHOR_EMAIL=mara@harbor.example",
		"GIT_COMMITTER_NAME=mara", "GIT_COMMITTER_EMAIL=mara@harbor.example"}, forGit...)
	if n.server != nil {
		c.Env = append(c.Env, nightURL+"="+*nightStore)
	}
	return c
}

// says runs a program and returns its output and exit code.
func (n *night) says(dir string, args ...string) (string, int, error) {
	c := n.command(dir, args...)
	out, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode(), nil
	}
	return string(out), 0, err
}

func (n *night) must(dir string, args ...string) error {
	out, code, err := n.says(dir, args...)
	if err == nil && code != 0 {
		err = fmt.Errorf("%s: exit %d: %s", strings.Join(args, " "), code, out)
	}
	return err
}

// setAhead moves stig's clock forward. It replaces the file atomically.
func (n *night) setAhead(d time.Duration) error {
	n.ahead = d
	path := filepath.Join(n.dir, "clock")
	err := os.WriteFile(path+".new", []byte(d.String()), 0o644)
	return errors.Join(err, os.Rename(path+".new", path))
}

func (n *night) fault(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.faults) < 20 {
		n.faults = append(n.faults, fmt.Sprintf(format, args...))
	}
}

// nightLoop is a stig work process that is restarted whenever it ends.
type nightLoop struct {
	*night
	nightMachine
	name    string
	byShell bool

	mu           sync.Mutex
	running      *exec.Cmd
	used, usedBy int // processor ticks at the last poll, and the process that used them
}

// arguments returns the loop's arguments; more limits it. Every other loop runs its worker
// through a shell, as many programs do: such a worker outlives the process that the loop
// started.
func (l *nightLoop) arguments(more ...string) []string {
	args := append([]string{"stig", "work", "--actor", l.name, "--max-runs", "100000", "--max-time", "1000h",
		"--run-timeout", nightTimeout.String(), "--attempts", "2"}, more...)
	if args = append(args, "--"); l.byShell {
		args = append(args, "sh", "-c", `"$@"; exit $?`, "sh")
	}
	return append(args, "night-worker", l.night.dir, fmt.Sprint(l.project.Seed), l.always)
}

// start starts the loop.
func (l *nightLoop) start(more ...string) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(l.night.dir, "said-"+l.name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.command(l.nightMachine.dir, append(slices.Clip(l.inside), l.arguments(more...)...)...)
	c.Env = append(c.Env, "HOME="+l.home)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return nil, err
	}
	l.running = c
	return c, nil
}

// keep restarts the loop again and again.
func (l *nightLoop) keep() {
	for !l.isQuiet() {
		if l.held.Load() {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		c, err := l.start()
		if err != nil {
			l.fault("%s: %v", l.name, err)
			return
		}
		_ = c.Wait() // the exit code says how it ended
		l.ended(c.ProcessState.ExitCode())
		if time.Sleep(100 * time.Millisecond); c.ProcessState.ExitCode() < 0 && !l.isQuiet() {
			time.Sleep(rand.N(4 * time.Second)) // others may find first what it left
		}
	}
}

// ended counts an exit code. A loop ends because of a limit or because nothing is left (0),
// after two silent runs (1), with only questions left (6), interrupted, or killed.
func (l *nightLoop) ended(code int) {
	l.night.mu.Lock()
	defer l.night.mu.Unlock()
	l.exits[code]++
}

func (l *nightLoop) signal(s os.Signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running != nil {
		_ = l.running.Process.Signal(s) // it may be gone
	}
}

func (n *night) isQuiet() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.quiet
}

// said returns the end of each loop's output.
func (n *night) said() string {
	var all strings.Builder
	for _, l := range n.loops {
		text, _ := os.ReadFile(filepath.Join(n.dir, "said-"+l.name))
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&all, "== %s\n%s\n", l.name, strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
	return all.String()
}

func (n *night) table(m overnight.Night) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(w, "%s\t%v\n", name, value) }
	outcomes := map[string]int{}
	for _, r := range m.Runs {
		outcomes[r.Outcome]++
	}
	states, asked := map[string]int{}, 0
	for _, i := range m.After {
		states[i.Status]++
		if overnight.Asked(i.Notes) {
			asked++
		}
	}
	row("seconds", int(time.Since(n.began).Seconds()))
	row("by the clock of stig", (time.Since(n.began) + n.ahead).Round(time.Second))
	row("issues", fmt.Sprintf("%d in %d epics, %v in the morning", n.project.Epics*n.project.Each, n.project.Epics, states))
	row("loops", len(n.loops))
	row("runs", fmt.Sprintf("%d: %v", len(m.Runs), outcomes))
	row("killed", fmt.Sprint(n.killed))
	row("exit codes of loops", fmt.Sprint(n.exits))
	row("questions answered, and still waiting", fmt.Sprintf("%d, %d", n.answered, asked))
	row("the clock was put forward", n.steps)
	row("the disk was full", fmt.Sprintf("%d times (a file system of its own: %v)", n.filled, n.mounted))
	row("the old copy of the store was merged", n.merged)
	row("closed, and repeated on the merged branch", len(m.Repeated))
	row("edits in stig log", len(m.Log))
	if err := w.Flush(); err != nil {
		return err.Error()
	}
	return text.String()
}

// proves fails the test if too little happened in the night.
func (n *night) proves(t *testing.T, m overnight.Night) {
	all := n.project.Epics * n.project.Each
	if len(m.Repeated) < all/2 || len(m.Runs) < all {
		t.Errorf("so little happened that nothing is proved: %d of %d issues closed by %d runs", len(m.Repeated), all, len(m.Runs))
	}
	if kills := n.killed["loop"] + n.killed["worker"] + n.killed["both"]; all >= 15 && (kills == 0 || n.answered == 0 || n.filled == 0 || !n.merged) {
		t.Errorf("so little happened that nothing is proved: %d kills, %d answers, disk full %d times, old copy merged: %v", kills, n.answered, n.filled, n.merged)
	}
}
