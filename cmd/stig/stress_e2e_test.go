//go:build e2e

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

var (
	stressTime    = flag.Duration("stress", 400*time.Millisecond, "how long TestStress writes and kills")
	stressProgram = flag.String("stig", "stig", "the stig that TestStress runs")
)

// The minimum rates per second for the run to mean anything.
const (
	stressWritesPerSecond = 5
	stressKillsPerSecond  = 1
	stressTracesPerSecond = 2
)

// TestStress lets real processes write one store at once, kills many of them at random moments
// with SIGKILL, reads all the time, and in the end replays what each writer had acknowledged.
// just stress runs it for a minute.
func TestStress(t *testing.T) {
	t.Parallel()
	r, err := newStressRun(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r.run()
	if err := r.judge(); err != nil {
		r.fault("%v", err)
	}
	t.Log("\n" + r.table())
	for _, fault := range r.faults {
		t.Error(fault)
	}
	if r.acknowledged < leastOf(stressWritesPerSecond) || r.killed < leastOf(stressKillsPerSecond) || min(r.reads, r.checks) == 0 {
		t.Error("so little happened that nothing is proved")
	}
}

// leastOf returns how much must happen during stressTime.
func leastOf(perSecond float64) int { return int(math.Ceil(stressTime.Seconds() * perSecond)) }

// stressed waits until stressTime is over and enough happened. If processes start slowly it
// waits longer, at most ten times as long.
func stressed(enough func() bool) {
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if took := time.Since(start); took >= 10**stressTime || took >= *stressTime && enough() {
			return
		}
	}
}

// stressRun is one run and its counts.
type stressRun struct {
	dir, store string
	checker    *stressChecker
	stop       chan struct{}
	elapsed    time.Duration

	mu                    sync.Mutex
	killed, reads, checks int
	torn, foreign         int
	slowestRead           time.Duration
	faults                []string

	acknowledged, refused, unsettled, lost int
	slowest                                time.Duration
	leftovers                              int
}

func newStressRun(dir string) (*stressRun, error) {
	r := &stressRun{dir: dir, store: filepath.Join(dir, ".beads", "issues.jsonl"), stop: make(chan struct{})}
	data := stressStore()
	var err error
	if r.checker, err = newStressChecker(data); err != nil {
		return nil, err
	}
	return r, errors.Join(os.Mkdir(filepath.Dir(r.store), 0o755), os.WriteFile(r.store, data, 0o644))
}

func (r *stressRun) run() {
	start := time.Now()
	var busy sync.WaitGroup
	for writer := range stressWriters {
		if writer < stressCommands {
			busy.Go(func() { r.repeat(func(n int) error { return r.command(writer, n) }) })
		} else {
			busy.Go(func() { r.repeat(func(int) error { return r.process(writer) }) })
		}
	}
	seen := snapshot{}
	busy.Go(func() { r.repeat(func(int) error { return r.readBytes(&seen) }) })
	busy.Go(func() { r.repeat(func(int) error { return r.readStore() }) })
	busy.Go(func() { r.repeat(func(n int) error { return r.readCommand(n) }) })
	stressed(r.wroteEnough)
	close(r.stop)
	busy.Wait()
	r.elapsed = time.Since(start)
}

// wroteEnough reports whether the logs of the writers have enough completed writes.
func (r *stressRun) wroteEnough() bool {
	made := 0
	for writer := range stressWriters {
		log, _ := os.ReadFile(r.log(writer)) // a missing log has none yet
		made += bytes.Count(log, []byte("\ndone "))
	}
	return made >= leastOf(stressWritesPerSecond)
}

// repeat calls a function, with 1, 2 and so on, until the run ends or it fails.
func (r *stressRun) repeat(do func(n int) error) {
	for n := 1; ; n++ {
		select {
		case <-r.stop:
			return
		default:
		}
		if err := do(n); err != nil {
			r.fault("%v", err)
			return
		}
	}
}

func (r *stressRun) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.faults) < 20 {
		r.faults = append(r.faults, fmt.Sprintf(format, args...))
	}
}

