//go:build e2e

package outside

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
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
	"github.com/chromedp/cdproto/emulation"
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

// tab opens a page in its own browser context; the test fails if the page writes to its console
// or requests anything from other hosts.
//
// The context stays until the browser ends: if the page has just loaded, Chromium may never
// answer Target.disposeBrowserContext, and keep the page open.
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
	if err := soon(ctx, cancel, network.Enable(), log.Enable()); err != nil {
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

// TestBrowserWalk visits every page, light and dark, wide and narrow.
func TestBrowserWalk(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, morning)
	s.swarm(t)
	s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	ctx := tab(t, browser, s)
	axe, err := os.ReadFile(os.Getenv(axeScript))
	if err != nil {
		t.Fatalf("no axe-core: %v; type eval \"$(bash .ci/browser)\" to have it", err)
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1440} {
			do(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}), chromedp.EmulateViewport(width, 900))
			for _, path := range []string{"/", "/issues", "/issues?q=rope", "/issues/pier-1", "/issues/pier-2", "/graph", "/actors", "/actors/ann", "/check", "/swarm/pier-1", "/nothing"} {
				name := fmt.Sprintf("%s at %d, %s", path, width, scheme)
				var overflow int
				visit(t, ctx, s.base+path)
				do(t, ctx, chromedp.Evaluate("document.documentElement.scrollWidth - innerWidth", &overflow))
				if overflow > 0 {
					t.Errorf("%s: %d pixels wider than the window", name, overflow)
				}
				validate(t, ctx, string(axe), name)
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

// TestBrowserAnswers shows one question to two people: one answers, and the other sees it
// within a second, and gets a message if they had written an answer too.
func TestBrowserAnswers(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, morning)
	s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	one, two, writing := tab(t, browser, s), tab(t, browser, s), tab(t, browser, s)
	shows(t, one, "Hemp or steel?")
	do(t, writing, chromedp.SendKeys("article.question textarea", "wire, I think"))
	do(t, one, chromedp.Click(`article.question input[value="2"]`), chromedp.SendKeys("article.question textarea", "it lasts"), chromedp.Click("article.question button"))
	shows(t, one, "No open questions.")
	shows(t, two, "No open questions.")
	shows(t, writing, "This has changed")
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

// TestBrowserForms submits each form of an issue and of an actor.
func TestBrowserForms(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, morning)
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

// TestBrowserTrajectory checks that a page draws the trajectory of an issue from its commits.
func TestBrowserTrajectory(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, morning)
	s.clone(t)
	for _, surprise := range []string{"0.2", "0.8"} {
		s.as(t, "ann", "checkpoint", "pier-1", "--surprise", surprise, "--commit")
	}
	ctx := tab(t, browser, s)
	visit(t, ctx, s.base+"/issues/pier-1")
	const last = "document.querySelector('svg.plot circle:last-of-type')"
	holds(t, ctx, last+".textContent.includes('surprise 0.80')")
	holds(t, ctx, last+".getAttribute('cy') == '22' && "+last+".getBoundingClientRect().width > 0") // from 70 to 10
}

// TestBrowserEnd checks that a page says that its board has ended, and not before.
func TestBrowserEnd(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, morning)
	ctx := tab(t, browser, s)
	s.ask(t, "ann", "Hemp or steel?")
	shows(t, ctx, "Hemp or steel?") // over the connection that will break
	holds(t, ctx, "document.getElementById('connection').hidden")
	s.end()
	shows(t, ctx, "Not connected: this page may be out of date.")
}

// TestBrowserKeys uses the keyboard only.
func TestBrowserKeys(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, morning)
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

// worker acts as an agent: it asks which rope, and continues with the answer.
const worker = `echo "looking at ropes for $STIG_ISSUE"
grep -q 'it lasts' "$STIG_BRIEFING" && exec cp "$STIG_BRIEFING" done.txt
echo 'hemp rots, steel rusts' >ropes.txt
stig escalate "$STIG_ISSUE" -m 'Hemp or steel?' --option hemp --option steel`

