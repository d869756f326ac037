package board_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"stig/app"
	"stig/internal/sample"
	"stig/signals"
)

// Variables of these tests. CI sets the first two.
const (
	browserProgram = "STIG_TEST_BROWSER" // a Chromium
	axeScript      = "STIG_TEST_AXE"     // axe.min.js of axe-core: pages are validated with it
	shotsDir       = "STIG_TEST_SHOTS"   // a directory to keep screenshots in
)

var leftOut sync.Once

// theBrowser is one for all tests, since its start takes as long as a test: each page of tab
// is of a person who shares nothing with others. TestMain ends it.
var theBrowser struct {
	sync.Once
	context.Context
	end func()
	err error
}

// chromium gives the browser: the one that the environment names or, where all is tested, one
// on PATH. The test is left out where there is none.
func chromium(t *testing.T) context.Context {
	t.Helper()
	program := os.Getenv(browserProgram)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if program == "" && sample.All() {
			program, _ = exec.LookPath(name)
		}
	}
	if program == "" {
		leftOut.Do(func() { fmt.Println("left out: no browser for the tests of the board") })
		t.SkipNow()
	}
	theBrowser.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true))
		ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
		theBrowser.Context, theBrowser.end = ctx, end
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

// soon begins a context of chromedp, which may have no deadline then, and ends it where that
// takes too long.
func soon(ctx context.Context, end func(), actions ...chromedp.Action) error {
	late := time.AfterFunc(time.Minute, end)
	defer late.Stop()
	return chromedp.Run(ctx, actions...)
}

// tab opens a page of a person of its own, and has the test fail for what the page says on
// its console and for what it asks of others.
//
// The person stays until the browser ends: Chromium may never answer
// Target.disposeBrowserContext, and keep the page open, where the page has just loaded.
func tab(t *testing.T, browser context.Context, s *served) context.Context {
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
	if err := soon(ctx, cancel, network.Enable(), log.Enable()); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, navigate(s.key(t)))
	has(t, ctx, "main")
	return ctx
}

// visit opens a page, and waits until it is there.
func visit(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	do(t, ctx, navigate(address))
	holds(t, ctx, "location.href == "+quoted(address)+" && document.querySelector('main')")
}

// navigate begins to open a page.
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
			err = chromedp.Run(ctx, action) // the page was made anew after the element was found: nothing was clicked
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// holds waits until an expression is true on the page, which may be on its way to another.
func holds(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
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

// shows waits until a page holds a text, and gives how long that took.
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

// TestBrowserWalk looks at every page, light and dark, wide and narrow.
func TestBrowserWalk(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, nil)
	s.swarm(t)
	s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	ctx := tab(t, browser, s)
	axe := ""
	if path := os.Getenv(axeScript); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		axe = string(text)
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1440} {
			if !sample.All() && (scheme == "light") == (width == 360) {
				continue // without all rounds: light and wide, dark and narrow
			}
			do(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}), chromedp.EmulateViewport(width, 900))
			for _, path := range []string{"/", "/issues", "/issues?q=rope", "/issues/pier-1", "/issues/pier-2", "/graph", "/actors", "/actors/ann", "/check", "/swarm/pier-1", "/nothing"} {
				name := fmt.Sprintf("%s at %d, %s", path, width, scheme)
				var overflow int
				visit(t, ctx, s.base+path)
				do(t, ctx, chromedp.Evaluate("document.documentElement.scrollWidth - innerWidth", &overflow))
				if overflow > 0 {
					t.Errorf("%s: %d pixels wider than the window", name, overflow)
				}
				if axe != "" {
					validate(t, ctx, axe, name)
				}
				shoot(t, ctx, fmt.Sprintf("%s-%d-%s.png", strings.NewReplacer("/", "_", "?", "_", "=", "_").Replace(path), width, scheme))
			}
		}
	}
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
	if dir := os.Getenv(shotsDir); dir != "" {
		take(t, ctx, filepath.Join(dir, name))
	}
}

