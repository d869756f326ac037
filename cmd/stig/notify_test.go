package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/service"
	"stig/internal/workspace"
)

// listener is a server on loopback that records its requests, one a line.
type listener struct {
	server *httptest.Server
	mu     sync.Mutex
	bodies []string
	held   chan struct{} // closed to release requests that hang
}

// listen starts a server: "ok" accepts, "refuse" answers 503, "hang" does not answer, "away"
// redirects to another scheme, and "unknown" has an untrusted certificate.
func listen(how string) *listener {
	l := &listener{held: make(chan struct{})}
	start := httptest.NewServer
	if how == "unknown" {
		start = httptest.NewTLSServer
	}
	l.server = start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		l.bodies = append(l.bodies, r.Method+" "+string(body))
		l.mu.Unlock()
		switch how {
		case "refuse":
			http.Error(w, "no", http.StatusServiceUnavailable)
		case "away":
			http.Redirect(w, r, "https://"+r.Host+"/", http.StatusTemporaryRedirect)
		case "hang":
			<-l.held
		}
	}))
	return l
}

func (l *listener) close() {
	close(l.held)
	l.server.Close()
}

func (l *listener) text() (text string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, body := range l.bodies {
		text += body + "\n"
	}
	return text, len(l.bodies)
}

// until polls for at most five seconds, the timeout of a notification.
func until(done func() bool) bool {
	for range 2000 {
		if done() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// serves starts a server and writes its URL into a configuration file: serves ok file.
func serves(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serves ok|refuse|hang|away file")
	}
	l := listen(args[0])
	ts.Defer(l.close)
	*ts.Value("listener").(**listener) = l
	path := ts.MkAbs(args[1])
	ts.Setenv("SERVER", l.server.URL)
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, []byte(`{"notify": {"url": "`+l.server.URL+`/token-of-mine", "topic": "harbour"}}`), 0o644))
}

// heard waits until the last server has this many requests, and writes them to a file: heard 2
// file.
func heard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: heard n file")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	l := *ts.Value("listener").(**listener)
	enough := func() bool {
		_, n := l.text()
		return n >= want
	}
	until(enough)
	text, n := l.text()
	if n != want {
		ts.Fatalf("%d requests, want %d:\n%s", n, want, text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// holds waits until a file contains a text: holds file text.
func holds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: holds file text")
	}
	var text []byte
	if !until(func() bool {
		text, _ = os.ReadFile(ts.MkAbs(args[0]))
		return strings.Contains(string(text), args[1])
	}) {
		ts.Fatalf("%s does not hold %q but %q", args[0], args[1], text)
	}
}

// quick runs stig and checks that it ends before the timeout of a notification: quick escalate
// demo-1 -m why.
func quick(ts *testscript.TestScript, neg bool, args []string) {
	start := time.Now()
	ts.Check(ts.Exec("stig", args...))
	if took := time.Since(start); took >= service.Telling {
		ts.Fatalf("stig %s took %s", strings.Join(args, " "), took)
	}
}

