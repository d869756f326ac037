package board_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"stig/internal/sample"
)

// TestLoad has 200 pages open on a store of 10,000 issues, and wants each page within 100 ms
// and the whole within 150 MB, which are figures of a machine at rest: both are printed, and
// only what is far beyond them fails. The memory is that of the board and of the test, which
// holds the other ends of the connections.
func TestLoad(t *testing.T) {
	if !sample.All() {
		t.Skip("a store of 22 MB: with " + sample.Full + " alone")
	}
	s := serve(t, "", nil)
	file, err := os.Create(s.store())
	if err == nil {
		err = sample.Write(file, 10_000, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	c := s.browser(t)
	c.form = "/issues/" + sample.ID(500)
	at, _ := url.Parse(s.base)
	cookie := c.http.Jar.Cookies(at)[0]
	pages := []string{"/", "/issues", "/issues/" + sample.ID(500), "/graph?around=" + sample.ID(500), "/actors", "/check"}
	for i := range 200 {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /events?at=%s HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", url.QueryEscape(pages[i%len(pages)]), at.Host, cookie.Name, cookie.Value)
	}
	time.Sleep(3 * time.Second)
	took := func(path string) time.Duration {
		began := time.Now()
		if status, body := c.get(t, path); status != 200 {
			t.Fatal(status, body)
		}
		return time.Since(began)
	}
	for _, path := range pages {
		d := took(path)
		for range 4 {
			d = min(d, took(path))
		}
		t.Logf("%s: %s", path, d.Round(time.Millisecond))
		if d > time.Second {
			t.Errorf("%s took %s", path, d)
		}
	}
	began := time.Now()
	if status, body := c.post(t, "/issues/"+sample.ID(500)+"/comment", "text", "anew"); status != 200 {
		t.Fatal(body)
	}
	t.Logf("a comment, with the page after it: %s", time.Since(began).Round(time.Millisecond))
	for _, path := range pages {
		t.Logf("%s after the change: %s", path, took(path).Round(time.Millisecond))
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "VmHWM") {
			t.Log(strings.TrimSpace(line))
		}
	}
	t.Logf("heap in use %d MB, from the system %d MB", memory.HeapInuse>>20, memory.Sys>>20)
	if memory.Sys > 300<<20 {
		t.Errorf("%d MB", memory.Sys>>20)
	}
}
