package servers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"stig/internal/process"
	"stig/internal/store/mysql"
)

// member is a node's place in its cluster.
type member struct {
	number   int   // from 0
	group    []int // the ports of all nodes for their replication
	transfer int   // the port at which it receives what it missed
	founds   bool  // it needs no other node
}

// provider returns Galera's library: from its variable, or from the path of Debian's package.
func provider() string {
	return cmp.Or(os.Getenv("STIG_TEST_GALERA"), "/usr/lib/galera/libgalera_smm.so")
}

// nodes is the size of a cluster: the smallest that survives the loss of one node.
const nodes = 3

// startCluster creates the data of one node, copies it to all nodes, and starts them.
func startCluster(k kind, dir string, o Options) (_ *Server, err error) {
	if _, err := os.Stat(provider()); err != nil {
		return nil, fmt.Errorf("%s: %w; type eval \"$(bash .ci/servers)\" to get it", o.Kind, err)
	}
	ports, err := freePorts(make([]int, 2*nodes)...)
	if err != nil {
		return nil, err
	}
	node := func(n int, founds bool) (*Server, error) {
		o := o
		o.Dir, o.member = filepath.Join(dir, strconv.Itoa(n)), &member{n, ports[:nodes], ports[nodes+n], founds}
		return start(k, o.Dir, o)
	}
	data := func(n int) string { return filepath.Join(dir, strconv.Itoa(n), "data") }
	first, err := node(0, true)
	if err != nil {
		return nil, err
	}
	err = first.exec("SHUTDOWN")
	<-first.ended
	for _, name := range []string{"galera.cache", "gvwstate.dat"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(data(0), name)))
	}
	for n := 1; n < nodes; n++ {
		err = errors.Join(err, os.CopyFS(data(n), os.DirFS(data(0))))
	}
	if err != nil {
		return nil, err
	}
	c := &Server{Kind: o.Kind, Nodes: make([]*Server, nodes)}
	var failed [nodes]error
	var group sync.WaitGroup
	for n := range nodes {
		begin := func() { c.Nodes[n], failed[n] = node(n, n == 0) }
		if n == 0 {
			begin()
		} else {
			group.Go(begin)
		}
	}
	group.Wait()
	c.Config = c.Nodes[0].Config
	if o.Dir == "" { // the directory is removed when the nodes have ended, however this process ends
		failed[0] = errors.Join(failed[0], c.run([]string{"sleep", "infinity"}, nil, dir))
	}
	if err := errors.Join(failed[:]...); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// prepareNode is prepareMariaDB for a node.
func prepareNode(program, dir string, port int, o Options) (argv, env []string, err error) {
	argv, _, err = prepareMariaDB(program, dir, port, o)
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "wsrep_sst_stig"), []byte(transfer), 0o755); err != nil {
		return nil, nil, err
	}
	env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	m := o.member
	var group []string
	for _, port := range m.group {
		group = append(group, fmt.Sprintf("127.0.0.1:%d", port))
	}
	argv = append(argv, "--wsrep-on=ON", "--wsrep-provider="+provider(), "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
		"--wsrep-cluster-name=stig", "--wsrep-sst-method=stig", "--wsrep-node-name=node"+strconv.Itoa(m.number),
		"--wsrep-node-address="+group[m.number], "--wsrep-cluster-address=gcomm://"+strings.Join(group, ","),
		fmt.Sprintf("--wsrep-provider-options=gmcast.listen_addr=tcp://%s;ist.recv_addr=127.0.0.1:%d;%s", group[m.number], m.transfer, quick))
	if m.founds {
		m.founds = false // a restarted node joins the others
		return append(argv, "--wsrep-new-cluster"), env, nil
	}
	state, err := os.ReadFile(filepath.Join(dir, "data", "grastate.dat"))
	if err != nil || !bytes.Contains(state, []byte("seqno:   -1")) {
		return argv, env, err
	}
	position, err := recovered(argv, env)
	return append(argv, "--wsrep-start-position="+position), env, err
}

// quick are the settings with which a cluster detects the loss of a node within a second.
const quick = "gcache.size=32M;evs.keepalive_period=PT0.1S;evs.inactive_check_period=PT0.1S;evs.suspect_timeout=PT0.5S;evs.inactive_timeout=PT1S;evs.install_timeout=PT1S;" +
	"evs.join_retrans_period=PT0.2S;gmcast.time_wait=PT0.2S;gmcast.peer_timeout=PT0.3S"

// recovered returns the position up to which a killed node had committed.
func recovered(argv, env []string) (position string, err error) {
	result, err := process.Run(context.Background(), process.Command{Argv: append(argv, "--wsrep-recover"), Env: env})
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`Recovered position: *(\S+)`).FindSubmatch(result.Stderr)
	if found == nil {
		return "", fmt.Errorf("no recovered position in:\n%s", result.Stderr)
	}
	return string(found[1]), nil
}

// transfer is the program that nodes run when one of them joins. All nodes began with the same
// data and keep what they wrote, so it sends only the position; Galera itself sends the missing
// writes.
const transfer = `#!/bin/sh
while [ $# -gt 0 ]; do
	case $1 in
	--role) role=$2; shift ;;
	--address) address=$2; shift ;;
	--datadir) data=$2; shift ;;
	--gtid) gtid=$2; shift ;;
	--bypass) bypass=1 ;;
	esac
	shift
done
if [ "$role" = joiner ]; then
	rm -f "$data/joined"
	mkfifo "$data/joined" && echo "ready 127.0.0.1:1/$data/joined" && cat "$data/joined"
elif [ -n "$bypass" ]; then
	echo "$gtid" >"/${address#*/}" && echo "done $gtid"
else
	echo "a whole copy of the data was asked for" >&2
	exit 1
fi
`

// Isolate disconnects a node from the others, and waits until it has lost the quorum.
func (s *Server) Isolate() error {
	if err := s.exec("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'"); err != nil {
		return err
	}
	return s.becomes("wsrep_cluster_status", "non-Primary")
}

// Rejoin ends Isolate, and waits until the node has caught up.
func (s *Server) Rejoin() error {
	if err := s.exec("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'"); err != nil {
		return err
	}
	return s.becomes("wsrep_ready", "ON")
}

// Settle waits until every node has applied what any node committed.
func (s *Server) Settle() error {
	for _, n := range s.Nodes {
		if err := n.exec("SET STATEMENT wsrep_sync_wait = 15 FOR SELECT 1"); err != nil {
			return err
		}
	}
	return nil
}

// Crash kills a server and restarts it on its data; of a cluster it kills that many nodes at
// once.
func (s *Server) Crash(nodes ...int) error {
	if len(s.Nodes) == 0 {
		s.Stop()
		return s.again()
	}
	failed := make([]error, len(s.Nodes))
	var group sync.WaitGroup
	for _, n := range nodes {
		s.Nodes[n].Stop()
	}
	for _, n := range nodes { // a node that lost the quorum answers only when the others are back
		group.Go(func() {
			// A node that is joining exits if the cluster changes again meanwhile.
			for range 5 {
				if failed[n] = s.Nodes[n].again(); failed[n] == nil {
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// becomes waits until a status of a node has a value.
func (s *Server) becomes(name, want string) error {
	db, err := mysql.Open(s.Config)
	if err != nil {
		return err
	}
	defer db.Close()
	var value string
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = db.QueryRow("SHOW STATUS LIKE '"+name+"'").Scan(&name, &value); err == nil && value == want {
			return nil
		}
	}
	return fmt.Errorf("%s is %s, not %s, after %s: %w", name, value, want, startTime, err)
}
