package servers

import (
	"sync"
	"testing"
)

// shared is a server shared by all tests of a process.
type shared struct {
	once   sync.Once
	server *Server
	err    error
}

// all are the shared servers by their kind.
var all = sync.OnceValue(func() map[string]*shared {
	return map[string]*shared{MariaDB: {}, Galera: {}, Dolt: {}}
})

// Need returns the process-wide server of a kind, which answers before data is on the disk. If
// it cannot be started, the test fails.
func Need(t testing.TB, kind string) *Server {
	t.Helper()
	s := all()[kind]
	if s == nil {
		t.Fatalf("%q is not a kind of server", kind)
	}
	s.once.Do(func() { s.server, s.err = StartWith(Options{Kind: kind, Fast: true}) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}
