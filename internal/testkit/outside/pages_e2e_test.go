//go:build e2e

package outside

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
)

// TestBrowserPages visits Issues, Graph and Check in all their forms.
func TestBrowserPages(t *testing.T) {
	browser := chromium(t)
	s := harbor(t)
	walk(t, tab(t, browser, s), s, "/issues", "/issues?as=columns", "/issues?q=berth&state=waits", "/issues?new=yes&edit=harbor-b7q", "/issues?label=none", "/graph", "/graph?zoom=300", "/graph?from=harbor-p3y&to=harbor-c20", "/check")
}

// walk visits pages, light and dark, on a desk and on a telephone: axe-core finds nothing, and
// no text is cut.
func walk(t *testing.T, ctx context.Context, s *served, paths ...string) {
	t.Helper()
	axe, err := os.ReadFile(os.Getenv(axeScript))
	if err != nil {
		t.Fatalf("no axe-core: %v; type eval \"$(bash .ci/browser)\" to have it", err)
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280} {
			do(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}), chromedp.EmulateViewport(width, 900))
			for _, path := range paths {
				name := fmt.Sprintf("%s at %d, %s", path, width, scheme)
				visit(t, ctx, s.base+path)
				holds(t, ctx, `!document.querySelector('[role="status"]:not([hidden])')?.textContent.match(/^(Searching|Validating)/)`)
				isWhole(t, ctx, name)
				validate(t, ctx, string(axe), name)
				shoot(t, ctx, fmt.Sprintf("%s-%d-%s.png", strings.NewReplacer("/", "_", "?", "_", "=", "_", "&", "_").Replace(path), width, scheme))
			}
		}
	}
}

// isWhole checks that a page is not wider than its window and cuts no text.
func isWhole(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	var overflow int
	var cut []string
	do(t, ctx, chromedp.Evaluate("document.documentElement.scrollWidth - innerWidth", &overflow), chromedp.Evaluate(`[...document.querySelectorAll("main *")].filter(e =>
		e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && ["hidden", "clip"].includes(getComputedStyle(e).overflowX) && !(e instanceof SVGElement) && e.tagName != "INPUT"
	).map(e => e.outerHTML.slice(0, 100))`, &cut))
	if overflow > 0 {
		t.Errorf("%s: %d pixels wider than the window", name, overflow)
	}
	if len(cut) > 0 {
		t.Errorf("%s: cuts %q", name, cut)
	}
}

// TestBrowserIssues filters, saves a view, creates an issue and edits it.
func TestBrowserIssues(t *testing.T) {
	browser := chromium(t)
	s := harbor(t)
	one, two := tab(t, browser, s), tab(t, browser, s)
	visit(t, one, s.base+"/issues?as=columns")
	visit(t, two, s.base+"/issues?as=columns")
	has(t, one, ".lane")
	shows(t, two, "Draw a plan of the berths")
	do(t, one, chromedp.Evaluate(`(menu => { menu.value = "harbor-9fd"; menu.dispatchEvent(new Event("change", {bubbles: true})) })(document.querySelector('select[name="parent"]'))`, nil))
	holds(t, one, `location.search.includes("parent=harbor-9fd") && document.querySelectorAll(".lane").length == 1`)
	do(t, one, chromedp.Click(`.views summary`), chromedp.SendKeys(`input[name="name"]`, "The berths"), chromedp.Click(`form[action="/store/save"] button`))
	has(t, one, `form[action="/store/forget"]`)
	visit(t, one, s.base+"/issues")
	do(t, one, chromedp.Click(`//a[text()="The berths"]`, chromedp.BySearch))
	holds(t, one, `location.search.includes("as=columns") && document.querySelectorAll(".lane").length == 1`)

	do(t, one, chromedp.Click(`//a[text()="New issue"]`, chromedp.BySearch))
	has(t, one, `.fields option[value="harbor-9fd"][selected]`)
	do(t, one, chromedp.SendKeys(`.fields input[name="title"]`, "Paint the numbers of the berths"), chromedp.Click(`.fields button`))
	holds(t, one, `location.pathname.startsWith("/issues/harbor-9fd.")`)
	shows(t, two, "Paint the numbers of the berths") // without reloading the page
	visit(t, one, s.base+"/issues?q=paint")
	do(t, one, chromedp.Click(".change"))
	has(t, one, `.fields input[name="title"]`)
	do(t, one, chromedp.SetValue(`.fields select[name="priority"]`, "0"), chromedp.Click(`.fields button`))
	holds(t, one, `!document.querySelector(".fields") && document.querySelector(".cards").innerText.includes("P0")`)
}