// TestDeliver checks the limits of delivery: the log of a failure contains no URL, the mark is
// removed if all targets failed, and everything has a timeout.
func TestDeliver(t *testing.T) {
	down := listen("ok")
	down.close()
	tests := []struct {
		name, how string
		command   []string
		fails     string // "" if a target was notified
		marked    bool
	}{
		{"taken", "ok", nil, "", true},
		{"refused", "refuse", nil, "answered 503 Service Unavailable", false},
		{"silent", "hang", nil, "no answer within 5s", false},
		{"leads to another scheme", "away", nil, "redirects from http to https; not followed", false},
		{"not who it says", "unknown", nil, "certificate", false},
		{"down", "", nil, "connect", false},
		{"one of two", "refuse", []string{"true"}, "answered 503", true},
		{"a command that fails", "ok", []string{"sh", "-c", "echo secret-word >&2; exit 3"}, "sh: exit 3", true},
		{"a command that is not there", "refuse", []string{"no-such-program-here"}, "no-such-program-here", false},
		{"a command that stays", "refuse", []string{"sleep", "60"}, "sleep: timed out after 5s", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := service.Delivery{Dir: dir, Log: filepath.Join(dir, "log"), Mark: filepath.Join(dir, "notified", "mark")}
			p.To = workspace.Notifications{URL: down.server.URL, Command: test.command}
			if test.how != "" {
				l := listen(test.how)
				t.Cleanup(l.close)
				p.To.URL = strings.Replace(l.server.URL, "://", "://mara:secret-word@", 1) + "/secret-word"
			}
			p.Notice = service.Notice{Event: service.EventAsked, ID: "t-1", Time: "2026-11-20T09:00:00Z"}
			if err := p.Claim(); err != nil {
				t.Fatal(err)
			}
			if err := p.Claim(); !errors.Is(err, os.ErrExist) {
				t.Errorf("claimed twice: %v", err)
			}
			limit := 10 * time.Second // for a busy machine
			if strings.Contains(test.fails, "within 5s") {
				limit = 300 * time.Millisecond
			}
			ctx, done := context.WithTimeout(context.Background(), limit)
			defer done()
			err := p.Deliver(ctx, os.Environ())
			log, _ := os.ReadFile(p.Log)
			if test.fails == "" && (err != nil || log != nil) {
				t.Errorf("%v, log %q", err, log)
			}
			if test.fails != "" && (err == nil || !strings.Contains(string(log), "2026-11-20T09:00:00Z escalation-pending t-1: ") || !strings.Contains(string(log), test.fails)) {
				t.Errorf("%v, log %q, want %q", err, log, test.fails)
			}
			if strings.Contains(string(log), "secret-word") {
				t.Errorf("the log holds a secret: %s", log)
			}
			if _, err := os.Stat(p.Mark); (err == nil) != test.marked {
				t.Errorf("mark: %v, want one: %v", err, test.marked)
			}
		})
	}
}

// TestNotifyLogIsBounded fills the log of failures.
func TestNotifyLogIsBounded(t *testing.T) {
	p := service.Delivery{Log: filepath.Join(t.TempDir(), "log")}
	if err := os.WriteFile(p.Log, []byte(strings.Repeat("an old line\n", service.LogLimit/12)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.LogFailure(errors.New("the last word")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.Log)
	if err != nil || len(text) > service.LogLimit || !strings.HasPrefix(string(text), "an old line\n") || !strings.HasSuffix(string(text), "the last word\n") {
		t.Errorf("%v: %d bytes, %.40q", err, len(text), text)
	}
}

// TestOldMarksGo: marks of old events are removed.
func TestOldMarksGo(t *testing.T) {
	dir := t.TempDir()
	for name, days := range map[string]int{"old": 91, "known": 89, "new": 0} {
		made := time.Now().AddDate(0, 0, -days)
		p := service.Delivery{Mark: filepath.Join(dir, name)}
		if err := errors.Join(p.Claim(), os.Chtimes(p.Mark, made, made)); err != nil {
			t.Fatal(err)
		}
	}
	if err := (service.Delivery{Mark: filepath.Join(dir, "newest")}).Claim(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 3 || filepath.Base(left[0]) != "known" {
		t.Errorf("left %q: %v", left, err)
	}
	if err := (service.Delivery{Mark: left[0]}).Claim(); !errors.Is(err, os.ErrExist) {
		t.Errorf("what was notified is notified again: %v", err)
	}
}

// TestLongestNoticeIsPassed checks that the longest delivery has at most 16 KiB.
func TestLongestNoticeIsPassed(t *testing.T) {
	control := strings.Repeat("\x01", 5000)
	p := service.Delivery{To: workspace.Notifications{URL: "https://" + strings.Repeat("u", 1000)}, Dir: t.TempDir(), Mark: strings.Repeat("m", 1000), Log: strings.Repeat("l", 1000)}
	p.Notice = service.Notice{Event: service.EventAsked, ID: "t-1", Title: control, Message: control}.Bounded()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if most := 16 << 10; len(text) > most {
		t.Errorf("%d bytes, want at most %d", len(text), most)
	}
}
