//go:build e2e

package outside

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestBrowserWalk visits the pages with hostile texts, light and dark, on a desk and on a
// telephone.
func TestBrowserWalk(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, morning)
	s.swarm(t)
	s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	walk(t, tab(t, browser, s), s, "/", "/issues", "/issues?q=rope", "/issues/pier-1", "/issues/pier-2", "/graph", "/actors", "/actors/ann", "/check", "/swarm/pier-1", "/nothing")
}

// TestBrowserNight reads a night: four questions fit on two screens, one is answered by one
// click and undone by another, and the work lands with one more.
func TestBrowserNight(t *testing.T) {
	browser := chromium(t)
	s := night(t)
	ctx := tab(t, browser, s)
	do(t, ctx, chromedp.EmulateViewport(1280, 900))
	visit(t, ctx, s.base+"/")
	shows(t, ctx, "Take all 3")
	var height int
	do(t, ctx, chromedp.Evaluate("document.documentElement.scrollHeight", &height))
	if height > 2*900 {
		t.Errorf("Today with four questions is %d pixels high", height)
	}
	const card = "#q-"
	do(t, ctx, chromedp.Click(`//article[contains(., "How long does a berth")]//button[text()="7 days"]`, chromedp.BySearch))
	shows(t, ctx, "answered: 7 days")
	holds(t, ctx, `location.hash.startsWith("`+card+`")`)
	do(t, ctx, chromedp.Click(`.card.done button`))
	shows(t, ctx, "30 days")
	holds(t, ctx, `!document.querySelector(".card.done")`)

	clicks := 0
	click := func(selector string) {
		clicks++
		do(t, ctx, chromedp.Click(selector))
	}
	click(".landing details summary")
	holds(t, ctx, `document.querySelector(".landing details[open] pre.diff").innerText.includes("+it")`)
	click("#land-all button")
	shows(t, ctx, "landed 3 issues on main")
	if clicks > 5 {
		t.Errorf("it takes %d clicks to land a night", clicks)
	}
	for _, id := range []string{"pier-5", "pier-6", "pier-7"} {
		if _, err := os.Stat(filepath.Join(s.dir, id+".txt")); err != nil {
			t.Error(err)
		}
	}
	shows(t, ctx, "0 to land")
	walk(t, ctx, s, "/", "/issues/pier-1", "/issues/pier-5", "/actors", "/actors/w")
}

// TestBrowserSendsBack returns work with a remark, which the issue then shows.
func TestBrowserSendsBack(t *testing.T) {
	browser := chromium(t)
	s := night(t)
	ctx := tab(t, browser, s)
	shows(t, ctx, "Take all 3")
	do(t, ctx, chromedp.Click("#land-pier-6 .ask > details:last-of-type > summary"), chromedp.SendKeys("#land-pier-6 textarea", "it lacks a test"), chromedp.Click(`#land-pier-6 form[action$="/return"] button`))
	shows(t, ctx, "sent back")
	shows(t, ctx, "Take all 2")
	visit(t, ctx, s.base+"/issues/pier-6")
	shows(t, ctx, "it lacks a test")
	shows(t, ctx, "ready")
}

// night serves a store after a night: four questions, and the work on three issues to land.
func night(t *testing.T) *served {
	t.Helper()
	var lines strings.Builder
	for n := 1; n <= 7; n++ {
		fmt.Fprintf(&lines, `{"id":"pier-%d","title":"Write the file of pier %[1]d","description":"It says what the pier is for.","acceptance_criteria":"~~~verify\ntest -s pier-%[1]d.txt\n~~~","status":"open","priority":1,"issue_type":"task"}`+"\n", n)
	}
	of := newStore(t, lines.String())
	of.clone(t)
	for n, question := range []string{
		"How long does a berth stay reserved when nobody comes?", "Which rope does the pier get? Hemp rots in two years, and steel rusts in five.",
		"May two short boats share a long berth? The harbor master of the town next door allows it, with two meters between them, and has had no complaint in ten years.", "Who measures the floor of a new berth?",
	} {
		of.as(t, "bo", "escalate", fmt.Sprintf("pier-%d", n+1), "-m", question, "--option", "7 days", "--option", "30 days")
	}
	for n := 5; n <= 7; n++ {
		of.as(t, "w", "work", fmt.Sprintf("pier-%d", n), "--once", "--", "sh", "-c", "echo it >$STIG_ISSUE.txt")
	}
	return of.serve(t, morning)
}

