package board_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"stig/app"
	"stig/board"
)

// worker is what an agent would be: it begins, asks which rope, and goes on with the answer
// when it is started again.
func worker() error {
	id := os.Getenv("STIG_ISSUE")
	fmt.Println("looking at ropes for", id)
	a := ownApp()
	asked, err := a.Escalations(true)
	if err != nil {
		return err
	}
	for _, q := range asked.Answered {
		if q.ID == id {
			return os.WriteFile("done.txt", []byte(q.Answer.Text+"\n"), 0o644)
		}
	}
	if err := os.WriteFile("ropes.txt", []byte("hemp rots, steel rusts\n"), 0o644); err != nil {
		return err
	}
	r := app.EscalateRequest{ID: id}
	r.Question.Text, r.Question.Options = "Hemp or steel?", []string{"hemp", "steel"}
	_, err = a.Escalate(a.Ctx, r)
	return err
}

// program builds stig.
func program(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stig")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", name, "stig/cmd/stig").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// TestBrowserLoop has stig work, a process of its own, go on while the board shows it: its
// worker asks, a person answers in the browser, beside the diff, and the loop goes on by
// itself and closes.
func TestBrowserLoop(t *testing.T) {
	browser := chromium(t)
	const line = `{"id":"pier-1","title":"Which rope","description":"x","acceptance_criteria":"~~~verify\ntest -s done.txt\n~~~","status":"open","priority":1,"issue_type":"task","created_at":"2026-11-10T09:00:00Z","updated_at":"2026-11-10T09:00:00Z"}` + "\n"
	s := serve(t, line, func(o *board.Options) {
		fixed := o.App.Getenv
		o.App.Getenv = func(name string) string {
			if name == "STIG_NOW" {
				return "" // that of the loop, which is another process
			}
			return fixed(name)
		}
	})
	s.clone(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx := tab(t, browser, s)
	shows(t, ctx, "No question waits.")

	loop := exec.Command(program(t), "work", "--attempts", "3", "--", self)
	loop.Dir, loop.Env = s.dir, append(os.Environ(), asAnother+"="+isWorker, "STIG_ACTOR=bo", "STIG_TRUST=1")
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

	shows(t, ctx, "Hemp or steel?") // without a load of the page
	shows(t, ctx, "asked by bo")
	shows(t, ctx, "What was done for it") // which is read while the question is shown
	do(t, ctx, chromedp.Evaluate(`document.querySelectorAll("article.question details").forEach(d => d.open = true)`, nil))
	shows(t, ctx, "hemp rots, steel rusts")
	do(t, ctx, chromedp.Click(`article.question input[value="2"]`), chromedp.SendKeys("article.question textarea", "it lasts"), chromedp.Click("article.question button"))
	shows(t, ctx, "No question waits.")
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
