//go:build e2e

package load_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/cue"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/testkit/load"
	"stig/internal/testkit/sample"
	"stig/internal/testkit/servers"
	"stig/signals"
)

var (
	workers = flag.String("load-workers", "1,4", "how many workers TestRates has, with commas")
	issues  = flag.String("load-issues", "160", "of how many issues its stores are, with commas")
	kinds   = flag.String("load-kinds", "file,mariadb,dolt", "what keeps them")
	span    = flag.Duration("load-time", time.Second, "how long each run of TestRates lasts")
	program = flag.String("stig", "", "the stig whose commands TestRates measures too")
)

const (
	poolSize = 200
	prefix   = "fleet" // of the ids of package sample
	machines = 8       // each worker on a server has one of these, with its own home and clone
)

// TestRates has workers claim issues, checkpoint twice, comment and release them, on a file and
// on servers, in one process and, if -stig names a program, by commands. It prints tables for
// docs/measurements.md and does not check times. In the end each acknowledged write is in the
// store, and nobody held an issue while another did.
func TestRates(t *testing.T) {
	for size := range strings.SplitSeq(*issues, ",") {
		for kind := range strings.SplitSeq(*kinds, ",") {
			t.Run(size+"/"+kind, func(t *testing.T) {
				n, err := strconv.Atoi(size)
				if err != nil {
					t.Fatal(err)
				}
				var text bytes.Buffer
				if err := sample.Write(&text, n, 1); err != nil {
					t.Fatal(err)
				}
				testRates(t, kind, append(text.Bytes(), load.Pool(prefix, 2*poolSize*len(strings.Split(*workers, ",")))...))
			})
		}
	}
}

func testRates(t *testing.T, kind string, text []byte) {
	var s *servers.Server
	if kind != file {
		s = durable(t, kind)
	}
	w := where{Path: filepath.Join(t.TempDir(), ".beads", "issues.jsonl")}
	if s != nil {
		w = where{Config: s.Database("rates")}
	}
	began := time.Now()
	if err := w.fill(text, prefix); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d MB filled in %s", kind, len(text)/1e6, time.Since(began).Round(time.Millisecond))
	var byCommands func(worker int, op, issue, text string) error
	if *program != "" {
		byCommands = commands(t, w)
	}
	first := 0
	for count := range strings.SplitSeq(*workers, ",") {
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range []string{"process", "commands"} {
			if by == "commands" && *program == "" {
				continue
			}
			r := newRates(w, n)
			r.first = first // each run has its own pool
			first += poolSize
			if by == "commands" {
				r.do = byCommands
			} else {
				r.inProcess()
			}
			r.run()
			t.Log("\n" + r.row(t, kind, by))
		}
	}
}

// rates is one run.
type rates struct {
	where   where
	workers int
	first   int // of the pool of the run
	do      func(worker int, op, issue, text string) error
	ended   func()
	began   time.Time

	mu      sync.Mutex
	events  []load.Event
	figures map[string]*load.Figures
	faults  []string
}

func newRates(w where, workers int) *rates {
	r := &rates{where: w, workers: workers, ended: func() {}}
	r.begin()
	return r
}

func (r *rates) begin() {
	r.began, r.figures, r.events = time.Now(), map[string]*load.Figures{}, nil
	for _, op := range operations {
		r.figures[op] = &load.Figures{}
	}
}

// inProcess runs all workers on one store.
func (r *rates) inProcess() {
	store := r.where.open()
	r.ended = func() { closeStore(store) }
	rules := checkpoint.Rules{Schema: cue.Embedded()}
	r.do = func(worker int, op, issue, text string) error {
		return operate(store, rules, actor(worker), op, issue, text)
	}
}

var operations = []string{load.Claim, load.Checkpoint, load.Comment, load.Release}

func actor(worker int) string { return fmt.Sprintf("worker-%d", worker) }

// operate performs one operation in this process.
func operate(s beads.Store, rules checkpoint.Rules, who, op, issue, text string) (err error) {
	o := beads.Options{Now: time.Now()}
	rules.Now = o.Now
	ctx := context.Background()
	switch op {
	case load.Claim:
		_, err = checkpoint.Claim(ctx, s, o, issue, checkpoint.Claiming{Who: who})
	case load.Checkpoint:
		_, err = checkpoint.Write(ctx, s, o, issue, checkpoint.Update{Estimate: signals.Estimate{Done: text, Remains: "the rest"}}, rules)
	case load.Comment:
		_, err = checkpoint.Comment(ctx, s, o, issue, who, text)
	case load.Release:
		_, err = checkpoint.Release(ctx, s, o, issue, who, nil)
	}
	return err
}