// TestBrowserAnswers shows one question to two people: one answers, and the other sees it
// within a second, and gets a message if they had written an answer too.
func TestBrowserAnswers(t *testing.T) {
	browser := chromium(t)
	s := serve(t, lines, morning)
	s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	one, two, writing := tab(t, browser, s), tab(t, browser, s), tab(t, browser, s)
	shows(t, one, "Hemp or steel?")
	do(t, writing, chromedp.Click("article.question summary"), chromedp.SendKeys("article.question textarea", "wire, I think"))
	do(t, one, chromedp.Click("article.question summary"), chromedp.SendKeys("article.question textarea", "it lasts"), chromedp.Click(`article.question button[value="2"]`))
	shows(t, one, "answered: steel · it lasts")
	shows(t, two, "answered: steel · it lasts")
	shows(t, writing, "This has changed")
	do(t, writing, chromedp.Click(`article.question button[value="1"]`))
	has(t, writing, `[role="alert"]`)
	late := time.Hour
	for n := 1; n <= 5 && late > time.Second; n++ { // the machine may be busy
		text := fmt.Sprintf("How thick is rope %d?", n)
		s.ask(t, "ann", text)
		late = shows(t, two, text)
		holds(t, two, fmt.Sprintf(`document.title == "(%d) Today · stig"`, n))
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
	has(t, ctx, `form[action$="/release"]`)
	do(t, ctx, chromedp.Click(".acts details summary"), chromedp.SendKeys(`input[name="surprise"]`, "0.3"), chromedp.SendKeys(`textarea[name="done"]`, "half of it"), chromedp.Click(`form[action$="/checkpoint"] button`))
	shows(t, ctx, "half of it")
	do(t, ctx, chromedp.Click(`form[action$="/release"] button`))
	has(t, ctx, `form[action$="/claim"]`)
	do(t, ctx, chromedp.Click(`form[action$="/verify"] button`))
	has(t, ctx, ".alert.bad")
	visit(t, ctx, s.base+"/issues/pier-3")
	do(t, ctx, chromedp.Click(".acts details summary"), chromedp.SendKeys(`form[action$="/reopen"] input[name="text"]`, "it tore"), chromedp.Click(`form[action$="/reopen"] button`))
	has(t, ctx, `form[action$="/claim"]`)
	visit(t, ctx, s.base+"/issues")
	do(t, ctx, chromedp.SendKeys(`.filters input[name="q"]`, "rope\r"))
	shows(t, ctx, "2 issues")
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
	has(t, ctx, ".head .state")
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
	shows(t, ctx, "Nothing waits for you.")

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
	shows(t, ctx, "bo asked")
	shows(t, ctx, "Changes made for it") // read while the question is shown
	do(t, ctx, chromedp.Evaluate(`document.querySelectorAll("article.question details").forEach(d => d.open = true)`, nil))
	shows(t, ctx, "hemp rots, steel rusts")
	do(t, ctx, chromedp.SendKeys("article.question textarea", "it lasts"), chromedp.Click(`article.question button[value="2"]`))
	shows(t, ctx, "answered: steel · it lasts")
	lasts(t, ctx, 2*time.Minute, `document.querySelector(".closings").innerText.includes("Which rope")`) // the loop waits a minute
	text, err := os.ReadFile(filepath.Join(s.dir, ".beads", "issues.jsonl"))
	if err != nil || !strings.Contains(string(text), `"status":"closed"`) {
		t.Errorf("the issue is not closed: %v\n%s", err, text)
	}
	visit(t, ctx, s.base+"/actors/bo")
	shows(t, ctx, "looking at ropes for pier-1")
	do(t, ctx, chromedp.Click(`form[action$="/pause"] button`))
	shows(t, ctx, "paused by mara")
	do(t, ctx, chromedp.Click(`form[action$="/resume"] button`))
	has(t, ctx, `form[action$="/pause"]`)
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
	}{{"/", "today.png", "light", 1280}, {"/", "today-narrow-dark.png", "dark", 390}, {"/graph", "graph-dark.png", "dark", 1280}} {
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
