//go:build e2e && unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/store/mysql"
	"stig/internal/store/sql"
	"stig/internal/testkit/load"
	"stig/internal/testkit/overnight"
	"stig/internal/testkit/servers"
)

var nightStore = flag.String("overnight-store", "file", "what keeps the issues of TestOvernight: file, mariadb or dolt")

// nightURL tells workers that the store is on a server.
const nightURL = "STIG_TEST_NIGHT"

// nightText returns the store as a worker reads it.
func nightText(beadsDir string) (string, error) {
	if os.Getenv(nightURL) == "" {
		text, err := os.ReadFile(filepath.Join(beadsDir, "issues.jsonl"))
		return string(text), err
	}
	settings, err := jsonl.ReadSettings(filepath.Join(beadsDir, "stig.json"))
	if err != nil {
		return "", err
	}
	c, err := mysql.ParseURL(settings.Store)
	if err != nil {
		return "", err
	}
	c.Plain = true
	s := openNight(c)
	defer s.Close()
	text, err := s.Text(context.Background())
	return string(text), err
}

// nightServer keeps the store of a night on a server. Each loop then has its own work tree,
// home and, if permitted, network namespace, as if it were on its own machine. The work trees
// belong to one clone, since stig never pushes by itself.
type nightServer struct {
	config mysql.Config // as the test reaches it
	store  *sql.Store

	seen    int64     // version of the store
	changed time.Time // when the test first saw it
}

// newNightServer returns nil for a night on a file.
func newNightServer(t *testing.T, p overnight.Project) *nightServer {
	t.Helper()
	if *nightStore == "file" {
		return nil
	}
	ctx, s := context.Background(), &nightServer{config: servers.Need(t, *nightStore).Database("night")}
	err := sql.Create(ctx, sql.Options{Config: s.config}, "quay")
	s.store = openNight(s.config)
	if err = errors.Join(err, s.store.Fill(ctx, []byte(p.Files()[".beads/issues.jsonl"]), "quay", nil)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.store.Close() })
	return s
}

func openNight(c mysql.Config) *sql.Store {
	return sql.Open(beads.Place{Mode: beads.Server, URL: c.URL()}, sql.Options{Config: c})
}

// text returns the store as the server has it.
func (s *nightServer) text() (string, error) {
	text, err := s.store.Text(context.Background())
	return string(text), err
}

// moved reports whether the store changed a moment ago.
func (s *nightServer) moved() bool {
	version, err := s.store.Version(context.Background())
	if err == nil && version != s.seen {
		s.seen, s.changed = version, time.Now()
	}
	return time.Since(s.changed) < 2*time.Second
}

// nightMachine is where a loop of a night on a server runs.
type nightMachine struct {
	dir, home string
	inside    []string // command prefix that runs a program in the network namespace
}

// machines creates a work tree, a home and a network namespace for each loop.
func (n *night) machines(t *testing.T, count int) (list []nightMachine) {
	t.Helper()
	for i := range count {
		m := nightMachine{dir: filepath.Join(n.disk, fmt.Sprintf("machine-%d", i+1)), home: filepath.Join(n.disk, fmt.Sprintf("home-%d", i+1))}
		c, err := n.namespace(t, i, &m)
		if err != nil && i == 0 {
			t.Logf("left out: network namespaces: %v", err)
		}
		err = errors.Join(os.MkdirAll(m.home, 0o755), n.must(n.clone, "git", "worktree", "add", "-q", "-b", filepath.Base(m.dir), m.dir), nameStore(m.dir, c))
		if err = errors.Join(err, n.mustAt(m.home, m.dir, "stig", "trust")); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// nameStore configures the store in a work tree, without a password or TLS.
func nameStore(dir string, c mysql.Config) error {
	return errors.Join(os.MkdirAll(filepath.Join(dir, ".beads"), 0o755),
		os.WriteFile(filepath.Join(dir, ".beads", "stig.json"), fmt.Appendf(nil, "{\"store\": %q, \"tls\": \"off\"}\n", c.URL()), 0o644))
}

// namespace creates the loop's network namespace with a connection to the server, and returns
// the address of the store in it. If that is not permitted it returns the test's own address,
// and the error says why.
func (n *night) namespace(t *testing.T, i int, m *nightMachine) (mysql.Config, error) {
	c := n.server.config
	wire, err := load.NewWire(i)
	if err != nil {
		return c, err
	}
	t.Cleanup(wire.Close)
	proxy, err := load.NewProxy(wire.Here+":0", fmt.Sprintf("%s:%d", c.Host, c.Port))
	if err != nil {
		return c, err
	}
	t.Cleanup(func() { _ = proxy.Close() })
	m.inside = wire.Inside
	c.Host, c.Port = wire.Here, proxy.Port()
	return c, nil
}

// mustAt is must with another home.
func (n *night) mustAt(home, dir string, args ...string) error {
	c := n.command(dir, args...)
	c.Env = append(c.Env, "HOME="+home)
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return err
}

// place returns where the clone keeps live state.
func (n *night) place() (clone.Place, error) {
	if n.server == nil {
		return clone.At(filepath.Join(n.clone, ".beads", "issues.jsonl"))
	}
	place, err := clone.At(filepath.Join(n.clone, ".beads", "stig.json"))
	self, _ := process.Self()
	place.Documents, place.Host = n.server.store.State(), self.Host
	place.Now = func() time.Time { return time.Now().Add(n.ahead) }
	return place, err
}
