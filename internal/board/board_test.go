package board_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/internal/board"
	"stig/internal/loop"
	"stig/internal/service"
)

func contains(t *testing.T, body string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(body, want) {
			t.Errorf("not on the page: %s\n%s", want, body)
		}
	}
}

// TestPages checks that every page shows what is in the store.
func TestPages(t *testing.T) {
	s := serve(t, lines, nil)
	hash := s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	c := s.browser(t)
	for _, p := range []struct {
		path   string
		status int
		wants  []string
	}{
		{"/", 200, []string{"Hemp or steel?", "pier-1", "Old rope", "Verified: go test", hash, "ann asked today"}},
		{"/issues", 200, []string{"pier-1", "pier-2", "2 issues"}},
		{"/issues?all=yes&sort=id", 200, []string{"pier-3", "3 issues"}},
		{"/issues?q=rope&all=yes", 200, []string{"pier-1", "pier-3"}},
		{"/issues?status=in_progress", 200, []string{"pier-2", "1 issue"}},
		{"/issues?sort=nothing", 422, []string{"must be one of"}},
		{"/issues/pier-1", 200, []string{"Which rope", "The briefing as an agent gets it", "Hemp or steel?", "Needed by", "waits for your answer, asked today"}},
		{"/issues/1", 200, []string{"Which rope"}},
		{"/issues/pier-1?depth=shallow", 200, []string{`aria-current="true">shallow`}},
		{"/issues/pier-1?depth=nothing", 422, []string{"must be one of"}},
		{"/issues/pier-9", 404, []string{"pier-9"}},
		{"/graph", 200, []string{`<a href="/issues/pier-1">`, "<svg"}},
		{"/graph?around=pier-1&zoom=150", 200, []string{"zoom-150"}},
		{"/actors", 200, []string{"ann"}},
		{"/actors/ann", 200, []string{"last command", "/issues/pier-2"}},
		{"/actors/none", 404, []string{"none: no such actor"}},
		{"/check", 200, []string{"issues"}},
		{"/nothing", 404, []string{"there is no such page"}},
		{"/issues/pier-1/more", 404, []string{"there is no such page"}},
		{"/issues/pier-1/?depth=shallow", 200, []string{`aria-current="true">shallow`}},
		{"/issues/", 200, []string{"Which rope"}},
		{"/issues/pier-1/comment", 200, []string{"Which rope", "What happened"}},
		{"/actors/ann/pause", 200, []string{"last command"}},
		{"/swarm/pier-1", 409, []string{"no swarm is running"}},
		{"/graph?epic=pier-9", 404, []string{"pier-9"}},
		{"/graph?status=open", 200, []string{"1 issue<", "pier-1"}},
	} {
		t.Run(p.path, func(t *testing.T) {
			status, body := c.get(t, p.path)
			if status != p.status {
				t.Errorf("status %d, want %d", status, p.status)
			}
			contains(t, body, p.wants...)
			if strings.Contains(body, "this part cannot be shown") {
				t.Error(body)
			}
			if strings.Contains(p.path, "graph") {
				return
			}
			if len(body) > 100_000 {
				t.Errorf("%d bytes", len(body))
			}
		})
	}
}

// TestSwarmPage shows a swarm before and after its first round is settled.
func TestSwarmPage(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	_, body := c.get(t, "/issues/pier-1")
	if strings.Contains(body, `href="/swarm/`) {
		t.Error("a way to a swarm that is not there")
	}
	s.swarm(t)
	_, body = c.get(t, "/issues/pier-1")
	contains(t, body, `href="/swarm/pier-1"`)
	_, body = c.get(t, "/swarm/pier-1")
	contains(t, body, "round 1 of 10 is running", "steel cable", "0.20", "EXPLORER")
	if _, err := loop.SettleSwarm(t.Context(), s.app("mara").Fresh(t.Context(), "swarm"), loop.SettleSwarmRequest{ID: "pier-1"}); err != nil {
		t.Fatal(err)
	}
	_, body = c.get(t, "/swarm/pier-1")
	contains(t, body, "round 2 of 10 is running", "cable-holds", "&lt;u&gt;", "Report")
	for _, never := range []string{"<u>", "cannot be shown"} {
		if strings.Contains(body, never) {
			t.Errorf("%s in %s", never, body)
		}
	}
}

