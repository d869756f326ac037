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

// TestCostOfWorkers: commands about one issue cost as many round trips with a thousand workers
// as with ten, and as many bytes.
func TestCostOfWorkers(t *testing.T) {
	for _, kind := range []string{servers.MariaDB, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			few, many := costs(t, kind, 10), costs(t, kind, 1000)
			for i, one := range few {
				t.Logf("%-40s %2d round trips, %5d bytes with 10 workers; %2d, %5d with 1,000", one.command, one.turns, one.bytes, many[i].turns, many[i].bytes)
				if one.turns != many[i].turns || 2*many[i].bytes > 3*one.bytes {
					t.Errorf("%s: %+v with 10 workers, %+v with 1,000", one.command, one, many[i])
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
func costs(t *testing.T, kind string, workers int) (list []cost) {
	s := servers.Need(t, kind)
	proxy, err := load.NewProxy("127.0.0.1:0", fmt.Sprintf("127.0.0.1:%d", s.Config.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	c := s.Database("far")
	far := newFarStore(t, c.Database, proxy)
	store := sql.Open(beads.Place{}, sql.Options{Config: c})
	defer store.Close()
	addWorkers(t, store, workers)
	far.run(t, "show", "far-0") // fetches the store
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