// isConflict reports whether an operation was refused because another worker held the issue, or
// kept writing.
func isConflict(err error) bool {
	exit, ended := errors.AsType[*exec.ExitError](err)
	return fault.Is(err, fault.Conflict) || fault.Is(err, fault.Changed) || ended && exit.ExitCode() == 5
}

// commands runs stig for each operation, on several machines.
func commands(t *testing.T, w where) func(worker int, op, issue, text string) error {
	dirs := make([]string, machines)
	for m := range dirs {
		if dirs[m] = t.TempDir(); w.Path != "" {
			dirs[m] = filepath.Dir(filepath.Dir(w.Path)) // a file is on one machine
		} else if err := name(dirs[m], w); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("git", "init", "-q", dirs[m]).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return func(worker int, op, issue, text string) error {
		args := []string{op, issue, "--actor", actor(worker)}
		switch op {
		case load.Checkpoint:
			args = append(args, "--done", text, "--remains", "the rest")
		case load.Comment:
			args = append(args, "-m", text)
		}
		dir := dirs[worker%machines]
		c := exec.Command(*program, args...)
		c.Dir = dir
		c.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
		out, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		return nil
	}
}

// name configures a directory to use a store on a server.
func name(dir string, w where) error {
	path := filepath.Join(dir, ".beads", "stig.json")
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, fmt.Appendf(nil, "{\"store\": %q}\n", w.Config.URL()), 0o644))
}

// run runs the workers for a while.
func (r *rates) run() {
	var group sync.WaitGroup
	for m := range min(machines, r.workers) { // each downloads the store
		group.Go(func() {
			issue := load.PoolID(prefix, r.first+m)
			_, _ = r.try(m, load.Claim, issue, ""), r.try(m, load.Release, issue, "")
		})
	}
	group.Wait()
	r.begin()
	for w := range r.workers {
		group.Go(func() { r.work(w) })
	}
	group.Wait()
	elapsed := time.Since(r.began)
	for _, f := range r.figures {
		f.Elapsed = elapsed
	}
	r.ended()
}

// work is one worker, until the time is over. It releases its issue at the end.
func (r *rates) work(worker int) {
	random := rand.New(rand.NewPCG(1, uint64(worker)))
	for n := 0; !r.over(); n++ {
		issue := load.PoolID(prefix, r.first+random.IntN(poolSize))
		if !r.try(worker, load.Claim, issue, "") {
			continue
		}
		for k := 0; k < 2 && !r.over(); k++ {
			r.try(worker, load.Checkpoint, issue, fmt.Sprintf("stone %d.%d.%d.", worker, n, k))
		}
		if !r.over() {
			r.try(worker, load.Comment, issue, fmt.Sprintf("comment %d.%d", worker, n))
		}
		r.try(worker, load.Release, issue, "")
	}
}

func (r *rates) over() bool { return time.Since(r.began) >= *span }

// try performs one operation, and reports whether it was acknowledged.
func (r *rates) try(worker int, op, issue, text string) bool {
	begin := time.Since(r.began)
	err := r.do(worker, op, issue, text)
	end := time.Since(r.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.figures[op].Add(end - begin)
		r.events = append(r.events, load.Event{Worker: worker, Op: op, Issue: issue, Text: text, Begin: begin, End: end})
	case isConflict(err):
		r.figures[op].Conflicts++
	case len(r.faults) < 20:
		r.faults = append(r.faults, fmt.Sprintf("%s %s by %s: %v", op, issue, actor(worker), err))
	}
	return err == nil
}

// row returns a row of the table, after comparing the store with what was acknowledged.
func (r *rates) row(t *testing.T, kind, by string) string {
	text, err := r.where.text()
	if err != nil {
		t.Fatal(err)
	}
	lost := load.JudgeClaims(text, r.events, actor)
	for i, fault := range append(lost, r.faults...) {
		if i < 20 {
			t.Error(fault)
		}
	}
	return fmt.Sprintf("| %d | %s | %s | %s | %s | %d |\n", r.workers, by, kind,
		r.figures[load.Claim].Row(), r.figures[load.Checkpoint].Row(), len(lost))
}
