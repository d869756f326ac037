//go:build e2e

package load_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stig/internal/testkit/load"
	"stig/internal/testkit/servers"
)

// TestProxy runs a server that answers each line with a line, through the proxy.
func TestProxy(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				fmt.Fprintln(c, "welcome")
				for lines := bufio.NewScanner(c); lines.Scan(); {
					fmt.Fprintln(c, lines.Text())
				}
			}()
		}
	}()
	p, err := load.NewProxy("127.0.0.1:0", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.SetRoundTrip(40 * time.Millisecond)
	dial := func() (net.Conn, *bufio.Reader, error) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.Port()))
		if err != nil {
			return nil, nil, err
		}
		t.Cleanup(func() { _ = c.Close() })
		return c, bufio.NewReader(c), nil
	}
	start := time.Now()
	c, r, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for range 4 {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		said += line
		fmt.Fprintln(c, "tide")
	}
	if took, least := time.Since(start), 180*time.Millisecond; said != "welcome\ntide\ntide\ntide\n" || took < least {
		t.Errorf("%q after %s, want more than %s", said, took, least)
	}
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if turns, connections := p.Counted(); turns != 4 || connections != 1 {
		t.Errorf("%d round trips in %d connections, want 4 in 1", turns, connections)
	}
	open := []*bufio.Reader{r} // many, since Cut ends one side of a connection before the other
	for range 20 {
		_, r, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, r)
	}
	for _, r := range open[1:] {
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	p.CutAfter(3)
	fmt.Fprintln(c, "storm")
	for _, r := range open {
		for err = nil; err == nil; {
			_, err = r.ReadString('\n')
		}
		if err == io.EOF {
			t.Error("a connection ended in order")
		}
	}
	if _, r, err = dial(); err == nil { // otherwise it was ended before the caller knew that it existed
		if line, err := r.ReadString('\n'); err == nil {
			t.Errorf("read %q through a proxy that was cut", line)
		}
	}
	p.Restore()
	if _, r, err = dial(); err != nil {
		t.Fatal(err)
	}
	if line, err := r.ReadString('\n'); err != nil || line != "welcome\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// TestCut cuts the network between writers and a server, again and again, at some byte of an
// edit. The writers' answers are true, and the store has every acknowledged edit.
func TestCut(t *testing.T) {
	for _, kind := range []string{servers.MariaDB, servers.Galera, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			testCut(t, kind)
		})
	}
}

func testCut(t *testing.T, kind string) {
	const writers = 4
	plan := load.Plan{Writers: writers, Each: 40, Pairs: 5, Shared: 10, Beside: 0}
	s := servers.Need(t, kind)
	direct := where{Config: s.Database("cut")}
	if err := direct.fill(plan.Text(), load.Prefix); err != nil {
		t.Fatal(err)
	}
	proxy, err := load.NewProxy("127.0.0.1:0", fmt.Sprintf("127.0.0.1:%d", s.Config.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	through := direct
	through.Config.Port = proxy.Port()
	logs, began := t.TempDir(), time.Now()
	var busy atomic.Int32
	busy.Store(writers)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			defer busy.Add(-1)
			store := through.open() // its own connections
			defer closeStore(store)
			if err := writer(store, plan, w, *writes/writers, logOf(logs, w)); err != nil {
				t.Error(err)
			}
		})
	}
	cuts := 0
	for busy.Load() > 0 {
		// Short and long: if no connection lived longer than 60 kB, a large store could no
		// longer be read.
		proxy.CutAfter(1 + rand.IntN(256<<rand.IntN(12)))
		for busy.Load() > 0 && !proxy.IsCut() {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(rand.N(50 * time.Millisecond))
		proxy.Restore()
		cuts++
	}
	group.Wait()
	v := judge(t, plan, direct, logs)
	t.Logf("%s: %d writes acknowledged in %s, the network cut %d times; not acknowledged: %d refused, %d of unknown end (%d made); lost %d, half %d, twice %d, false answers %d",
		kind, v.Done, time.Since(began).Round(time.Second), cuts, v.Refused, v.Unknown, v.Made, v.Lost, v.Half, v.Twice, v.False)
	if v.Done < *writes/2 || cuts < 5 {
		t.Error("so little happened that nothing is proved")
	}
}