func (r *stressRun) log(writer int) string {
	return filepath.Join(r.dir, fmt.Sprintf("log-%d", writer))
}

func (r *stressRun) stig(args ...string) *exec.Cmd {
	c := exec.Command(*stressProgram, args...)
	c.Dir = r.dir
	c.Env = []string{"HOME=" + r.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GOCOVERDIR=" + r.dir}
	return c
}

// command makes one write with stig. One in three is killed on the way, if it is still running.
func (r *stressRun) command(writer, n int) error {
	log, err := openStressLog(r.log(writer))
	if err != nil {
		return err
	}
	defer log.file.Close()
	if err := log.say("intent %s %d", stressTarget(writer, n), n); err != nil {
		return err
	}
	c := r.stig(stressArgs(writer, n)...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	start := time.Now()
	if err := c.Start(); err != nil {
		return err
	}
	if rand.IntN(3) == 0 {
		late := time.AfterFunc(rand.N(250*time.Millisecond), func() { _ = c.Process.Kill() }) // it may be gone
		defer late.Stop()
	}
	switch err := c.Wait(); {
	case err == nil:
		return log.say("done %d %d", n, time.Since(start).Microseconds())
	case c.ProcessState.ExitCode() == workspace.ExitConflict:
		return log.say("refused %d", n)
	case c.ProcessState.ExitCode() < 0:
		r.countKill()
		return nil
	default:
		return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, said.Bytes())
	}
}

// process runs a short-lived process that writes in a loop.
func (r *stressRun) process(writer int) error {
	c := exec.Command("stress-writer", r.store, r.log(writer), strconv.Itoa(writer))
	var said bytes.Buffer
	c.Stderr = &said
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	defer in.Close()
	if err := c.Start(); err != nil {
		return err
	}
	select {
	case <-time.After(50*time.Millisecond + rand.N(time.Second)):
	case <-r.stop:
	}
	_ = c.Process.Kill() // once it is gone, Wait says why
	if err := c.Wait(); c.ProcessState.ExitCode() >= 0 {
		return fmt.Errorf("writer %d ended by itself: %v: %s", writer, err, said.Bytes())
	}
	r.countKill()
	return nil
}

func (r *stressRun) countKill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed++
}

// readBytes reads the store as any program would, and checks that it is whole and that no value
// goes back to an earlier one.
func (r *stressRun) readBytes(seen *snapshot) error {
	data, err := os.ReadFile(r.store)
	if err != nil {
		return err
	}
	now, err := r.checker.read(data)
	if err != nil {
		r.countTorn()
		return fmt.Errorf("read a torn store: %w", err)
	}
	if n := r.checker.foreign(now); n > 0 {
		r.mu.Lock()
		r.foreign = max(r.foreign, n)
		r.mu.Unlock()
		return fmt.Errorf("%d bytes changed that nobody asked to change", n)
	}
	if now.tally < seen.tally {
		return fmt.Errorf("the tally fell from %d to %d", seen.tally, now.tally)
	}
	for key, value := range seen.values {
		if was, is := stressOrder(key.writer, value), stressOrder(key.writer, now.values[key]); is < was {
			return fmt.Errorf("%s: %s fell from %s to %s", key.issue, stressWriters[key.writer], value, now.values[key])
		}
	}
	*seen = now
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks++
	return nil
}

// stressOrder returns a number that increases with a writer's values.
func stressOrder(writer int, value string) float64 {
	if stressWriters[writer] == "confidence" {
		return 0 // its values repeat
	}
	n, _ := strconv.ParseFloat(strings.ReplaceAll(value, "-", ""), 64)
	return n
}

// readStore reads the store as stig does, which must not wait for a lock.
func (r *stressRun) readStore() error {
	start := time.Now()
	f, err := jsonl.Read(beads.Place{Path: r.store, Dir: filepath.Dir(r.store)})
	if err != nil {
		return err
	}
	defer f.Close()
	took := time.Since(start)
	if want := len(stressWriters)*2 + 4; f.Len() != want || len(f.Problems()) > 0 {
		r.countTorn()
		return fmt.Errorf("read %d issues, want %d; problems %v", f.Len(), want, f.Problems())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	r.slowestRead = max(r.slowestRead, took)
	return nil
}

func (r *stressRun) countTorn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.torn++
}

