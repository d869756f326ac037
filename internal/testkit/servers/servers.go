// Package servers starts real MariaDB and Dolt servers and Galera clusters for tests. Each
// listens on free ports of 127.0.0.1, keeps its data in its own directory, and ends with the
// process that started it, however that ends. Only tests import it.
//
//	s := servers.Need(t, servers.MariaDB) // one a test process
//	store := sql.Open(place, sql.Options{Config: s.Database("harbor")})
package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"stig/internal/process"
	"stig/internal/store/mysql"
)

// The kinds of servers.
const (
	MariaDB = "mariadb"
	Galera  = "galera" // three nodes; see Server.Nodes
	Dolt    = "dolt"
)

// startTime is the timeout until a server accepts connections; it takes a second.
const startTime = 30 * time.Second

// Options configure a server.
type Options struct {
	Kind string // MariaDB, Galera or Dolt
	// Dir keeps the data after the server has ended, for a restart on it; "" is a temporary
	// directory, which is removed.
	Dir  string
	Port int // 0 picks a free one
	// Fast lets the server answer before data is on the disk.
	Fast bool
	// Settings are more options of the program. CA is the file of the authority that signed the
	// certificate in Settings; with CA, clients connect to localhost with TLS.
	Settings []string
	CA       string

	member *member // of a node of a cluster
}

// Server is a running server.
type Server struct {
	Kind   string
	Config mysql.Config // user root, no password, no database; of a cluster the first node's

	// Nodes are the nodes of a cluster. Each can be stopped, isolated and restarted.
	Nodes []*Server

	hold   *os.File      // closing it ends the server
	ended  chan struct{} // closed when the server has ended and its directory is gone
	result process.Result
	err    error
	made   atomic.Int64 // the number of databases created
	again  func() error // restarts it on its data, at its port
}

// Start starts a server of a kind with its default durability.
func Start(kind string) (*Server, error) { return StartWith(Options{Kind: kind}) }

// StartWith starts a server and waits until it accepts connections. The error includes the
// server's log.
func StartWith(o Options) (*Server, error) {
	k, err := kindOf(o.Kind)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if o.Dir == "" {
		dir, err = os.MkdirTemp("", "stig-"+o.Kind+"-")
	}
	if err != nil {
		return nil, err
	}
	begin := start
	if o.Kind == Galera {
		begin = startCluster
	}
	s, err := begin(k, dir, o)
	if err != nil && o.Dir == "" {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return s, err
}

func start(k kind, dir string, o Options) (*Server, error) {
	ports, err := freePorts(o.Port)
	if err != nil {
		return nil, err
	}
	s := &Server{Kind: o.Kind, Config: mysql.Config{Host: "127.0.0.1", Port: ports[0], User: "root"}}
	if o.CA != "" {
		s.Config.Host, s.Config.CA = "localhost", o.CA
	}
	s.again = func() error { return s.begin(k, dir, o) }
	return s, s.again()
}

// begin starts the server in its directory and waits for it.
func (s *Server) begin(k kind, dir string, o Options) error {
	argv, env, err := k.prepare(k.program, dir, s.Config.Port, o)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Kind, err)
	}
	removed := ""
	if o.Dir == "" {
		removed = dir
	}
	if err := s.run(append(argv, o.Settings...), env, removed); err != nil {
		return err
	}
	err = s.await()
	if err == nil && o.member != nil {
		err = s.becomes("wsrep_ready", "ON")
	}
	if err != nil {
		s.Stop()
		return fmt.Errorf("%s: %w; it logged:\n%s", o.Kind, err, s.result.Stderr)
	}
	return nil
}

// holding is a shell script that starts a server and kills it when the other end of file 3 is
// closed, which the system does however the process there ends. It then removes the directory
// $1.
const holding = `
trap '' PIPE # the reader of the log may be gone
remove=$1
shift
"$@" 3<&- >&2 &
server=$!
{ cat <&3 >/dev/null; kill -s KILL "$server"; } 2>/dev/null &
wait "$server"
code=$?
[ -z "$remove" ] || rm -rf "$remove" || { sleep 1; rm -rf "$remove"; } # where others wrote there still
exit $code
`

// run starts the server under the shell script.
func (s *Server) run(argv, env []string, removed string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	s.hold, s.ended = write, make(chan struct{})
	go func() {
		s.result, s.err = process.Run(context.Background(), process.Command{
			Argv: append([]string{"sh", "-c", holding, "sh", removed}, argv...),
			Env:  env,
			Dir:  os.TempDir(), // a test's directory may be gone before the server looks
			Lock: read,         // file 3 of the shell
		})
		_ = read.Close()
		close(s.ended)
	}()
	return nil
}

// await waits until the server accepts connections, at most startTime.
func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	db, err := mysql.Open(s.Config)
	if err != nil {
		return err
	}
	defer db.Close()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return errors.Join(fmt.Errorf("ended with exit code %d", s.result.Exit), s.err)
		case <-ctx.Done():
			return fmt.Errorf("accepts no connections after %s: %w", startTime, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Stop kills the server with SIGKILL, and waits until it has ended.
func (s *Server) Stop() {
	for _, n := range s.Nodes {
		if n != nil { // it could not be started
			n.Stop()
		}
	}
	if s.hold != nil {
		_ = s.hold.Close() // it may have been stopped before
		<-s.ended
	}
}

// Database creates an empty database and returns its location. The database's name begins with
// the letters and digits of name. Database panics if the server cannot create it.
func (s *Server) Database(name string) mysql.Config {
	c := s.Config
	c.Database = fmt.Sprintf("%.40s_%d", strings.Map(plain, name), s.made.Add(1))
	if err := s.exec("CREATE DATABASE " + c.Database); err != nil {
		panic(fmt.Sprintf("%s: database %s: %v", s.Kind, c.Database, err))
	}
	return c
}

func plain(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return r
	case 'A' <= r && r <= 'Z':
		return r - 'A' + 'a'
	}
	return '_'
}

func (s *Server) exec(statements ...string) error {
	db, err := mysql.Open(s.Config)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			return err
		}
	}
	return nil
}

// freePorts returns each wanted port of 127.0.0.1 if nobody listens on it; for 0, any free one.
func freePorts(wanted ...int) (ports []int, err error) {
	for _, want := range wanted {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(want)))
		if err != nil {
			return nil, err
		}
		defer listener.Close() // when all are chosen
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
