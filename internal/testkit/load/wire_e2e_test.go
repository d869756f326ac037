//go:build e2e

package load_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/testkit/load"
	"stig/internal/testkit/servers"
)

// TestWires has two machines write a store, each a network namespace with its own wire to the
// server, and disconnects the wires at random moments. Unlike the proxy of TestCut this ends no
// connection, and neither side notices. The writers' answers are true, and the store has every
// acknowledged edit. In the end a writer without a wire gets an error that names the server it
// cannot reach.
func TestWires(t *testing.T) {
	for n, kind := range []string{servers.MariaDB, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			testWires(t, kind, 200+n*wireMachines) // the kernel removes wires some time after their namespace
		})
	}
}

const wireMachines = 2

func testWires(t *testing.T, kind string, first int) {
	plan := load.Plan{Writers: 2 * wireMachines, Each: 40, Pairs: 5, Shared: 10}
	var wires []*load.Wire
	for n := range wireMachines {
		w, err := load.NewWire(first + n)
		if err != nil {
			t.Fatalf("no network namespaces can be made here: %v", err)
		}
		t.Cleanup(w.Close)
		wires = append(wires, w)
	}
	s := durable(t, kind)
	direct := where{Config: s.Database("wires")}
	if err := direct.fill(plan.Text(), load.Prefix); err != nil {
		t.Fatal(err)
	}
	logs, began := t.TempDir(), time.Now()
	stop, cuts := make(chan struct{}), make([]int, wireMachines)
	var writing, cutting sync.WaitGroup
	var last job
	for n, w := range wires {
		proxy, err := load.NewProxy(w.Here+":0", fmt.Sprintf("127.0.0.1:%d", s.Config.Port))
		if err != nil {
			t.Fatal(err)
		}
		defer proxy.Close()
		over := direct
		over.Config.Host, over.Config.Port, over.Config.Plain = w.Here, proxy.Port(), true
		j := job{Where: over, Plan: plan, From: 2 * n, To: 2*n + 2, Most: *writes / plan.Writers, Logs: logs, Inside: w.Inside}
		last = j
		writing.Go(func() {
			if killed := j.keep(t, func() bool { return false }); killed > 0 {
				t.Errorf("%d processes ended by a signal", killed)
			}
		})
		cutting.Go(func() { cuts[n] = cutAgainAndAgain(t, w, stop) })
	}
	writing.Wait()
	close(stop)
	cutting.Wait()
	v := judge(t, plan, direct, logs)
	t.Logf("%s: %d writes acknowledged in %s, wires cut %d times; not acknowledged: %d refused, %d of unknown end (%d made); lost %d, half %d, twice %d, false answers %d",
		kind, v.Done, time.Since(began).Round(time.Second), cuts[0]+cuts[1], v.Refused, v.Unknown, v.Made, v.Lost, v.Half, v.Twice, v.False)
	if v.Done < *writes/2 || cuts[0] < 3 || cuts[1] < 3 {
		t.Error("so little happened that nothing is proved")
	}
	toldOfNoWire(t, wires[wireMachines-1], last)
}

// cutAgainAndAgain disconnects a wire for a moment, again and again, and the tenth time for
// longer than the server waits for a client that is silent in the middle of an edit.
func cutAgainAndAgain(t *testing.T, w *load.Wire, stop <-chan struct{}) (cuts int) {
	for {
		select {
		case <-stop:
			return cuts
		case <-time.After(50*time.Millisecond + rand.N(time.Second)):
		}
		down := rand.N(1500 * time.Millisecond)
		if cuts++; cuts%40 == 10 {
			down = 25 * time.Second
		}
		if err := errors.Join(w.Down(), wait(down, stop), w.Up()); err != nil {
			t.Error(err)
			return cuts
		}
	}
}

func wait(d time.Duration, stop <-chan struct{}) error {
	select {
	case <-stop:
	case <-time.After(d):
	}
	return nil
}

// toldOfNoWire fails unless a writer whose machine lost its wire ends in time with an error
// that names the server.
func toldOfNoWire(t *testing.T, w *load.Wire, j job) {
	t.Helper()
	if err := w.Down(); err != nil {
		t.Fatal(err)
	}
	j.Logs, j.Most, j.Ask = t.TempDir(), 1, true
	began := time.Now()
	c, said, err := j.start()
	if err != nil {
		t.Fatal(err)
	}
	err = c.Wait()
	took, text := time.Since(began), said.String()
	t.Logf("without a wire, after %s: %s", took.Round(time.Millisecond), text)
	if _, ended := errors.AsType[*exec.ExitError](err); !ended || took > 45*time.Second || !strings.Contains(text, fmt.Sprintf("%s:%d", w.Here, j.Where.Config.Port)) {
		t.Errorf("%v after %s: %s", err, took, text)
	}
}
