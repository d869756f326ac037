//go:build e2e

package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"stig/internal/testkit/load"
	"stig/internal/testkit/servers"
)

var (
	writes = flag.Int("load-writes", 300, "how many writes TestKilled and TestCut make")
	loud   = flag.Bool("load-loud", false, "print what writers were answered")
)

// job is the work of a process of writers; it is passed in the process's environment.
type job struct {
	Where    where
	Plan     load.Plan
	From, To int // its writers
	Most     int // edits of each
	Logs     string
	Inside   []string // command prefix of a wire; nil for this namespace
	Ask      bool     // makes one edit and prints its error
}

const jobVariable = "STIG_LOAD_JOB"

// TestMain is also the process that writes.
func TestMain(m *testing.M) {
	if text := os.Getenv(jobVariable); text != "" {
		if err := work(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func work(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	s := j.Where.open() // one for all writers of the process
	if j.Ask {
		a, b := j.Plan.Target(j.From, 1)
		return load.Write(context.Background(), s, time.Now(), a, b, "asked")
	}
	var group sync.WaitGroup
	failed := make([]error, j.To)
	for w := j.From; w < j.To; w++ {
		group.Go(func() { failed[w] = writer(s, j.Plan, w, j.Most, logOf(j.Logs, w)) })
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func logOf(dir string, writer int) string { return filepath.Join(dir, fmt.Sprintf("log-%d", writer)) }

// start starts the process of a job.
func (j job) start() (*exec.Cmd, *bytes.Buffer, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, nil, err
	}
	said := new(bytes.Buffer)
	argv := append(slices.Clip(j.Inside), os.Args[0])
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = append(os.Environ(), jobVariable+"="+string(text))
	c.Stderr = said
	return c, said, c.Start()
}

// keep restarts the process whenever it was killed, until it has finished.
func (j job) keep(t *testing.T, mayKill func() bool) (killed int) {
	for {
		c, said, err := j.start()
		if err != nil {
			t.Error(err)
			return killed
		}
		ended := make(chan struct{})
		var killer sync.WaitGroup
		if mayKill() {
			edits, most := rand.N(1+(j.To-j.From)*j.Most/2), 200*time.Millisecond+rand.N(1500*time.Millisecond)
			killer.Go(func() {
				if j.reach(edits, most, ended) {
					_ = c.Process.Kill() // it may be gone
				}
			})
		}
		err = c.Wait()
		close(ended)
		killer.Wait()
		if *loud {
			t.Log(said.String())
		}
		if err == nil {
			return killed
		}
		if c.ProcessState.ExitCode() >= 0 {
			t.Errorf("writers from %d on: %v\n%s", j.From, err, said)
			return killed
		}
		killed++
	}
}

// reach waits until the job's writers have begun that many more edits, or for most, and reports
// whether that was before ended: a fast machine makes all edits in less than a second.
func (j job) reach(edits int, most time.Duration, ended <-chan struct{}) bool {
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for first, end := j.begun(), time.After(most); j.begun()-first <= edits; {
		select {
		case <-ended:
			return false
		case <-end:
			return true
		case <-look.C:
		}
	}
	return true
}

// begun returns how many edits the job's writers have begun.
func (j job) begun() (n int) {
	for w := j.From; w < j.To; w++ {
		text, _ := os.ReadFile(logOf(j.Logs, w)) // no log exists before the first edit
		n += bytes.Count(text, []byte("begin"))
	}
	return n
}

// TestKilled runs processes that write a store on a server while they and the server are killed
// with SIGKILL at random moments. The server restarts on the data it left. In the end the store
// has each acknowledged edit, and no half edit.
func TestKilled(t *testing.T) {
	for _, kind := range []string{servers.MariaDB, servers.Galera, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			testKilled(t, kind)
		})
	}
}

// The writers of TestKilled.
const (
	killProcesses = 4
	killWriters   = 3 // of each process
)

func testKilled(t *testing.T, kind string) {
	plan := load.Plan{Writers: killProcesses * killWriters, Each: 40, Pairs: 5, Shared: 10, Beside: 100}
	s := durable(t, kind)
	w := where{Config: s.Database("killed")}
	if err := w.fill(plan.Text(), load.Prefix); err != nil {
		t.Fatal(err)
	}
	logs, began := t.TempDir(), time.Now()
	var group sync.WaitGroup
	stop := make(chan struct{})
	clients := make([]int, killProcesses)
	for p := range killProcesses {
		own := w // of a cluster each process has a node
		if n := len(s.Nodes); n > 0 {
			own.Config.Port = s.Nodes[p%n].Config.Port
		}
		j := job{Where: own, Plan: plan, From: p * killWriters, To: (p + 1) * killWriters, Most: *writes / plan.Writers, Logs: logs}
		group.Go(func() { clients[p] = j.keep(t, func() bool { return p > 0 }) })
	}
	restarts := 0
	go func() { group.Wait(); close(stop) }()
	all := job{To: plan.Writers, Logs: logs}
	for all.reach(rand.N(1+*writes/4), 500*time.Millisecond+rand.N(3*time.Second), stop) {
		if err := crash(s); err != nil {
			t.Fatal(err)
		}
		restarts++
	}
	if err := crash(s); err != nil { // what it acknowledged last must be there too
		t.Fatal(err)
	}
	if err := s.Settle(); err != nil {
		t.Fatal(err)
	}
	v := judge(t, plan, w, logs)
	killed := 0
	for _, n := range clients {
		killed += n
	}
	t.Logf("%s: %d writes acknowledged in %s, %d clients and %d servers killed; not acknowledged: %d refused, %d of unknown end, %d never heard of (%d of these two made); lost %d, half %d, twice %d, false answers %d",
		kind, v.Done, time.Since(began).Round(time.Second), killed, restarts, v.Refused, v.Unknown, v.Unheard, v.Made, v.Lost, v.Half, v.Twice, v.False)
	if restarts == 0 || killed == 0 || v.Done < *writes/2 {
		t.Error("so little happened that nothing is proved")
	}
}

// judge fails a test if the store lost or invented edits.
func judge(t *testing.T, p load.Plan, w where, dir string) load.Verdict {
	t.Helper()
	var logs [][]load.Entry
	for n := range p.Writers {
		entries, err := load.ReadLog(logOf(dir, n))
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, entries)
	}
	text, err := w.text()
	if err != nil {
		t.Fatal(err)
	}
	v, err := load.Judge(p, text, logs)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range v.Faults {
		t.Error(fault)
	}
	return v
}
