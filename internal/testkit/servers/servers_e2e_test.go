//go:build e2e

package servers_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/store/mysql"
	"stig/internal/testkit/servers"
)

// TestMain is also a process that starts a server, prints the URL of an empty database in it,
// and waits. TestKilled kills that process; .ci/servers runs it for people.
func TestMain(m *testing.M) {
	if kind := os.Getenv("START_SERVER"); kind != "" {
		s, err := servers.Start(kind)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(s.Database("stig").URL())
		select {}
	}
	os.Exit(m.Run())
}

// each runs a test on every kind of server.
func each(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range []string{servers.MariaDB, servers.Dolt} {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

func ping(c mysql.Config) error {
	db, err := mysql.Open(c)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return db.PingContext(ctx)
}

func TestDatabase(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := servers.Need(t, kind)
		one, other := s.Database("Harbor/one"), s.Database("Harbor/one")
		if one.Database == other.Database || !strings.HasPrefix(one.Database, "harbor_one") {
			t.Errorf("%q and %q", one.Database, other.Database)
		}
		db, err := mysql.Open(one)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var tables int
		if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(&tables); err != nil || tables != 0 {
			t.Errorf("%d tables, %v", tables, err)
		}
	})
}

// TestAgain stops a server and restarts it on its directory.
func TestAgain(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		servers.Need(t, kind)
		o := servers.Options{Kind: kind, Dir: t.TempDir(), Fast: true}
		s, err := servers.StartWith(o)
		if err != nil {
			t.Fatal(err)
		}
		made := s.Database("kept")
		s.Stop()
		if err := ping(made); err == nil {
			t.Error("it still answers")
		}
		o.Port = made.Port
		if s, err = servers.StartWith(o); err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
		if err := ping(made); err != nil {
			t.Error(err)
		}
	})
}

// TestKilled kills the process that started a server.
func TestKilled(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		servers.Need(t, kind)
		temp := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "START_SERVER="+kind, "TMPDIR="+temp)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var url string
		if _, err := fmt.Fscan(out, &url); err != nil {
			t.Fatal(err)
		}
		c, err := mysql.ParseURL(url)
		if err == nil {
			err = ping(c)
		}
		if err != nil {
			t.Error(err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for range 100 {
			if left, _ := os.ReadDir(temp); len(left) == 0 && ping(c) != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		left, _ := os.ReadDir(temp)
		t.Errorf("it left %v, and answers: %v", left, ping(c))
	})
}

// TestCluster: all nodes have what one of them committed. An isolated node reports that it has
// no quorum and catches up afterwards; so does a killed one.
func TestCluster(t *testing.T) {
	s, err := servers.StartWith(servers.Options{Kind: servers.Galera, Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	c := s.Database("cluster")
	on := func(node int, text string, into ...any) error {
		c := c
		c.Port = s.Nodes[node].Config.Port
		db, err := mysql.Open(c)
		if err != nil {
			return err
		}
		defer db.Close()
		if into == nil {
			_, err = db.Exec(text)
			return err
		}
		return db.QueryRow(text).Scan(into...)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func(node, want int) {
		t.Helper()
		n := 0
		must(on(node, "SELECT COUNT(*) FROM t", &n))
		if n != want {
			t.Errorf("node %d holds %d rows, want %d", node, n, want)
		}
	}
	must(on(0, "CREATE TABLE t (a INT PRIMARY KEY)"))
	must(on(1, "INSERT INTO t VALUES (1)"))
	must(s.Nodes[0].Isolate())
	if err := on(0, "INSERT INTO t VALUES (2)"); !mysql.NoQuorum(err) {
		t.Errorf("a node that is cut off says %v", err)
	}
	must(on(2, "INSERT INTO t VALUES (3)"))
	must(s.Nodes[0].Rejoin())
	count(0, 2)
	must(s.Crash(1))
	must(on(1, "INSERT INTO t VALUES (4)"))
	must(s.Crash(0, 2))
	must(s.Settle())
	for n := range s.Nodes {
		count(n, 3)
	}
}

// TestFails uses programs that are not servers.
func TestFails(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dolt := filepath.Join(t.TempDir(), "dolt")
	if err := os.WriteFile(dolt, []byte("#!/bin/sh\necho no harbor >&2\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STIG_TEST_DOLT", dolt)
	s, err := servers.Start(servers.Dolt)
	if err == nil {
		s.Stop()
		t.Fatal("it started")
	}
	for _, part := range []string{"dolt: ", "exit code 7", "no harbor"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("it left %v", left)
	}
	t.Setenv("STIG_TEST_DOLT", dolt+"s")
	if _, err := servers.Start(servers.Dolt); err == nil || !strings.Contains(err.Error(), "STIG_TEST_DOLT") {
		t.Error(err)
	}
	if _, err := servers.Start("oracle"); err == nil || !bytes.Contains([]byte(err.Error()), []byte("[dolt galera mariadb]")) {
		t.Error(err)
	}
}
