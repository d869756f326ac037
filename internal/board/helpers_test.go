package board_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/board"
	"stig/internal/loop"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/testkit/sample"
	"stig/internal/workspace"
)

// lines is a small store with hostile texts.
const lines = `{"id":"pier-1","title":"Which rope","description":"See [here](javascript:alert(1)) <script>alert(2)</script> ![p](http://evil.example/x.png)","status":"open","priority":1,"issue_type":"task","created_at":"2026-11-10T09:00:00Z","updated_at":"2026-11-10T09:00:00Z"}
{"id":"pier-2","title":"<img src=x onerror=alert(1)>","status":"in_progress","priority":2,"issue_type":"task","assignee":"ann","created_at":"2026-11-10T09:00:00Z","updated_at":"2026-11-19T09:00:00Z","dependencies":[{"issue_id":"pier-2","depends_on_id":"pier-1","type":"blocks"}]}
{"id":"pier-3","title":"Old rope","status":"closed","priority":2,"issue_type":"task","created_at":"2026-11-10T09:00:00Z","updated_at":"2026-11-20T08:00:00Z","closed_at":"2026-11-20T08:00:00Z","close_reason":"Verified: go test ./... passed"}
`

// served is a board in a test.
type served struct {
	base, dir string
	now       string // "" for the system's time
	edits     int    // by another process
	mu        sync.Mutex
	paths     []string // that admit a browser
	board     *board.Board
	app       func(actor string) *workspace.Run
	end       func()
	ended     atomic.Bool // by the test; pages may then be disconnected
}

