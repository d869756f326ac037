//go:build e2e && unix

package main

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"stig/internal/testkit/overnight"
)

var workKills = flag.Int("work-kills", 3, "how often TestWorkKilled kills stig work")

// TestWorkKilled kills stig work --once again and again, at any moment from its start to after
// its end, alone or with its worker, and restarts it. Nothing may run twice at once, get lost,
// or stay claimed by a dead worker. Its workers do everything right.
func TestWorkKilled(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	n.project = overnight.Project{Epics: 1 + *workKills/20, Each: 10, Seed: n.project.Seed}
	n.always = string(overnight.Right)
	n.begin(t)
	l := n.loops[0]
	longest := time.Second
	for n.killed["loop"]+n.killed["both"] < *workKills {
		start, after, both := time.Now(), rand.N(longest*3/2), rand.IntN(3) == 0
		c, err := l.start("--once")
		if err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(after, func() { _ = c.Process.Kill() }) // it may have ended
		_ = c.Wait()                                                   // the exit code says how it ended
		late.Stop()
		code := c.ProcessState.ExitCode()
		if code >= 0 {
			longest = time.Since(start)
		}
		n.exits[code]++
		switch {
		case code < 0 && both:
			n.killed["both"]++
			n.end() // the worker
		case code < 0:
			n.killed["loop"]++
		case code != 0:
			t.Fatalf("stig work --once: exit %d\n%s", code, n.said())
		}
		if n.closed(n.clone) == n.project.Epics*n.project.Each {
			break
		}
	}
	n.complete(t, l)
	m := n.morning(t)
	for _, problem := range append(n.faults, overnight.Judge(m)...) {
		t.Error(problem)
	}
	t.Log("\n" + n.table(m))
	if t.Failed() {
		t.Log("what the loops said:\n" + n.said())
	}
}

// complete lets a loop finish the rest, without kills.
func (n *night) complete(t *testing.T, l *nightLoop) {
	c, err := l.start("--until-empty")
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(nightMost, func() { _ = c.Process.Signal(syscall.SIGKILL) })
	err = c.Wait()
	late.Stop()
	if closed, all := n.closed(n.clone), n.project.Epics*n.project.Each; err != nil || closed != all {
		t.Errorf("%d of %d issues are closed: %v; see %s", closed, all, err, filepath.Join(n.dir, "said-"+l.name))
	}
}
