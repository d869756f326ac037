// Package servers starts real MariaDB and Dolt servers for tests. Each listens on a free port
// of 127.0.0.1, keeps its data in its own directory, and ends with the process that started it,
// however that ends. Only tests import it.
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
	Dolt    = "dolt"
)

// startTime is the timeout until a server accepts connections; it takes a second.
const startTime = 30 * time.Second

// Options configure a server.
type Options struct {
	Kind string // MariaDB or Dolt
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
}

// Server is a running server.
type Server struct {
	Kind   string
	Config mysql.Config // user root, no password, no database

	hold   *os.File      // closing it ends the server
	ended  chan struct{} // closed when the server has ended and its directory is gone
	result process.Result
	err    error
	made   atomic.Int64 // the number of databases created
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
	s, err := start(k, dir, o)
	if err != nil && o.Dir == "" {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return s, err
}

func start(k kind, dir string, o Options) (*Server, error) {
	port, err := freePort(o.Port)
	if err != nil {
		return nil, err
	}
	argv, env, err := k.prepare(k.program, dir, port, o.Fast)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Kind, err)
	}
	s := &Server{Kind: o.Kind, Config: mysql.Config{Host: "127.0.0.1", Port: port, User: "root"}, ended: make(chan struct{})}
	if argv = append(argv, o.Settings...); o.CA != "" {
		s.Config.Host, s.Config.CA = "localhost", o.CA
	}
	removed := ""
	if o.Dir == "" {
		removed = dir
	}
	if err := s.run(argv, env, removed); err != nil {
		return nil, err
	}
	if err := s.await(); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%s: %w; it logged:\n%s", o.Kind, err, s.result.Stderr)
	}
	return s, nil
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
[ -z "$remove" ] || rm -rf "$remove"
exit $code
`

// run starts the server under the shell script.
func (s *Server) run(argv, env []string, removed string) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	s.hold = write
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
	_ = s.hold.Close() // it may have been stopped before
	<-s.ended
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

// freePort returns want if nobody listens on it, or any free port of 127.0.0.1 if want is 0.
func freePort(want int) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(want)))
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}
