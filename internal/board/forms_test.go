package board_test

import (
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"stig/internal/service"
	"stig/signals"
)

// TestSaysWhatFollows: a form shows what its command prints: texts that it replaced, which
// others may have written since the page was rendered, and alerts. If nothing changed it says
// so, and keeps what was typed.
func TestSaysWhatFollows(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	if _, err := service.Checkpoint(t.Context(), s.app("ann").Fresh(t.Context(), "checkpoint"), service.CheckpointRequest{ID: "pier-1", Estimate: signals.Estimate{Done: "the knots of ann"}}); err != nil {
		t.Fatal(err)
	}
	status, body := c.post(t, "/issues/pier-1/checkpoint", "done", "half of the rope", "surprise", "0.9")
	if status != 200 {
		t.Errorf("status %d", status)
	}
	contains(t, body, `role="alert"`, "done: replaced; was the knots of ann", "alert ")
	status, body = c.post(t, "/issues/pier-1/reopen", "text", "it tore again", "form", "reopen")
	if status != 409 {
		t.Errorf("an issue that is open is reopened: %d", status)
	}
	contains(t, body, "is not closed (status open), nothing changed", "You wrote:", "it tore again")
}

// TestEmptyForms: the error for an empty form mentions the form, not command-line flags.
func TestEmptyForms(t *testing.T) {
	s := serve(t, lines, nil)
	hash := s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	c := s.browser(t)
	for path, fields := range map[string][]string{
		"/issues/pier-1/comment": {"text", " \n"}, "/issues/pier-1/checkpoint": {"done", " "}, "/issues/pier-3/reopen": {"text", ""},
		"/issues/pier-1/resolve": {"question", hash, "text", " "},
	} {
		status, body := c.post(t, path, fields...)
		alert := regexp.MustCompile(`(?s)role="alert">(.*?)</div>`).FindString(body)
		if status != 422 || !strings.Contains(alert, "the form") || strings.Contains(alert, "--") {
			t.Errorf("%s: %d %s", path, status, alert)
		}
	}
}

// TestNothingWrittenIsLost: a rejected form shows all that was typed, even if the store cannot
// be read, and a page without scripts does not reload over it.
func TestNothingWrittenIsLost(t *testing.T) {
	s := serve(t, lines, nil)
	hash := s.ask(t, "ann", "Hemp or steel?")
	c := s.browser(t)
	secret := c.secret(t)
	long := strings.Repeat("word ", 1000) + "the end"
	defer s.board.HoldSearches()() // keeps the page unready
	form := url.Values{"secret": {secret}, "back": {"/issues/pier-1"}, "text": {long}, "question": {hash + "0"}, "form": {hash + "0"}}
	_, body := c.do(t, "POST", "/issues/pier-1/resolve", form, nil)
	contains(t, body, "You wrote:", "the end")
	if strings.Contains(body, "http-equiv") {
		t.Error("the page is loaded again, without what was written")
	}
	if err := os.Remove(s.store()); err != nil {
		t.Fatal(err)
	}
	form = url.Values{"secret": {secret}, "back": {"/issues/pier-1"}, "done": {"the knots"}, "remains": {"the rope"}, "form": {"checkpoint"}}
	status, body := c.do(t, "POST", "/issues/pier-1/checkpoint", form, nil)
	if status != 503 {
		t.Errorf("status %d", status)
	}
	contains(t, body, "no .beads store found", "You wrote:", "the knots", "the rope")
	if strings.Contains(body, "http-equiv") {
		t.Error("the page is loaded again, without what was written")
	}
}

// TestLongForms: a form takes 64 KiB of text in any script, though most bytes are
// percent-encoded as three.
func TestLongForms(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	if status, body := c.post(t, "/issues/pier-1/comment", "text", strings.Repeat("ж", 30<<10)); status != 200 {
		t.Errorf("60 KiB: %d %s", status, body)
	}
	if status, _ := c.post(t, "/issues/pier-1/comment", "text", strings.Repeat("ж", 40<<10)); status != 413 {
		t.Errorf("80 KiB: %d", status)
	}
}

// TestTypedStays: events do not replace the part with what was typed into a rejected form; they
// do replace all others.
func TestTypedStays(t *testing.T) {
	s := serve(t, lines, nil)
	hash := s.ask(t, "ann", "Hemp or steel?", "hemp", "steel")
	c := s.browser(t)
	_, body := c.post(t, "/issues/pier-1/resolve", "question", hash, "form", hash, "option", "7", "text", "as thick as it gets")
	contains(t, body, "as thick as it gets</textarea>", `sse-swap="timeline"`, `id="part-waits"`)
	if strings.Contains(body, `sse-swap="waits"`) {
		t.Error("what was written is replaced")
	}
	_, body = c.get(t, "/issues/pier-1")
	contains(t, body, `sse-swap="waits"`)
}
