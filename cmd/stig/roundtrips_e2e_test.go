//go:build e2e

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/testkit/load"
	"stig/internal/testkit/sample"
	"stig/internal/testkit/servers"
)

// farAway is a round trip to a server on another continent.
const farAway = 80 * time.Millisecond

// TestRoundTrips counts the sequential round trips of commands on a store on a server, and
// compares the counts with the table of docs/measurements.md; -update rewrites it. With farAway
// each round trip takes 80 ms; the time of a briefing is printed but not checked.
func TestRoundTrips(t *testing.T) {
	s := servers.Need(t, servers.MariaDB)
	proxy, err := load.NewProxy("127.0.0.1:0", fmt.Sprintf("127.0.0.1:%d", s.Config.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	far := newFarStore(t, s.Database("far").Database, proxy, 160)
	far.run(t, "orient", "far-1") // fetches the store
	for !proxy.IsIdle() {
		time.Sleep(5 * time.Millisecond)
	}
	proxy.Counted()

	var table strings.Builder
	table.WriteString("| command | connections | statements, one after the other | round trips, 3 of each connection |\n|---|---:|---:|---:|\n")
	var times strings.Builder
	for _, args := range [][]string{
		{"orient"}, {"orient", "far-1"}, {"ready"}, {"show", "far-1"},
		{"claim", "far-1"}, {"checkpoint", "far-1", "--done", "one", "--remains", "two"},
		{"comment", "far-1", "-m", "seen"}, {"release", "far-1"}, {"create", "Build a pier"},
		{"close", "far-2", "--waive", "seen by eye", "--reason", "The lamp at the head of the mole burns from dusk to dawn and is seen for six miles."},
	} {
		proxy.SetRoundTrip(0)
		if args[0] == "orient" || args[0] == "ready" || args[0] == "show" {
			proxy.SetRoundTrip(farAway)
		}
		took := far.run(t, args...)
		for !proxy.IsIdle() {
			time.Sleep(5 * time.Millisecond)
		}
		turns, connections := proxy.Counted()
		name := "stig " + args[0]
		if args[0] == "orient" && len(args) > 1 {
			name += " ID"
		}
		turns -= connections // goodbyes, for which nobody waits
		const dialling = 3   // TCP, the server's greeting, the login
		asked := turns - connections
		fmt.Fprintf(&table, "| `%s` | %d | %d | %d |\n", name, connections, asked, asked+dialling*connections)
		fmt.Fprintf(&times, "%s: %d round trips, %s\n", name, asked+dialling*connections, took.Round(time.Millisecond))
	}
	t.Log("with 80 ms a round trip where the command reads:\n" + times.String())
	compareTable(t, fromHere("..", "..", "docs", "measurements.md"), "round trips", table.String())
}

// compareTable compares the part of a document between <!-- name --> and <!-- /name --> with
// the wanted text; -update writes it.
func compareTable(t *testing.T, path, name, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "<!-- "+name+" -->\n")
	got, after, closed := strings.Cut(rest, "<!-- /"+name+" -->\n")
	switch {
	case !found || !closed:
		t.Fatalf("%s: no part %q", path, name)
	case got == want:
	case *update:
		whole := before + "<!-- " + name + " -->\n" + want + "<!-- /" + name + " -->\n" + after
		if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s says\n%s\nmeasured was\n%s", path, got, want)
	}
}

// farStore creates a directory that uses a store on a server, through a proxy.
type farStore struct{ dir string }

func newFarStore(t *testing.T, name string, proxy *load.Proxy, issues int) *farStore {
	t.Helper()
	f := &farStore{t.TempDir()}
	var lines bytes.Buffer
	if err := sample.Write(&lines, issues, 1); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		fmt.Fprintf(&lines, `{"id":"far-%d","title":"Light lamp %d","description":"It is dark.","status":"open","priority":1,"issue_type":"task","created_at":"2026-11-01T08:00:00Z","updated_at":"2026-11-01T08:00:00Z"}`+"\n", n, n)
	}
	err := errors.Join(os.Mkdir(filepath.Join(f.dir, ".beads"), 0o755),
		os.WriteFile(filepath.Join(f.dir, ".beads", "issues.jsonl"), lines.Bytes(), 0o644), exec.Command("git", "init", "-q", f.dir).Run())
	if err != nil {
		t.Fatal(err)
	}
	f.run(t, "init", "--prefix", "far", "--import", "--store", fmt.Sprintf("mysql://root@127.0.0.1:%d/%s", proxy.Port(), name))
	return f
}

func (f *farStore) run(t *testing.T, args ...string) time.Duration {
	t.Helper()
	c := exec.Command("stig", args...)
	c.Dir = f.dir
	c.Env = append([]string{"HOME=" + f.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GOCOVERDIR=" + f.dir, "STIG_ACTOR=mara"}, forGit...)
	start := time.Now()
	out, err := c.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		t.Fatalf("stig %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return took
}