// serve serves a store until the test ends.
func serve(t testing.TB, text string, change func(*board.Options)) *served {
	t.Helper()
	s := &served{dir: t.TempDir(), now: "2026-11-20T09:00:00Z"}
	if err := os.MkdirAll(filepath.Join(s.dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.store(), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	s.app = func(actor string) *workspace.Run {
		env := map[string]string{"STIG_NOW": s.now, "STIG_ACTOR": actor, "STIG_TRUST": "1", "PATH": os.Getenv("PATH")}
		in := func() (string, error) { return home, nil }
		return &workspace.Run{
			Getenv: func(name string) string { return env[name] }, Env: os.Environ, HomeDir: in, ConfigDir: in,
			Now: time.Now, Schema: cue.Embedded(), Say: func(workspace.Level, string) {}, Ctx: t.Context(), Running: "test", Dir: s.dir,
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.base = "http://" + l.Addr().String()
	o := board.Options{Run: s.app("mara"), Write: true, Local: true, Invite: func(path string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.paths = append(s.paths, path)
	}}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s.end = func() { s.ended.Store(true); cancel() }
	s.board = board.New(o)
	go func() { done <- s.board.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *served) store() string { return filepath.Join(s.dir, ".beads", "issues.jsonl") }

// key returns the address that admits the next browser.
func (s *served) key(t testing.TB) string {
	t.Helper()
	for range 2000 {
		s.mu.Lock()
		n := len(s.paths)
		path := ""
		if n > 0 {
			path = s.paths[n-1]
		}
		s.mu.Unlock()
		if path != "" {
			return s.base + path
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nobody was invited")
	return ""
}

// browser returns a client that was admitted.
func (s *served) browser(t testing.TB) *client {
	t.Helper()
	c := s.stranger(t)
	if status, _ := c.get(t, strings.TrimPrefix(s.key(t), s.base)); status != http.StatusOK {
		t.Fatalf("the door answers %d", status)
	}
	return c
}

// stranger returns a client that was not admitted.
func (s *served) stranger(t testing.TB) *client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &client{http: &http.Client{Jar: jar, Timeout: 20 * time.Second}, base: s.base, form: "/issues/pier-1"}
}

type client struct {
	http *http.Client
	base string
	form string // a page with a form
}

func (c *client) get(t testing.TB, path string) (status int, body string) {
	t.Helper()
	return c.do(t, http.MethodGet, path, nil, nil)
}

// ready returns a page once its searches have ended.
func (c *client) ready(t testing.TB, path string) (body string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		status, body := c.get(t, path)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		if !strings.Contains(body, `http-equiv="refresh"`) || time.Now().After(end) {
			return body
		}
	}
}

// do sends a request. header overrides what a browser would send.
func (c *client) do(t testing.TB, method, path string, form url.Values, header map[string]string) (status int, body string) {
	t.Helper()
	var text io.Reader
	if form != nil {
		text = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(t.Context(), method, c.base+path, text)
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", c.base)
	}
	for name, value := range header {
		if name == "Host" {
			r.Host = value
		}
		if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(all)
}

// secret returns the secret in the forms of a page.
func (c *client) secret(t testing.TB) string {
	t.Helper()
	_, body := c.get(t, c.form)
	found := regexp.MustCompile(`name="secret" value="([0-9a-f]+)"`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("no form on the page:\n%s", body)
	}
	return found[1]
}

// post sends a form as its page would.
func (c *client) post(t testing.TB, path string, fields ...string) (status int, body string) {
	t.Helper()
	form := url.Values{"secret": {c.secret(t)}, "back": {c.form}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return c.do(t, http.MethodPost, path, form, nil)
}

// ask adds a question on pier-1 and returns its hash.
func (s *served) ask(t testing.TB, actor, text string, options ...string) string {
	t.Helper()
	return s.askOn(t, "pier-1", actor, text, options...)
}

// askOn adds a question on an issue and returns its hash.
func (s *served) askOn(t testing.TB, id, actor, text string, options ...string) string {
	t.Helper()
	a := s.app(actor).Fresh(t.Context(), "escalate")
	r := service.EscalateRequest{ID: id}
	r.Question.Text, r.Question.Options = text, options
	asked, err := service.Escalate(t.Context(), a, r)
	if err != nil {
		t.Fatal(err)
	}
	return asked.Asked
}

// swarm starts a swarm on pier-1 in which two explorers leave findings.
func (s *served) swarm(t testing.TB) {
	t.Helper()
	if _, err := loop.StartSwarm(t.Context(), s.app("mara").Fresh(t.Context(), "swarm"), loop.StartSwarmRequest{ID: "pier-1", Agents: []string{"cy", "di"}, Force: true}); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"cy", "di"} {
		for _, o := range []swarm.Operation{
			{Kind: swarm.Deposit, Direction: "steel cable"},
			{Kind: swarm.Find, Direction: "steel cable", Idea: "cable-holds", Perspective: "cost", Details: "A cable <u>holds</u>, says " + agent},
			{Kind: swarm.Stop, Target: "hemp", Reason: "contradictory_evidence", Evidence: "It rots"},
		} {
			if _, err := loop.ActInSwarm(t.Context(), s.app(agent).Fresh(t.Context(), "swarm"), loop.SwarmAct{ID: "pier-1", Operation: o}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// clone makes the directory of the store a git clone, with everything committed.
func (s *served) clone(t testing.TB) {
	t.Helper()
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "mara"}, {"config", "user.email", "mara@pier.example"}, {"add", "-A"}, {"commit", "-q", "-m", "begin"}} {
		if out, err := exec.Command("git", append([]string{"-C", s.dir}, argv...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", argv, err, out)
		}
	}
}

// If this variable is set, the test binary does what it names instead of testing.
const (
	asAnother = "BOARD_TEST_AS"
	isEditor  = "editor" // see editor
	isAsker   = "asker"  // see asker
)

func TestMain(m *testing.M) {
	switch as := os.Getenv(asAnother); as {
	case "":
		sample.Overlap()
		os.Exit(m.Run())
	case isEditor:
		ended(editor(os.Args[1], os.Args[2]))
	case isAsker:
		ended(asker())
	}
}

func ended(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// another runs the test binary as another process.
func (s *served) another(t testing.TB, as string, args ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), asAnother+"="+as, "STIG_ACTOR=di")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", as, err, out)
	}
}

// ownApp returns the run of the other process.
func ownApp() *workspace.Run {
	in := os.UserHomeDir
	return &workspace.Run{
		Getenv: os.Getenv, Env: os.Environ, HomeDir: in, ConfigDir: in, Now: time.Now, Schema: cue.Embedded(),
		Say: func(_ workspace.Level, text string) { fmt.Println(text) }, Ctx: context.Background(), Running: "test",
	}
}

// editor comments on an issue.
func editor(id, text string) error {
	_, err := service.Comment(context.Background(), ownApp(), service.CommentRequest{ID: id, Text: text})
	return err
}