// TestHostileTexts: no text of an issue becomes active content.
func TestHostileTexts(t *testing.T) {
	s := serve(t, lines+`{"id":"x-2/../../etc","title":"\u202e\u001b[31m","description":"\u202ea \u001b[31m","status":"open","priority":2,"issue_type":"<u>","labels":["<u>","\u202e"],"assignee":"<u>ann</u>"}`+"\n", nil)
	c := s.browser(t)
	if status, _ := c.get(t, "/issues/x-2%2F..%2F..%2Fetc"); status != 200 {
		t.Errorf("an id with slashes: %d", status)
	}
	for _, path := range []string{"/", "/issues/x-2%2F..%2F..%2Fetc", "/actors", "/actors/%3Cu%3Eann%3C%2Fu%3E", "/check", "/issues", "/issues/pier-1", "/issues/pier-2", "/graph", "/issues?q=%3Cscript%3Ealert(1)%3C/script%3E", "/issues?status=%22%3E%3Cscript%3E"} {
		_, body := c.get(t, path)
		for _, bad := range []string{"\u202e", "\x1b", "<u>", "<script>", "href=\"javascript", "<img", "evil.example/x.png\">\n<", `src="http`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %s", path, bad)
			}
		}
	}
}

// TestAnswer: answering a question that changed meanwhile fails with a message, and keeps what
// was typed.
func TestAnswer(t *testing.T) {
	s := serve(t, lines, nil)
	first := s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	a, b := s.browser(t), s.browser(t)
	status, body := a.post(t, "/issues/pier-1/resolve", "question", first, "option", "2", "text", "it lasts", "form", first)
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	contains(t, body, "answered: steel · it lasts", "mara")
	status, body = b.post(t, "/issues/pier-1/resolve", "question", first, "option", "1", "text", "no, hemp", "form", first)
	if status < 400 {
		t.Errorf("the second answer: %d", status)
	}
	contains(t, body, `role="alert"`, "it lasts")
	if text, _ := os.ReadFile(s.store()); strings.Contains(string(text), "no, hemp") {
		t.Error("the second answer is in the store")
	}
	contains(t, body, "You wrote:", "no, hemp")
	second := s.ask(t, "ann", "How thick?")
	status, body = b.post(t, "/issues/pier-1/resolve", "question", second, "option", "7", "text", "as thick as it gets", "form", second)
	if status < 400 {
		t.Errorf("an option that there is not: %d", status)
	}
	contains(t, body, "as thick as it gets</textarea>")
}