// readCommand runs commands that read.
func (r *stressRun) readCommand(n int) error {
	args := [][]string{{"vet"}, {"show", stressShared, "--notes"}, {"signals", "get", stressShared}}[n%3]
	if said, err := r.stig(args...).CombinedOutput(); err != nil {
		r.countTorn()
		return fmt.Errorf("stig %s: %w: %s", strings.Join(args, " "), err, said)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	return nil
}

// judge compares the logs with the store as the last kill left it, and checks that one more
// writer cleans up.
func (r *stressRun) judge() error {
	data, err := os.ReadFile(r.store)
	if err != nil {
		return err
	}
	now, err := r.checker.read(data)
	if err != nil {
		r.torn++
		return err
	}
	if r.foreign = max(r.foreign, r.checker.foreign(now)); r.foreign > 0 {
		r.fault("%d bytes changed that nobody asked to change", r.foreign)
	}
	least, most := 0, 0
	for writer := range stressWriters {
		replayed, err := replay(writer, r.log(writer))
		if err != nil {
			return err
		}
		r.acknowledged += replayed.acknowledged
		r.refused += replayed.refused
		r.unsettled += replayed.unsettled
		r.slowest = max(r.slowest, replayed.slowest)
		for key, may := range replayed.may {
			if !slices.Contains(may, now.values[key]) {
				r.lost++
				r.fault("%s: %s holds %s; acknowledged or under way were %v", key.issue, stressWriters[writer], now.values[key], may)
			}
		}
		if writer >= stressCommands {
			least += replayed.acknowledged
			most += replayed.acknowledged + replayed.unsettled
		}
	}
	if now.tally < least || now.tally > most {
		r.lost++
		r.fault("the tally is %d; %d edits were acknowledged and %d begun", now.tally, least, most)
	}
	return r.clearUp(data)
}

// clearUp runs one more writer, which changes nothing.
func (r *stressRun) clearUp(before []byte) error {
	var err error
	if r.leftovers, err = r.temporary(); err != nil {
		return err
	}
	const same = "planning-depth=standard"
	if said, err := r.stig("signals", "set", stressShared, same).CombinedOutput(); err != nil {
		return fmt.Errorf("the next writer: %w: %s", err, said)
	}
	left, err := r.temporary()
	if err != nil || left > 0 {
		return fmt.Errorf("the next writer left %d temporary files of dead ones (%v)", left, err)
	}
	after, err := os.ReadFile(r.store)
	if err == nil && !bytes.Equal(before, after) {
		err = errors.New("the next writer changed what it was not asked to")
	}
	return err
}

// temporary counts the temporary files beside the store.
func (r *stressRun) temporary() (n int, err error) {
	entries, err := os.ReadDir(filepath.Dir(r.store))
	for _, e := range entries {
		if e.Name() != filepath.Base(r.store) && e.Name() != ".jsonl.lock" && e.Name() != ".stig" {
			n++
		}
	}
	return n, err
}

func (r *stressRun) table() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(w, "%s\t%v\n", name, value) }
	row("seconds", int(r.elapsed.Seconds()))
	row("writers", fmt.Sprintf("%d running stig, %d calling jsonl.Store.Edit", stressCommands, len(stressWriters)-stressCommands))
	row("writes acknowledged", r.acknowledged)
	row("writers killed", r.killed)
	row("writes cut off by a kill", r.unsettled)
	row("writes refused, lock held too long", r.refused)
	row("longest wait for a write", r.slowest.Round(time.Millisecond))
	row("reads", fmt.Sprintf("%d, and %d checked byte by byte", r.reads, r.checks))
	row("longest read of the store", r.slowestRead.Round(time.Millisecond))
	row("temporary files left by the last kill", fmt.Sprintf("%d, none after the next write", r.leftovers))
	row("lost", r.lost)
	row("torn", r.torn)
	row("foreign bytes changed", r.foreign)
	if err := w.Flush(); err != nil {
		return err.Error()
	}
	return text.String()
}
