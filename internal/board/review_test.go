package board_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"stig/internal/board"
)

// TestEventsOfFilters: a page listens to its full address, with all filters.
func TestEventsOfFilters(t *testing.T) {
	s := serve(t, lines, nil)
	const address = "/issues?all=yes&q=a%26b%3Dc&sort=title"
	_, body := s.browser(t).get(t, address)
	found := regexp.MustCompile(`sse-connect="([^"]*)"`).FindStringSubmatch(body)
	if found == nil {
		t.Fatal(body)
	}
	u, err := url.Parse(html.UnescapeString(found[1]))
	if err != nil || u.Query().Get("at") != address || u.Query().Get("shows") == "" {
		t.Errorf("%s listens to %s: %v", address, found[1], err)
	}
}

// TestSlowSearch: a page loads at once, however slow its search: it says that the search runs,
// and gets the result later.
func TestSlowSearch(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	release := s.board.HoldSearches()
	began := time.Now()
	_, body := c.get(t, "/issues?q=rope")
	if spent := time.Since(began); spent > 5*time.Second {
		t.Errorf("it took %s", spent)
	}
	contains(t, body, "Searching.", `<noscript><meta http-equiv="refresh"`)
	hits, leave := c.listen(t, "/issues?q=rope", "")
	defer leave()
	contains(t, await(t, hits, "rows").data, "Searching.")
	release()
	contains(t, await(t, hits, "rows").data, "1 issue<")

	checks, leave := c.listen(t, "/check", "")
	defer leave()
	contains(t, await(t, checks, "diagnostics").data, "problems in 3 issues")
	// After an edit the last result stays, with its time, until the next one is ready.
	release = s.board.HoldSearches()
	s.ask(t, "ann", "Hemp or steel?")
	contains(t, await(t, checks, "diagnostics").data, "problems in 3 issues at ", "validating again")
	_, body = c.get(t, "/check")
	contains(t, body, "problems in 3 issues at ", "validating again")
	release()
	if last := await(t, checks, "diagnostics"); strings.Contains(last.data, "validating again") {
		t.Error("the old result stays")
	}
}

// TestNames: names given with --host are accepted in any case.
func TestNames(t *testing.T) {
	s := serve(t, lines, func(o *board.Options) { o.Names = []string{"Pier.Example"} })
	c := s.browser(t)
	port := s.base[strings.LastIndexByte(s.base, ':'):]
	for host, want := range map[string]int{"pier.example": 403, "PIER.EXAMPLE": 403, "other.example": 421} { // the cookie is for 127.0.0.1
		if status, _ := c.do(t, "GET", "/", nil, map[string]string{"Host": host + port}); status != want {
			t.Errorf("%s: %d", host, status)
		}
	}
}

// TestTunnel sends requests with another port, as through ssh -L.
func TestTunnel(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	form := url.Values{"secret": {c.secret(t)}, "text": {"Seen from afar."}, "back": {"/"}}
	far := map[string]string{"Host": "127.0.0.1:9000", "Origin": "http://127.0.0.1:9000"}
	if status, body := c.do(t, "POST", "/issues/pier-1/comment", form, far); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	_, body := c.do(t, "GET", "/issues/pier-1", nil, map[string]string{"Host": far["Host"]})
	contains(t, body, "Seen from afar.")
}

// TestTokenIsForOpening: link previews, which use other methods than GET, do not use up the
// token.
func TestTokenIsForOpening(t *testing.T) {
	s := serve(t, lines, nil)
	path := strings.TrimPrefix(s.key(t), s.base)
	for _, method := range []string{"HEAD", "OPTIONS", "POST"} {
		if status, _ := s.stranger(t).do(t, method, path, nil, nil); status != 403 {
			t.Errorf("%s: %d", method, status)
		}
	}
	if status, _ := s.stranger(t).get(t, path); status != 200 {
		t.Errorf("then the token gives %d", status)
	}
}

// TestEnds: a board that stops leaves no goroutine running, neither of event streams nor of
// forms.
func TestEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("board", func(t *testing.T) {
		s := serve(t, strings.Replace(lines, `"priority":1`, `"acceptance_criteria":"~~~verify\nsleep 60\n~~~","priority":1`, 1), nil)
		c := s.browser(t)
		for range 5 {
			_, leave := c.listen(t, "/", "")
			defer leave()
		}
		form := url.Values{"secret": {c.secret(t)}, "back": {"/"}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			r, _ := http.NewRequestWithContext(ctx, "POST", s.base+"/issues/pier-1/verify", strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", s.base)
			if answer, err := c.http.Do(r); err == nil {
				answer.Body.Close()
			}
		}()
		time.Sleep(500 * time.Millisecond)
	})
	http.DefaultClient.CloseIdleConnections()
	for range 1000 {
		if runtime.NumGoroutine() <= before+2 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// TestOddIDs shows issues whose ids have URL syntax or hidden characters.
func TestOddIDs(t *testing.T) {
	for _, id := range []string{"a/b", "a?b", "a#b", "a%2Fb", "a b", `a"b`, "a\u202eb", "a&b=c", "ä-1"} {
		s := serve(t, fmt.Sprintf(`{"id":%q,"title":"odd","status":"open","priority":1,"issue_type":"task"}`+"\n", id), nil)
		c := s.browser(t)
		for _, path := range []string{"/", "/issues", "/graph", "/check"} {
			status, body := c.get(t, path)
			if at := strings.Index(body, "\u202e"); status != 200 || at >= 0 {
				t.Errorf("%q: %s: %d, hidden: %q", id, path, status, body[max(0, at-80):max(0, at)])
			}
		}
		status, body := c.get(t, "/issues/"+url.PathEscape(id))
		if status != 200 || strings.Contains(body, "\u202e") {
			t.Errorf("%q: %d, hidden: %t", id, status, strings.Contains(body, "\u202e"))
		}
		whole := regexp.MustCompile(`<a href="([^"]*)">Show long texts in full`).FindStringSubmatch(body)
		if whole == nil {
			t.Fatalf("%q: %s", id, body)
		}
		if status, body := c.get(t, html.UnescapeString(whole[1])); status != 200 || !strings.Contains(body, "odd") {
			t.Errorf("%q: the whole texts at %s: %d", id, whole[1], status)
		}
		c.form = "/issues/" + url.PathEscape(id)
		if status, body := c.post(t, c.form+"/comment", "text", "heard"); status != 200 || !strings.Contains(body, "heard") {
			t.Errorf("%q: a comment: %d", id, status)
		}
	}
}
