//go:build e2e

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/process"
	"stig/internal/store/sql"
	"stig/internal/testkit/load"
	"stig/internal/testkit/servers"
)

// TestCostsAreFlat compares what commands about one issue exchange with the server in a small
// store with ten workers, in one with a thousand workers, and in a large store: as many round
// trips, and no more than half as many bytes again.
func TestCostsAreFlat(t *testing.T) {
	for _, kind := range []string{servers.MariaDB, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			small := costs(t, kind, 160, 10)
			for _, more := range []struct{ issues, workers int }{{160, 1000}, {10_000, 10}} {
				for i, large := range costs(t, kind, more.issues, more.workers) {
					one := small[i]
					t.Logf("%-40s %2d round trips, %5d bytes with 160 issues and 10 workers; %2d, %5d with %d and %d",
						one.command, one.turns, one.bytes, large.turns, large.bytes, more.issues, more.workers)
					if one.turns != large.turns || 2*large.bytes > 3*one.bytes {
						t.Errorf("%s: %+v in a small store, %+v with %d issues and %d workers", one.command, one, large, more.issues, more.workers)
					}
				}
			}
		})
	}
}

// cost is what a command exchanges with the server.
type cost struct {
	command      string
	turns, bytes int
}

// costs returns the costs of commands beside workers on other machines, each with a claim.
func costs(t *testing.T, kind string, issues, workers int) (list []cost) {
	s := servers.Need(t, kind)
	proxy, err := load.NewProxy("127.0.0.1:0", fmt.Sprintf("127.0.0.1:%d", s.Config.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	c := s.Database("far")
	far := newFarStore(t, c.Database, proxy, issues)
	store := sql.Open(beads.Place{}, sql.Options{Config: c})
	defer store.Close()
	addWorkers(t, store, workers)
	for _, args := range [][]string{
		{"show", "far-1"}, {"orient", "far-1"}, {"claim", "far-1"}, {"orient", "far-1"}, {"checkpoint", "far-1", "--done", "one", "--remains", "two"},
		{"comment", "far-1", "-m", "seen"}, {"edit", "far-1", "far-2", "--priority", "2"}, {"release", "1"}, {"claim", "1"},
		{"close", "far-1", "--waive", "seen by eye", "--reason", "The lamp at the head of the mole burns from dusk to dawn and is seen for six miles."},
	} {
		for !proxy.IsIdle() {
			time.Sleep(5 * time.Millisecond)
		}
		proxy.Counted()
		proxy.Bytes()
		far.run(t, args...)
		for !proxy.IsIdle() {
			time.Sleep(5 * time.Millisecond)
		}
		turns, _ := proxy.Counted()
		list = append(list, cost{strings.Join(args[:2], " "), turns, proxy.Bytes()})
	}
	return list
}

// addWorkers adds loops of another machine, each with a presence and a claim.
func addWorkers(t *testing.T, store *sql.Store, n int) {
	t.Helper()
	place, err := clone.At(filepath.Join(t.TempDir(), "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	place.Documents, place.Host, place.Now = store.State(), "quay", time.Now
	id := process.ID{PID: 7, Boot: "of the quay", Host: "quay"}
	_, err = place.ChangeClaims(func(c *clone.Claims) (bool, error) {
		for i := range n {
			c.Hold(clone.Lease{Issue: fmt.Sprint("else-", i), Actor: fmt.Sprint("w", i), Process: id, Host: "quay", Worktree: "/srv/harbor", Tree: "/srv/harbor",
				Run: fmt.Sprint("r-", i), Since: now, Until: now.Add(clone.LoopLasts), Lasts: clone.LoopLasts})
		}
		return true, nil
	})
	for i := 0; i < n && err == nil; i++ {
		err = place.ChangePresence(fmt.Sprint("w", i), func(p *clone.Presence) bool {
			p.First, p.Seen, p.Process, p.Host, p.Kind, p.Issue = now, now, id, "quay", clone.Agent, fmt.Sprint("else-", i)
			return true
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}
