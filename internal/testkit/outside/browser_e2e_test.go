//go:build e2e

package outside

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
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

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Variables that name third-party programs; bash .ci/browser prints them.
const (
	browserProgram = "STIG_TEST_BROWSER" // a Chromium
	axeScript      = "STIG_TEST_AXE"     // axe.min.js of axe-core, which validates pages
)

var (
	shots  = flag.String("shots", "", "a directory that keeps pictures of all pages")
	update = flag.Bool("update", false, "take the pictures of docs/board again")
)

// theBrowser is shared by all tests, since starting it takes as long as a test: each page of
// tab has its own browser context, so pages share nothing. atEnd closes it.
var theBrowser struct {
	sync.Once
	context.Context
	err error
}

// chromium returns the browser: that of browserProgram, or one on PATH.
func chromium(t *testing.T) context.Context {
	t.Helper()
	program := os.Getenv(browserProgram)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if program == "" {
			program, _ = exec.LookPath(name)
		}
	}
	if program == "" {
		t.Fatal("no browser; type eval \"$(bash .ci/browser)\" to have one")
	}
	theBrowser.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true))
		ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
		atEnd = end
		theBrowser.Context, _ = chromedp.NewContext(ctx) // end ends it too
		theBrowser.err = soon(theBrowser.Context, end)
	})
	if theBrowser.err != nil {
		t.Fatal(theBrowser.err)
	}
	ctx, cancel := context.WithTimeout(theBrowser.Context, 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// soon runs the first actions of a chromedp context, which must not have a deadline then, and
// cancels it if they take longer than a minute.
func soon(ctx context.Context, end func(), actions ...chromedp.Action) error {
	late := time.AfterFunc(time.Minute, end)
	defer late.Stop()
	return chromedp.Run(ctx, actions...)
}

// tab opens a page in its own browser context, after some actions; the test fails if the page
// writes to its console or requests anything from other hosts.
//
// The context stays until the browser ends: if the page has just loaded, Chromium may never
// answer Target.disposeBrowserContext, and keep the page open.
func tab(t *testing.T, browser context.Context, s *served, before ...chromedp.Action) context.Context {
	t.Helper()
	var person target.ID
	do(t, browser, chromedp.ActionFunc(func(ctx context.Context) error {
		ctx = cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
		own, err := target.CreateBrowserContext().Do(ctx)
		if err == nil {
			person, err = target.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(ctx)
		}
		return err
	}))
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithTargetID(person))
	t.Cleanup(cancel) // closes the page, or gives up after seconds
	key := s.key(t)
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page throws %s", e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if (e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning) && !s.ended.Load() {
				t.Errorf("the console says %s", e.Args[0].Value)
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError && !s.ended.Load() && !strings.Contains(e.Entry.Text, "status of 4") { // refused forms
				t.Errorf("the log says %s %s", e.Entry.Text, e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && !strings.HasPrefix(e.Request.URL, s.base) {
				t.Errorf("the page asks for %s", e.Request.URL)
			}
		}
	})
	if err := soon(ctx, cancel, append([]chromedp.Action{network.Enable(), log.Enable()}, before...)...); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, navigate(key))
	has(t, ctx, "main")
	return ctx
}

// visit opens a page, and waits until it has loaded.
func visit(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	do(t, ctx, navigate(address))
	holds(t, ctx, "location.href == "+quoted(address)+" && document.querySelector('main')")
}

