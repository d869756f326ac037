//go:build e2e

package sql_test

import (
	"encoding/binary"
	"net"
	"sync"
	"testing"

	"stig/internal/store/mysql"
)

// proxy is between a store and its server. It counts the store's statements, and cuts the
// connection after a number of bytes.
type proxy struct {
	mysql.Config // of the route through the proxy
	server       string

	mu        sync.Mutex
	up, down  int // bytes from and to the store
	cutUp     int // the connection is cut before this byte; -1 for never
	cutDown   int
	refuses   bool // new connections
	afterCut  bool // refuse new connections after a cut
	cuts      int
	open      map[net.Conn]bool
	statement func(text []byte) // called for each command, if set
}

func newProxy(t testing.TB, c mysql.Config) *proxy {
	t.Helper()
	p := &proxy{Config: c, server: addressOf(c), cutUp: -1, cutDown: -1, open: map[net.Conn]bool{}}
	p.Config = p.listen(t, "127.0.0.1")
	return p
}

// listen adds a route through the proxy, at another address.
func (p *proxy) listen(t testing.TB, host string) mysql.Config {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close(); p.cut() })
	go p.serve(listener)
	c := p.Config
	c.Host, c.Port = host, listener.Addr().(*net.TCPAddr).Port
	return c
}

func addressOf(c mysql.Config) string {
	return (&net.TCPAddr{IP: net.ParseIP(c.Host), Port: c.Port}).String()
}

func (p *proxy) serve(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refuses, to := p.refuses, p.server
		p.mu.Unlock()
		server, err := net.Dial("tcp", to)
		if err != nil || refuses {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		go p.copy(server, client, p.sent)
		go p.copy(client, server, p.answered)
	}
}

// copy forwards as many bytes as pass allows. If these are fewer than it read, it closes both
// connections.
func (p *proxy) copy(to, from net.Conn, pass func([]byte) int) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		some := pass(buffer[:n])
		if _, e := to.Write(buffer[:some]); e != nil || err != nil || some < n {
			return
		}
	}
}

func (p *proxy) sent(text []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for rest := text; len(rest) > 4; { // a command begins with a packet that has the number 0
		size := int(binary.LittleEndian.Uint32(append(append([]byte{}, rest[:3]...), 0)))
		if rest[3] == 0 && rest[4] != 0x01 { // COM_QUIT has no answer
			if p.statement != nil {
				p.statement(rest[4:min(len(rest), 4+size)])
			}
		}
		rest = rest[min(len(rest), 4+size):]
	}
	return p.passes(&p.up, &p.cutUp, len(text))
}

func (p *proxy) answered(text []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passes(&p.down, &p.cutDown, len(text))
}

func (p *proxy) passes(count, limit *int, n int) int {
	before := *count
	*count += n
	if *limit < 0 || *count <= *limit {
		return n
	}
	some := *limit - before
	*limit = -1 // once
	p.cuts++
	p.refuses = p.refuses || p.afterCut
	return max(some, 0)
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close()
	}
	p.open = map[net.Conn]bool{}
}

// moveTo closes all connections, and forwards new ones to another server.
func (p *proxy) moveTo(c mysql.Config) {
	p.mu.Lock()
	p.server = addressOf(c)
	p.mu.Unlock()
	p.cut()
}

// count returns the number of bytes that do sends and receives.
func (p *proxy) count(do func()) (up, down int) {
	p.mu.Lock()
	p.up, p.down = 0, 0
	p.mu.Unlock()
	do()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.up, p.down
}

// cutAfter cuts after that many more bytes; -1 for never.
func (p *proxy) cutAfter(up, down int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up, p.down, p.cutUp, p.cutDown, p.cuts = 0, 0, up, down, 0
}
