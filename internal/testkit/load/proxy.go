package load

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy forwards connections between programs and a server: it delays data, counts round trips,
// and cuts connections as a failing network does.
type Proxy struct {
	listener net.Listener
	target   string
	delay    atomic.Int64 // of each direction, in nanoseconds
	turns    atomic.Int64
	dialled  atomic.Int64
	bytes    atomic.Int64
	cutAfter atomic.Int64 // bytes until the connections are cut; 0 for never

	mu     sync.Mutex
	closed bool // reject all connections
	open   map[net.Conn]bool
}

// NewProxy listens on an address, such as 127.0.0.1:0, for connections to a target, both as
// host:port.
func NewProxy(address, target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, open: map[net.Conn]bool{}}
	go p.accept()
	return p, nil
}

// Port returns the port on which it listens.
func (p *Proxy) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// SetRoundTrip sets how long a round trip takes.
func (p *Proxy) SetRoundTrip(d time.Duration) { p.delay.Store(int64(d / 2)) }

// Counted returns the round trips within connections, and the number of connections, since the
// last call. A connection takes two more round trips: TCP, and the server's greeting.
func (p *Proxy) Counted() (turns, connections int) {
	return int(p.turns.Swap(0)), int(p.dialled.Swap(0))
}

// Bytes returns the bytes in both directions since the last call.
func (p *Proxy) Bytes() int { return int(p.bytes.Swap(0)) }

// IsIdle reports whether no connection is open, so that Counted is complete.
func (p *Proxy) IsIdle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open) == 0
}

// Close closes the proxy and its connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Cut()
	return err
}

// Cut resets all connections, and rejects new ones until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.open {
		reset(c)
	}
	clear(p.open)
}

// CutAfter cuts as Cut does after that many more bytes from either side: in the middle of a
// request or of its answer.
func (p *Proxy) CutAfter(bytes int) { p.cutAfter.Store(int64(bytes)) }

// IsCut reports whether connections are cut.
func (p *Proxy) IsCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Restore accepts connections again.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
}

// reset closes a connection with a reset instead of an orderly end.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // it is then closed in order
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

// add registers a connection; it closes the connection if the proxy is cut.
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
	time.Sleep(2 * time.Duration(p.delay.Load())) // of the TCP handshake
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
	var answered atomic.Bool // the server spoke last: the client's next bytes begin a round trip
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

// count counts bytes, and cuts the connections when the limit is reached.
func (p *Proxy) count(n int) {
	p.bytes.Add(int64(n))
	if left := p.cutAfter.Load(); left > 0 && p.cutAfter.Add(-int64(n)) <= 0 {
		p.cutAfter.Store(0)
		p.Cut()
	}
}

// chunk is data to forward later.
type chunk struct {
	data []byte
	due  <-chan time.Time
}

// copy forwards data after the delay, and counts it first.
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
	if t, ok := to.(*net.TCPConn); ok && inOrder { // otherwise Cut may have ended only from so far
		_ = t.CloseWrite() // it may be closed
	}
}