// TestBrowserLoop runs stig work, a separate process, while the board shows it: its worker
// asks, a person answers in the browser, beside the diff, and the loop continues by itself and
// closes.
func TestBrowserLoop(t *testing.T) {
	browser := chromium(t)
	const line = `{"id":"pier-1","title":"Which rope","description":"x","acceptance_criteria":"~~~verify\ntest -s done.txt\n~~~","status":"open","priority":1,"issue_type":"task","created_at":"2026-11-10T09:00:00Z","updated_at":"2026-11-10T09:00:00Z"}` + "\n"
	s := serve(t, line, "") // the time of the loop
	s.clone(t)
	ctx := tab(t, browser, s)
	shows(t, ctx, "No open questions.")

	loop := s.command("bo", "", "work", "--attempts", "3", "--", "sh", "-c", worker)
	var said bytes.Buffer
	loop.Stdout, loop.Stderr = &said, &said
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = loop.Process.Signal(os.Interrupt)
		_ = loop.Wait() // that it was interrupted
		t.Logf("stig work: %s", &said)
	})

	shows(t, ctx, "Hemp or steel?") // without reloading the page
	shows(t, ctx, "asked by bo")
	shows(t, ctx, "Changes made for it") // read while the question is shown
	do(t, ctx, chromedp.Evaluate(`document.querySelectorAll("article.question details").forEach(d => d.open = true)`, nil))
	shows(t, ctx, "hemp rots, steel rusts")
	do(t, ctx, chromedp.Click(`article.question input[value="2"]`), chromedp.SendKeys("article.question textarea", "it lasts"), chromedp.Click("article.question button"))
	shows(t, ctx, "No open questions.")
	holds(t, ctx, `document.querySelector(".closings").innerText.includes("pier-1")`)
	text, err := os.ReadFile(filepath.Join(s.dir, ".beads", "issues.jsonl"))
	if err != nil || !strings.Contains(string(text), `"status":"closed"`) {
		t.Errorf("the issue is not closed: %v\n%s", err, text)
	}
	visit(t, ctx, s.base+"/actors/bo")
	shows(t, ctx, "looking at ropes for pier-1")
	do(t, ctx, chromedp.Click(`form[action$="/pause"] button`))
	has(t, ctx, ".state.paused")
	do(t, ctx, chromedp.Click(`form[action$="/resume"] button`))
	holds(t, ctx, `!document.querySelector(".state.paused")`)
}

// TestPictures takes the pictures of docs/board; -update saves them. TestPictures of package
// board checks the words in them.
func TestPictures(t *testing.T) {
	s := harbor(t)
	ctx := tab(t, chromium(t), s)
	dir := t.TempDir()
	if *update {
		dir = filepath.Join(root, "docs", "board")
	}
	for _, p := range []struct {
		path, name, scheme string
		width              int64
	}{{"/", "today.png", "light", 1440}, {"/", "today-narrow-dark.png", "dark", 360}, {"/graph", "graph-dark.png", "dark", 1440}} {
		do(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: p.scheme}}), chromedp.EmulateViewport(p.width, 900))
		visit(t, ctx, s.base+p.path)
		take(t, ctx, filepath.Join(dir, p.name))
	}
}

// harbor serves the example store after a morning of three loops: one asks, one closes what
// passes, one fails.
func harbor(t *testing.T) *served {
	t.Helper()
	s := store{t.TempDir(), t.TempDir()}
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join(root, "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	s.clone(t)
	for _, run := range [][3]string{
		{"bo", "harbor-d3w", `stig escalate harbor-d3w -m "Who measures the floor of a new berth? A lead line at low water is free, and within 20 cm. A survey costs 400, and is what the insurance asks for." --option "a lead line" --option "a survey" --option "a lead line, and a survey of berths below -1 m"`},
		{"ann", "harbor-4ke.4", "sed s/2026-11/2026-12/ tides/2026-11.csv >tides/2026-12.csv"},
		{"cy", "harbor-t3c", "echo the printer does not answer; exit 1"},
	} {
		out, err := s.command(run[0], morning, "work", run[1], "--once", "--attempts", "2", "--", "sh", "-c", run[2]).CombinedOutput()
		t.Logf("%s: %v\n%s", run[0], err, out) // the pictures show the loops' results
	}
	return s.serve(t, morning)
}

// lines are a small store with a question and with malicious texts.
const lines = `{"id":"pier-1","title":"Which rope","description":"See [here](javascript:alert(1)) <script>alert(2)</script> ![p](http://evil.example/x.png)","status":"open","priority":1,"issue_type":"task","created_at":"2026-11-10T09:00:00Z","updated_at":"2026-11-10T09:00:00Z"}
{"id":"pier-2","title":"<img src=x onerror=alert(1)>","status":"in_progress","priority":2,"issue_type":"task","assignee":"ann","created_at":"2026-11-10T09:00:00Z","updated_at":"2026-11-19T09:00:00Z","dependencies":[{"issue_id":"pier-2","depends_on_id":"pier-1","type":"blocks"}]}
{"id":"pier-3","title":"Old rope","status":"closed","priority":2,"issue_type":"task","created_at":"2026-11-10T09:00:00Z","updated_at":"2026-11-20T08:00:00Z","closed_at":"2026-11-20T08:00:00Z","close_reason":"Verified: go test ./... passed"}
`

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
func (of store) serve(t *testing.T, now string) *served {
	t.Helper()
	s := &served{store: of, keys: make(chan string, 100)}
	c := s.command("mara", now, "board")
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
		address := regexp.MustCompile(`http://\S+`)
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
