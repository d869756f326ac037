package load

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy stands between programs and a server: it delays what passes, counts round trips,
// and cuts connections as a network does that fails.
type Proxy struct {
	listener net.Listener
	target   string
	delay    atomic.Int64 // of each direction, in nanoseconds
	turns    atomic.Int64
	dialled  atomic.Int64
	cutAfter atomic.Int64 // bytes until the connections are cut; 0 for never

	mu     sync.Mutex
	closed bool // no connection passes
	open   map[net.Conn]bool
}

// NewProxy listens on an address, such as 127.0.0.1:0, for connections to a target, both
// as host:port.
func NewProxy(address, target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, open: map[net.Conn]bool{}}
	go p.accept()
	return p, nil
}

// Port is where it listens.
func (p *Proxy) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// SetRoundTrip sets how long a round trip takes.
func (p *Proxy) SetRoundTrip(d time.Duration) { p.delay.Store(int64(d / 2)) }

// Counted gives the round trips within connections and the connections since it was asked last.
// A connection takes two more: one of TCP, and one for the greeting of the server.
func (p *Proxy) Counted() (turns, connections int) {
	return int(p.turns.Swap(0)), int(p.dialled.Swap(0))
}

// IsIdle reports whether no connection is open, so that Counted has all that was said.
func (p *Proxy) IsIdle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open) == 0
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Cut()
	return err
}

// Cut ends all connections without a word, and refuses those that come until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.open {
		reset(c)
	}
	clear(p.open)
}

// CutAfter cuts as Cut does once so many bytes more came from either side: in the middle
// of what a program says, or of what it is answered.
func (p *Proxy) CutAfter(bytes int) { p.cutAfter.Store(int64(bytes)) }

// IsCut reports whether no connection passes.
func (p *Proxy) IsCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Restore lets connections pass again.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
}

// reset closes a connection so that the other side has no orderly end.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // then it is closed in order
	}
	_ = c.Close()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.pass(client)
	}
}

// add notes a connection; it is ended where none may pass.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		reset(c)
		return false
	}
	p.open[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	_ = c.Close()
}

func (p *Proxy) pass(client net.Conn) {
	if !p.add(client) {
		return
	}
	defer p.drop(client)
	time.Sleep(2 * time.Duration(p.delay.Load())) // of the handshake of TCP
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	if !p.add(server) {
		return
	}
	defer p.drop(server)
	p.dialled.Add(1)
	var answered atomic.Bool // the server spoke last: what the client says next begins a round trip
	ended := make(chan struct{}, 2)
	go func() {
		p.copy(server, client, func(n int) {
			if answered.Swap(false) {
				p.turns.Add(1)
			}
			p.count(n)
		})
		ended <- struct{}{}
	}()
	go func() {
		p.copy(client, server, func(n int) { answered.Store(true); p.count(n) })
		ended <- struct{}{}
	}()
	<-ended
}

// count counts bytes, until the connections are to be cut.
func (p *Proxy) count(n int) {
	if left := p.cutAfter.Load(); left > 0 && p.cutAfter.Add(-int64(n)) <= 0 {
		p.cutAfter.Store(0)
		p.Cut()
	}
}

// chunk is what passes later.
type chunk struct {
	data []byte
	due  <-chan time.Time
}

// copy hands on what comes after the delay, and says how much before it does.
func (p *Proxy) copy(to, from net.Conn, said func(n int)) {
	chunks := make(chan chunk, 4096)
	inOrder := false
	go func() {
		defer close(chunks)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if n > 0 {
				chunks <- chunk{data[:n], time.After(time.Duration(p.delay.Load()))}
			}
			if err != nil {
				inOrder = err == io.EOF
				return
			}
		}
	}()
	broken := false
	for c := range chunks {
		<-c.due
		said(len(c.data))
		if !broken {
			_, err := to.Write(c.data)
			broken = err != nil
		}
	}
	if t, ok := to.(*net.TCPConn); ok && inOrder { // else Cut may have ended from alone so far
		_ = t.CloseWrite() // it may be closed
	}
}
