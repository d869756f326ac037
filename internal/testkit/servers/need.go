package servers

import (
	"sync"
	"testing"
)

// shared is a server of all tests of a process.
type shared struct {
	once   sync.Once
	server *Server
	err    error
}

// all are the shared servers by their kind.
var all = sync.OnceValue(func() map[string]*shared {
	return map[string]*shared{MariaDB: {}, Galera: {}, Dolt: {}}
})

// Need gives the server of a kind that all tests of the process share, which answers
// before what was written is on the disk. A test fails where it cannot be started.
func Need(t testing.TB, kind string) *Server {
	t.Helper()
	s := all()[kind]
	if s == nil {
		t.Fatalf("no kind of server is named %q", kind)
	}
	s.once.Do(func() { s.server, s.err = StartWith(Options{Kind: kind, Fast: true}) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}