// TestBrowserGraph: the picture is dark on a dark page, and its legend stays in sight while the
// picture is zoomed and scrolled.
func TestBrowserGraph(t *testing.T) {
	browser := chromium(t)
	s := harbor(t)
	ctx := tab(t, browser, s)
	for _, width := range []int64{390, 1280} {
		do(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}), chromedp.EmulateViewport(width, 900))
		visit(t, ctx, s.base+"/graph")
		holds(t, ctx, `document.querySelector(".wide.picture svg").getBoundingClientRect().width <= document.querySelector(".wide.picture").clientWidth`)
		holds(t, ctx, `[...document.querySelectorAll(".graph svg rect")].every(r => { const c = getComputedStyle(r).fill.match(/\d+/g).map(Number); return c[0] + c[1] + c[2] < 450 || r.getAttribute("fill") == "#7a3fb5" || r.getAttribute("fill-opacity") < .1 })`)
		for _, zoom := range []string{"150", "200", "300", "400", "600"} {
			do(t, ctx, chromedp.Click(`[aria-label="Larger"]`))
			has(t, ctx, ".zoom-"+zoom)
		}
		holds(t, ctx, `!document.querySelector('[aria-label="Larger"]') && document.querySelector(".wide.picture svg").getBoundingClientRect().width > 5 * document.querySelector(".wide.picture").clientWidth`)
		do(t, ctx, chromedp.Evaluate(`document.querySelector(".wide.picture").scrollTo(9999, 9999); document.querySelector(".graph").scrollIntoView()`, nil))
		holds(t, ctx, `[".legend", ".wide.picture"].every(s => { const b = document.querySelector(s).getBoundingClientRect(); return b.top >= -1 && b.bottom <= innerHeight })`)
	}
}

// TestBrowserPhone answers a question on a telephone in three taps, after the QR code and the
// warning of the certificate.
func TestBrowserPhone(t *testing.T) {
	browser := chromium(t)
	s := newStore(t, lines).serve(t, morning, "--phone", "--host", "127.0.0.1")
	s.ask(t, "ann", "Hemp or steel?", "hemp", "steel, which does not rot but costs three times as much and is heavy")
	ctx := tab(t, browser, s, security.SetIgnoreCertificateErrors(true), chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	taps := 0
	tap := func(selector string) {
		taps++
		do(t, ctx, chromedp.Click(selector, chromedp.NodeVisible))
	}
	shows(t, ctx, "Open on this phone")
	holds(t, ctx, `getComputedStyle(document.querySelector("button")).borderRadius != "0px"`) // it has its style
	tap("button")
	shows(t, ctx, "Hemp or steel?")
	isWhole(t, ctx, "Today on a telephone")
	holds(t, ctx, `[...document.querySelectorAll("main button, main summary, main input:not([type=hidden]):not([type=checkbox]):not([type=radio]), main select")].filter(e => e.offsetParent).every(e => e.getBoundingClientRect().height >= 44)`)
	tap(`button.option[value="2"]`)
	if shows(t, ctx, "answered: steel, which"); taps > 3 {
		t.Errorf("%d taps", taps)
	}
	for _, name := range []string{"claim", "verify", "release", "edit", "pause"} {
		holds(t, ctx, `!document.querySelector('form[action$="/`+name+`"]')`)
	}
	visit(t, ctx, s.base+"/issues")
	holds(t, ctx, `[...document.querySelectorAll("nav a, .tabs a, .menus select, .cards tbody tr")].every(e => e.getBoundingClientRect().height >= 44)`)
	text, err := os.ReadFile(filepath.Join(s.dir, ".beads", "issues.jsonl"))
	if err != nil || !strings.Contains(string(text), "steel, which") || !strings.Contains(string(text), "resolved") {
		t.Errorf("the question is not answered: %v\n%s", err, text)
	}
}