// take writes a picture of the whole page.
func take(t *testing.T, ctx context.Context, path string) {
	t.Helper()
	var png []byte
	do(t, ctx, chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(path, png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestBrowserAnswers has two people look at one question: one answers, the other sees it
// within a second, and is refused in words where they had written one too.
func TestBrowserAnswers(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, nil)
	s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	one, two, writing := tab(t, browser, s), tab(t, browser, s), tab(t, browser, s)
	shows(t, one, "Hemp or steel?")
	do(t, writing, chromedp.SendKeys("article.question textarea", "wire, I think"))
	do(t, one, chromedp.Click(`article.question input[value="2"]`), chromedp.SendKeys("article.question textarea", "it lasts"), chromedp.Click("article.question button"))
	shows(t, one, "No question waits.")
	shows(t, two, "No question waits.")
	shows(t, writing, "This changed meanwhile")
	do(t, writing, chromedp.Click("article.question button"))
	has(t, writing, `[role="alert"]`)
	late := time.Hour
	for n := 1; n <= 5 && late > time.Second; n++ { // the machine may be busy
		text := fmt.Sprintf("How thick is rope %d?", n)
		s.ask(t, "ann", text)
		late = shows(t, two, text)
	}
	if late > time.Second {
		t.Errorf("the page changed %s after the store, at best of five", late)
	}
}

// TestBrowserForms sends each form of an issue and of an actor.
func TestBrowserForms(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, nil)
	ctx := tab(t, browser, s)
	visit(t, ctx, s.base+"/issues/pier-1")
	do(t, ctx, chromedp.SendKeys(`form[action$="/comment"] textarea`, "a word"), chromedp.Click(`form[action$="/comment"] button`))
	shows(t, ctx, "a word")
	do(t, ctx, chromedp.Click(`form[action$="/claim"] button`))
	has(t, ctx, ".state.in_progress")
	do(t, ctx, chromedp.Click(".acts details summary"), chromedp.SendKeys(`input[name="surprise"]`, "0.3"), chromedp.SendKeys(`textarea[name="done"]`, "half of it"), chromedp.Click(`form[action$="/checkpoint"] button`))
	shows(t, ctx, "half of it")
	do(t, ctx, chromedp.Click(`form[action$="/release"] button`))
	has(t, ctx, ".state.open")
	do(t, ctx, chromedp.Click(`form[action$="/verify"] button`))
	has(t, ctx, ".alert.bad")
	visit(t, ctx, s.base+"/issues/pier-3")
	do(t, ctx, chromedp.SendKeys(`form[action$="/reopen"] input[name="text"]`, "it tore"), chromedp.Click(`form[action$="/reopen"] button`))
	has(t, ctx, ".state.open")
	visit(t, ctx, s.base+"/issues")
	do(t, ctx, chromedp.SendKeys(`.filters input[name="q"]`, "rope"), chromedp.Click(`.filters input[name="all"]`), chromedp.Click(".filters button"))
	shows(t, ctx, "Old rope")
}

// TestBrowserTrajectory wants a page to draw what the commits of an issue say of it.
func TestBrowserTrajectory(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, nil)
	s.clone(t)
	for _, surprise := range []string{"0.2", "0.8"} {
		r := app.CheckpointRequest{ID: "pier-1", Signals: map[signals.Signal]string{signals.Surprise: surprise}, Commit: true}
		if _, err := s.app("ann").Fresh(t.Context(), "checkpoint").Checkpoint(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	ctx := tab(t, browser, s)
	visit(t, ctx, s.base+"/issues/pier-1")
	const last = "document.querySelector('svg.plot circle:last-of-type')"
	holds(t, ctx, last+".textContent.includes('surprise 0.80')")
	holds(t, ctx, last+".getAttribute('cy') == '22' && "+last+".getBoundingClientRect().width > 0") // of 70 to 10
}

// TestBrowserEnd wants a page to say that its board has ended, and not before.
func TestBrowserEnd(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, nil)
	ctx := tab(t, browser, s)
	s.ask(t, "ann", "Hemp or steel?")
	shows(t, ctx, "Hemp or steel?") // over the connection that is to break
	holds(t, ctx, "document.getElementById('connection').hidden")
	s.end()
	shows(t, ctx, "Not connected: what is shown may be old.")
}

// TestBrowserKeys walks with the keyboard alone.
func TestBrowserKeys(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, nil)
	s.ask(t, "ann", "Hemp or steel?")
	ctx := tab(t, browser, s)
	has(t, ctx, "article.question")
	do(t, ctx, chromedp.KeyEvent("j"), chromedp.KeyEvent("\r"))
	has(t, ctx, ".briefing")
	do(t, ctx, chromedp.KeyEvent("g"), chromedp.KeyEvent("i"))
	has(t, ctx, "table")
	do(t, ctx, chromedp.KeyEvent("/"), chromedp.KeyEvent("rope"), chromedp.KeyEvent("\r"))
	shows(t, ctx, "1 issue")
}
