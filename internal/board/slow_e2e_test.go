//go:build e2e

package board_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"stig/internal/board"
)

// TestSlowForm sends a form whose work takes longer than the write timeout, which starts with
// the response.
func TestSlowForm(t *testing.T) {
	t.Parallel()
	const left = 1500 * time.Millisecond // of the 10 s, by a late clock
	s := serve(t, strings.Replace(lines, `"priority":1`, `"acceptance_criteria":"~~~verify\nsleep 2\n~~~","priority":1`, 1), func(o *board.Options) {
		o.Run.Now = func() time.Time { return time.Now().Add(left - 10*time.Second) }
	})
	c := s.browser(t)
	form := url.Values{"secret": {c.secret(t)}, "back": {"/"}}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if status, body := c.do(t, "POST", "/issues/pier-1/verify", form, nil); status != http.StatusSeeOther {
		t.Errorf("%d %s", status, body)
	}
}

// TestSlowBrowsers: many open pages, some of which read nothing, do not block others.
func TestSlowBrowsers(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	at, _ := url.Parse(s.base)
	cookie := c.http.Jar.Cookies(at)[0]
	for range 200 {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /events?at=/ HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", at.Host, cookie.Name, cookie.Value)
	}
	start := time.Now()
	if status, body := c.post(t, "/issues/pier-1/comment", "text", "not held up"); status != 200 {
		t.Fatal(body)
	}
	if spent := time.Since(start); spent > 10*time.Second {
		t.Errorf("a form took %s", spent)
	}
	for range 60 { // more than the board has slots
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /events?at=/ HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", at.Host, cookie.Name, cookie.Value)
	}
	var status int
	for end := time.Now().Add(20 * time.Second); status != http.StatusServiceUnavailable && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		status, _ = c.get(t, "/") // a busy machine takes seconds to admit all
		// Meanwhile the browser has a slot, for which another page was rejected.
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /events?at=/ HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", at.Host, cookie.Name, cookie.Value)
	}
	if status != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", status)
	}
	if status, _ := s.stranger(t).get(t, "/"); status != http.StatusForbidden {
		t.Errorf("a stranger, who takes no place: %d", status)
	}
}
