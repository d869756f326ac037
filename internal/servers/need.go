package servers

import (
	"os"
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
	return map[string]*shared{MariaDB: {}, Dolt: {}}
})

// said is what was said to be left out.
var said = sync.OnceValue(func() *sync.Map { return new(sync.Map) })

// Need gives the server of a kind that all tests of the process share, which answers
// before what was written is on the disk. Where there is none (see Kinds) the test
// is skipped, and the first says so; a server that is there and cannot be started, or
// that the environment names and is not there, fails the test.
func Need(t testing.TB, kind string) *Server {
	t.Helper()
	k, err := kindOf(kind)
	if err != nil && k.variable != "" && os.Getenv(k.variable) == "" {
		if _, again := said().LoadOrStore(kind, true); again {
			t.SkipNow()
		}
		t.Skipf("left out: no %s server; type eval \"$(bash .ci/servers)\" to have one", kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := all()[kind]
	s.once.Do(func() { s.server, s.err = StartWith(Options{Kind: kind, Fast: true}) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}