// navigate starts to open a page.
func navigate(address string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		_, _, _, _, err := page.Navigate(address).Do(ctx)
		return err
	})
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for _, action := range actions {
		err := chromedp.Run(ctx, action)
		for err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "Could not find node with given id") {
			err = chromedp.Run(ctx, action) // the page was rebuilt after the element was found: nothing was clicked
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// holds waits until an expression is true on the page, which may still be navigating.
func holds(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	lasts(t, ctx, time.Minute, expression)
}

// lasts waits as holds does, for a given time at most.
func lasts(t *testing.T, ctx context.Context, limit time.Duration, expression string) {
	t.Helper()
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for ; waiting.Err() == nil; time.Sleep(20 * time.Millisecond) {
		var is bool
		if err := chromedp.Run(waiting, chromedp.Evaluate("document.readyState == 'complete' && !!("+expression+")", &is)); err == nil && is {
			return
		}
	}
	var text string
	last, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_ = chromedp.Run(last, chromedp.Evaluate("location.href + '\\n' + document.body.innerText", &text))
	t.Fatalf("it did not come to hold: %s\n%s", expression, text)
}

// shows waits until a page contains a text, and returns how long that took.
func shows(t *testing.T, ctx context.Context, text string) time.Duration {
	t.Helper()
	begun := time.Now()
	holds(t, ctx, "document.body.innerText.includes("+quoted(text)+")")
	return time.Since(begun)
}

// has waits until a page has an element.
func has(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	holds(t, ctx, "document.querySelector("+quoted(selector)+")")
}

// validate runs axe-core on a page.
func validate(t *testing.T, ctx context.Context, axe, name string) {
	t.Helper()
	var found string
	do(t, ctx, chromedp.Evaluate(axe+";1", nil), chromedp.Evaluate(
		`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.target + " " + n.failureSummary).join("; ")).join("\n"))`, &found,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if found != "" {
		t.Errorf("%s: %s", name, found)
	}
}

func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if *shots != "" {
		take(t, ctx, filepath.Join(*shots, name))
	}
}

// take saves a screenshot of the whole page.
func take(t *testing.T, ctx context.Context, path string) {
	t.Helper()
	var png []byte
	do(t, ctx, chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(path, png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// served is a board in a test.
type served struct {
	store
	base  string
	keys  chan string // addresses, each of which admits one browser
	end   func()      // interrupts it
	ended atomic.Bool // set by the test: pages may say that they cannot reach the board
}

func serve(t *testing.T, lines, now string) *served {
	t.Helper()
	return newStore(t, lines).serve(t, now)
}

// serve runs stig board on a store until the test ends.
func (of store) serve(t *testing.T, now string, flags ...string) *served {
	t.Helper()
	s := &served{store: of, keys: make(chan string, 100)}
	c := s.command("mara", now, append([]string{"board"}, flags...)...)
	out, in := io.Pipe()
	c.Stdout, c.Stderr = in, in
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.end = sync.OnceFunc(func() {
		s.ended.Store(true)
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait() // that it was interrupted
		_ = in.Close()
	})
	t.Cleanup(s.end)
	go func() {
		address := regexp.MustCompile(`https?://\S+`)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if url := address.FindString(lines.Text()); url != "" {
				s.keys <- url
			}
		}
	}()
	return s
}

// key returns the address that admits the next browser.
func (s *served) key(t *testing.T) string {
	t.Helper()
	select {
	case key := <-s.keys:
		u, err := url.Parse(key)
		if err != nil {
			t.Fatal(err)
		}
		s.base = u.Scheme + "://" + u.Host
		return key
	case <-time.After(20 * time.Second):
		t.Fatal("nobody was invited")
		return ""
	}
}

// ask makes an actor ask about pier-1.
func (s *served) ask(t *testing.T, actor, text string, options ...string) {
	t.Helper()
	args := []string{"escalate", "pier-1", "-m", text}
	for _, o := range options {
		args = append(args, "--option", o)
	}
	s.as(t, actor, args...)
}

// swarm makes two explorers leave traces on pier-1.
func (s *served) swarm(t *testing.T) {
	t.Helper()
	s.as(t, "mara", "swarm", "start", "pier-1", "--agent", "cy", "--agent", "di", "--force")
	for _, agent := range []string{"cy", "di"} {
		s.as(t, agent, "swarm", "deposit", "pier-1", "--direction", "steel cable")
		s.as(t, agent, "swarm", "finding", "pier-1", "--direction", "steel cable", "--idea", "cable-holds", "--perspective", "cost", "--details", "A cable <u>holds</u>, says "+agent)
		s.as(t, agent, "swarm", "stop", "pier-1", "--target", "hemp", "--reason", "contradictory_evidence", "--evidence", "It rots")
	}
}