// TestWithdrawn: answering a withdrawn question fails with a message, and keeps what was typed.
func TestWithdrawn(t *testing.T) {
	s := serve(t, lines, nil)
	hash := s.ask(t, "ann", "Hemp or steel?")
	c := s.browser(t)
	answering, err := service.OpenQuestion(t.Context(), s.app("ann").Fresh(t.Context(), "escalate"), "pier-1", false)
	if err == nil {
		_, err = answering.Resolve(t.Context(), checkpoint.Answer{Question: hash, Text: "the old rope says", Withdraw: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	status, body := c.post(t, "/issues/pier-1/resolve", "question", hash, "text", "hemp", "form", hash)
	if status != 409 {
		t.Errorf("status %d", status)
	}
	contains(t, body, `role="alert"`, "withdrawn", "You wrote:", "the old rope says")
}

// TestBroken: if the store cannot be read, a new page shows the error and reloads itself, and
// an open page shows the error and recovers.
func TestBroken(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	events, leave := c.listen(t, "/", "")
	defer leave()
	await(t, events, "trouble") // the initial page: without Last-Event-ID all parts are sent
	if err := os.Remove(s.store()); err != nil {
		t.Fatal(err)
	}
	contains(t, await(t, events, "trouble").data, `role="alert"`, "no .beads store found")
	status, body := c.get(t, "/")
	if status != 503 && status != 422 && status != 404 {
		t.Errorf("status %d", status)
	}
	contains(t, body, `role="alert"`)
	if err := os.WriteFile(s.store(), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	if e := await(t, events, "trouble"); strings.Contains(e.data, "alert") {
		t.Errorf("after it is back: %s", e.data)
	}
}

// TestBounded: pages stay below 100 kB with a MB of notes, titles, traces and questions.
func TestBounded(t *testing.T) {
	var text strings.Builder
	big := strings.Repeat("<b>word</b> ", 12_500)
	fmt.Fprintf(&text, `{"id":"pier-1","title":%q,"description":%q,"notes":%q,"status":"in_progress","assignee":"ann","priority":1,"issue_type":"task"}`+"\n", big[:100_000], big, strings.Repeat(big, 2))
	for i := range 60 {
		fmt.Fprintf(&text, `{"id":"quay-%d","title":%q,"status":"open","priority":1,"issue_type":%q}`+"\n", i, big[:2000], big[:2000])
	}
	s := serve(t, text.String(), nil)
	for _, n := range []int{2000, 2001} {
		s.ask(t, "ann", strings.Repeat("why <i>so</i> ", n))
	}
	c := s.browser(t)
	for _, path := range []string{"/", "/issues", "/issues?as=columns", "/issues?q=word", "/issues/pier-1", "/actors", "/actors/ann", "/check"} {
		began := time.Now()
		status, body := c.get(t, path)
		t.Logf("%s: %d bytes in %s", path, len(body), time.Since(began))
		if status != 200 || len(body) > 100_000 {
			t.Errorf("%s: %d, %d bytes", path, status, len(body))
		}
	}
}

// TestActs: forms do what their commands do, and get the same errors.
func TestActs(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	for _, f := range []struct {
		path, want string
		fields     []string
		refused    bool
	}{
		{"/issues/pier-1/claim", `"assignee":"mara"`, nil, false},
		{"/issues/pier-1/checkpoint", "half of the rope", []string{"surprise", "0.4", "progress", "implementing", "done", "half of the rope"}, false},
		{"/issues/pier-1/checkpoint", "", []string{"surprise", "7", "form", "checkpoint"}, true},
		{"/issues/pier-1/comment", "a comment of mine", []string{"text", "a comment of mine"}, false},
		{"/issues/pier-1/comment", "", []string{"text", ""}, true},
		{"/issues/pier-1/release", `"id":"pier-1","title":"Which rope"`, nil, false},
		{"/issues/pier-3/reopen", "it tore again", []string{"text", "it tore again"}, false},
		{"/issues/pier-2/verify", "", nil, true},
		{"/issues/pier-9/claim", "", nil, true},
		{"/actors/none/pause", "", nil, true},
	} {
		status, body := c.post(t, f.path, f.fields...)
		if f.path == "/actors/none/pause" && status != 404 {
			t.Errorf("an unknown actor: %d", status)
		}
		if refused := status >= 400; refused != f.refused {
			t.Errorf("%s %v: status %d\n%s", f.path, f.fields, status, body)
		}
		text, err := os.ReadFile(s.store())
		if err != nil || !strings.Contains(string(text), f.want) {
			t.Errorf("%s: the store does not hold %s: %v", f.path, f.want, err)
		}
	}
}

// TestDoor lists requests that must be rejected.
func TestDoor(t *testing.T) {
	s := serve(t, lines, nil)
	used := s.key(t)
	c := s.browser(t)
	secret := c.secret(t)
	form := url.Values{"secret": {secret}, "text": {"forged"}, "back": {"/"}}
	port := s.base[strings.LastIndexByte(s.base, ':')+1:]
	for _, f := range []struct {
		name   string
		do     func() (int, string)
		status int
	}{
		{"without a cookie", func() (int, string) { return s.stranger(t).get(t, "/") }, 403},
		{"with a token that was used", func() (int, string) { return s.stranger(t).get(t, strings.TrimPrefix(used, s.base)) }, 403},
		{"with a token that is made up", func() (int, string) { return s.stranger(t).get(t, "/?token=AAAA") }, 403},
		{"another name of this machine (rebinding)", func() (int, string) {
			return c.do(t, "GET", "/", nil, map[string]string{"Host": "evil.example:" + port})
		}, 421},
		{"a form of another port of this machine", func() (int, string) {
			return c.do(t, "POST", "/issues/pier-1/comment", form, map[string]string{"Origin": "http://127.0.0.1:1"})
		}, 403},
		{"a form without an origin", func() (int, string) {
			return c.do(t, "POST", "/issues/pier-1/comment", form, map[string]string{"Origin": ""})
		}, 403},
		{"a form of another origin", func() (int, string) {
			return c.do(t, "POST", "/issues/pier-1/comment", form, map[string]string{"Origin": "http://evil.example"})
		}, 403},
		{"a form of the null origin", func() (int, string) {
			return c.do(t, "POST", "/issues/pier-1/comment", form, map[string]string{"Origin": "null"})
		}, 403},
		{"a form without the secret", func() (int, string) {
			return c.do(t, "POST", "/issues/pier-1/comment", url.Values{"text": {"forged"}}, nil)
		}, 403},
		{"a form with the secret of another browser", func() (int, string) {
			return s.browser(t).do(t, "POST", "/issues/pier-1/comment", form, nil)
		}, 403},
		{"a form in another encoding", func() (int, string) {
			return c.do(t, "POST", "/issues/pier-1/comment", form, map[string]string{"Content-Type": "text/plain"})
		}, 415},
		{"a form that is too long", func() (int, string) {
			return c.do(t, "POST", "/issues/pier-1/comment", url.Values{"secret": {secret}, "text": {strings.Repeat("x", 70<<10)}}, nil)
		}, 413},
		{"an act that there is not", func() (int, string) { return c.do(t, "POST", "/issues/pier-1/delete", form, nil) }, 405},
		{"a file outside", func() (int, string) { return c.get(t, "/static/..%2fboard.go") }, 400},
		{"a file beside", func() (int, string) { return c.get(t, "/static/README.md") }, 404},
		{"the folder", func() (int, string) { return c.get(t, "/static/") }, 404},
		{"another page's address", func() (int, string) { return c.get(t, "/events?at=//evil.example/") }, 404},
	} {
		t.Run(f.name, func(t *testing.T) {
			if status, body := f.do(); status != f.status {
				t.Errorf("status %d, want %d: %s", status, f.status, body)
			}
		})
	}
	if text, _ := os.ReadFile(s.store()); strings.Contains(string(text), "forged") {
		t.Error("a forged form was written")
	}
	// A form redirects only to pages of the board.
	for _, back := range []string{"//evil.example/", "http://evil.example/", "/\\evil.example", "/nothing"} {
		c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		r, _ := http.NewRequest("POST", s.base+"/issues/pier-1/comment", strings.NewReader(url.Values{"secret": {secret}, "text": {"hello " + back}, "back": {back}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", s.base)
		answer, err := c.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if to := answer.Header.Get("Location"); answer.StatusCode != 303 || to != "/" {
			t.Errorf("back %q leads to %d %q", back, answer.StatusCode, to)
		}
	}
}

// TestPhone: at an address for other machines, a token is spent by the button, and not by a
// program that opens the link to preview it.
func TestPhone(t *testing.T) {
	s := serve(t, lines, func(o *board.Options) { o.Local = false })
	host := "192.0.2.7:8080"
	far := map[string]string{"Host": host, "Origin": "https://" + host, "X-Forwarded-Proto": "https"}
	path := strings.TrimPrefix(s.key(t), s.base)
	token := strings.TrimPrefix(path, "/?token=")
	c := s.stranger(t)
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for range 2 {
		status, body := c.do(t, "GET", path, nil, far)
		if contains(t, body, "Open on this phone", `method="post"`); status != 200 || strings.Contains(body, "pier") {
			t.Errorf("a preview gets %d %s", status, body)
		}
	}
	if status, _ := c.do(t, "GET", "/static/style.css?token="+token, nil, far); status != 200 {
		t.Errorf("the style of the page with the button: %d", status)
	}
	for name, header := range map[string]map[string]string{
		"another site":                {"Host": host, "Origin": "https://evil.example"},
		"no page":                     {"Host": host, "Origin": ""},
		"another port of the machine": {"Host": host, "Origin": "https://192.0.2.7:1"},
	} {
		if status, _ := c.do(t, "POST", path, url.Values{}, header); status != 403 {
			t.Errorf("the button of %s: %d", name, status)
		}
	}
	r, _ := http.NewRequestWithContext(t.Context(), "POST", s.base+path, nil)
	r.Host = host
	r.Header.Set("Origin", "https://"+host)
	r.Header.Set("X-Forwarded-Proto", "https")
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 303 || answer.Header.Get("Location") != "/" || len(answer.Cookies()) != 1 || !answer.Cookies()[0].Secure {
		t.Errorf("the button: %d %v", answer.StatusCode, answer.Header)
	}
	if status, body := c.do(t, "POST", path, url.Values{}, far); status != 403 || !strings.Contains(body, "already used") {
		t.Errorf("the button a second time: %d %s", status, body)
	}
	if status, _ := c.do(t, "GET", "/static/style.css?token="+token, nil, far); status != 403 {
		t.Errorf("the style with a token that was used: %d", status)
	}
}

// TestHeaders: each response forbids what no page needs, and the address no longer contains the
// token.
func TestHeaders(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.stranger(t)
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := c.http.Get(s.key(t))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if to := answer.Header.Get("Location"); to != "/" || answer.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("leads to %q with %v", to, answer.Header)
	}
	cookie := answer.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode {
		t.Errorf("cookie %v", cookie)
	}
	policy := answer.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "form-action 'self'"} {
		if !strings.Contains(policy, want) || strings.Contains(policy, "unsafe") {
			t.Errorf("policy %s", policy)
		}
	}
}

// TestReadOnly: a read-only board accepts no changes, and a board for other machines accepts
// only answers and comments.
func TestReadOnly(t *testing.T) {
	reading := serve(t, lines, func(o *board.Options) { o.Write, o.Local = false, false })
	c := reading.browser(t)
	_, body := c.get(t, "/issues/pier-1")
	if strings.Contains(body, `method="post"`) {
		t.Error("a form is on the page")
	}
	for _, path := range []string{"/issues/pier-1/comment", "/issues/pier-1/resolve", "/actors/ann/pause"} {
		if status, _ := c.do(t, "POST", path, url.Values{"text": {"x"}}, nil); status < 400 {
			t.Errorf("%s: %d", path, status)
		}
	}
	far := serve(t, lines, func(o *board.Options) { o.Local = false })
	c = far.browser(t)
	if status, body := c.post(t, "/issues/pier-1/comment", "text", "from afar"); status != 200 {
		t.Errorf("comment: %d %s", status, body)
	}
	for _, path := range []string{"/issues/pier-1/claim", "/issues/pier-1/verify", "/issues/pier-1/checkpoint", "/actors/ann/pause"} {
		if status, _ := c.post(t, path); status != 405 {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// event is an event sent to a page.
type event struct{ name, id, data string }

// listen opens the event stream of a page; last is its Last-Event-ID.
func (c *client) listen(t *testing.T, address, last string) (<-chan event, func()) {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), "GET", c.base+"/events?at="+url.QueryEscape(address), nil)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	patient := *c.http
	patient.Timeout = 0
	answer, err := patient.Do(r)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%v, %v", answer, err)
	}
	events := make(chan event, 100)
	go func() {
		defer close(events)
		var e event
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 10<<20)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case lines.Text() == "" && e.name != "":
				events <- e
				e = event{}
			case key == "event":
				e.name = value
			case key == "id":
				e.id = value
			case key == "data":
				e.data += value + "\n"
			}
		}
	}()
	return events, func() { answer.Body.Close() }
}

// await returns the next event of a name.
func await(t *testing.T, events <-chan event, name string) event {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("the connection ended before %s came", name)
			}
			if e.name == name {
				return e
			}
		case <-late:
			t.Fatalf("%s did not come", name)
		}
	}
}

// TestEvents: an open page gets what changes on it; after a reconnect it gets what changed
// meanwhile.
func TestEvents(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	events, leave := c.listen(t, "/issues/pier-1", "")
	var last event
	for last = range events {
		if last.id != "" {
			break
		}
	}
	if status, body := c.post(t, "/issues/pier-1/comment", "text", "seen at once"); status != 200 {
		t.Fatal(body)
	}
	e := await(t, events, "timeline")
	contains(t, e.data, "seen at once")
	leave()
	hash := s.ask(t, "ann", "Hemp or steel?")
	again, leave := c.listen(t, "/issues/pier-1", last.id)
	defer leave()
	e = await(t, again, "waits")
	contains(t, e.data, "Hemp or steel?", hash, c.secret(t))
}
