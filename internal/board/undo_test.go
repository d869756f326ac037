package board_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stig/internal/board"
	"stig/internal/fault"
	"stig/internal/loop"
	"stig/internal/service"
)

// TestUndo: an answer on the board can be undone for a while: the question is open again, as if
// nobody had answered.
func TestUndo(t *testing.T) {
	s := serve(t, lines, nil)
	hash := s.ask(t, "ann", "How long?", "7 days", "30 days")
	before, _ := os.ReadFile(s.store())
	c := s.browser(t)
	status, body := c.post(t, "/issues/pier-1/resolve", "question", hash, "option", "1", "form", hash, "back", "/")
	contains(t, body, "answered: 7 days", "/issues/pier-1/undo")
	if strings.Contains(body, `class="option"`) || status != 200 {
		t.Errorf("%d: the question is still open", status)
	}
	status, body = c.post(t, "/issues/pier-1/undo", "question", hash, "form", "undo "+hash, "back", "/")
	contains(t, body, "How long?", `value="2">30 days`)
	after, _ := os.ReadFile(s.store())
	if status != 200 || strings.Contains(body, "answered:") || len(after) != len(before) {
		t.Errorf("%d: after the undo the store is\n%s", status, after)
	}
	if status, _ := c.post(t, "/issues/pier-1/undo", "question", hash, "form", "undo "+hash, "back", "/"); status != 409 {
		t.Errorf("undone twice: %d", status)
	}
}

// TestUndoTooLate: once somebody began, undo is refused at the card, with who began and when.
func TestUndoTooLate(t *testing.T) {
	s := serve(t, lines, nil)
	hash := s.ask(t, "ann", "How long?", "7 days", "30 days")
	c := s.browser(t)
	c.post(t, "/issues/pier-1/resolve", "question", hash, "option", "1", "form", hash, "back", "/")
	if status, body := c.post(t, "/issues/pier-1/claim"); status != 200 {
		t.Fatal(body)
	}
	status, body := c.post(t, "/issues/pier-1/undo", "question", hash, "form", "undo "+hash, "back", "/")
	contains(t, body, "too late: mara began 09:00 UTC")
	if n := strings.Count(body, "too late"); status != 409 || n != 1 {
		t.Errorf("%d, %d messages", status, n)
	}
}

// TestUndoOfOthers: nobody undoes the answer of another person.
func TestUndoOfOthers(t *testing.T) {
	s := serve(t, lines, nil)
	hash := s.ask(t, "ann", "How long?", "7 days", "30 days")
	c := s.browser(t)
	c.post(t, "/issues/pier-1/resolve", "question", hash, "option", "1", "form", hash, "back", "/")
	_, err := service.UndoAnswer(t.Context(), s.app("bo").Fresh(t.Context(), "undo"), "pier-1", hash)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "has no answer of bo") {
		t.Error(err)
	}
}

// TestLoopsLeaveAnswers: loops take no issue within a minute of an answer on the board.
func TestLoopsLeaveAnswers(t *testing.T) {
	s := serve(t, strings.SplitAfter(lines, "\n")[0], nil)
	s.clone(t)
	hash := s.ask(t, "ann", "How long?", "7 days", "30 days")
	c := s.browser(t)
	c.post(t, "/issues/pier-1/resolve", "question", hash, "option", "1", "form", hash, "back", "/")
	runs := func() int {
		r := loop.Request{Command: []string{"sh", "-c", "exit 75"}, Once: true, Attempts: 2, Cap: time.Hour, Tell: func(e loop.Event) { t.Log(e.Issue, e.Text) }}
		done, err := loop.Work(t.Context(), s.app("w").Fresh(t.Context(), "work"), r)
		if err != nil {
			t.Fatal(err)
		}
		return len(done.Runs)
	}
	s.now = "2026-11-20T09:00:59Z"
	if n := runs(); n != 0 {
		t.Errorf("%d runs within a minute", n)
	}
	s.now = "2026-11-20T09:01:00Z"
	if n := runs(); n != 1 {
		t.Errorf("%d runs after a minute", n)
	}
}

// nights serves a store with the work of two issues to land.
func nights(t *testing.T) *served {
	t.Helper()
	var text strings.Builder
	for _, id := range []string{"pier-1", "pier-2"} {
		text.WriteString(`{"id":"` + id + `","title":"Write ` + id + `","description":"x","acceptance_criteria":"~~~verify\ntest -s ` + id + `.txt\n~~~","status":"open","priority":1,"issue_type":"task"}` + "\n")
	}
	s := serve(t, text.String(), nil)
	s.clone(t)
	for _, id := range []string{"pier-1", "pier-2"} {
		r := loop.Request{Filter: []string{id}, Command: []string{"sh", "-c", "echo it >$STIG_ISSUE.txt"}, Once: true, Attempts: 2, Cap: time.Hour, Tell: func(e loop.Event) { t.Log(e.Issue, e.Text) }}
		if _, err := loop.Work(t.Context(), s.app("w").Fresh(t.Context(), "work"), r); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// until loads a page until it has a text, which comes from git.
func (c *client) until(t *testing.T, path, text string) (body string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, body = c.get(t, path); strings.Contains(body, text) {
			return body
		}
	}
	t.Fatalf("%s never has %s\n%s", path, text, body)
	return ""
}

// TestLanding: work to land is a card with its size and its proof; it is taken, or sent back
// with a remark.
func TestLanding(t *testing.T) {
	s := nights(t)
	c := s.browser(t)
	body := c.until(t, "/", "<b>2</b> to land")
	contains(t, body, "Take all 2", "· pier-1.txt, +1 −0 · 1 of 1 check, 1 turned", "by w", "&#43;it")
	if status, body := c.post(t, "/issues/pier-1/return", "text", " ", "form", "return pier-1", "back", "/"); status != 422 || !strings.Contains(body, "the remark is empty") {
		t.Errorf("without a remark: %d", status)
	}
	status, body := c.post(t, "/issues/pier-1/return", "text", "no newline", "form", "return pier-1", "back", "/")
	if contains(t, body, "sent back"); status != 200 {
		t.Errorf("%d", status)
	}
	c.until(t, "/issues/pier-1", "no newline")
	c.until(t, "/", "<b>1</b> to land")
	status, body = c.post(t, "/issues/pier-2/take", "form", "take pier-2", "back", "/")
	if contains(t, body, "landed 1 issue on main"); status != 200 {
		t.Errorf("%d", status)
	}
	if out, err := exec.Command("git", "-C", s.dir, "show", "HEAD:pier-2.txt").CombinedOutput(); err != nil || string(out) != "it\n" {
		t.Errorf("%v: %s", err, out)
	}
	c.until(t, "/", "<b>0</b> to land")
	_, body = c.get(t, "/actors/w")
	contains(t, body, "ended just now: one run done, as requested by --once", "Write pier-2", `class="state good">closed`)
	c.until(t, "/", "w · just now · +1 −0</p>")
	body = c.until(t, "/issues/pier-2", ">closed just now</span>")
	contains(t, body, "its checks passed", "1 of 1 check, 1 turned")
	if status, _ := c.post(t, "/store/land", "form", "land", "back", "/"); status != 409 {
		t.Errorf("nothing to land: %d", status)
	}
}

// TestAccessEnds: a browser that was gone for a day, or admitted a week ago, has no access.
func TestAccessEnds(t *testing.T) {
	var later atomic.Int64
	s := serve(t, lines, func(o *board.Options) {
		o.Run.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	c := s.browser(t)
	for _, step := range []struct {
		after  time.Duration
		status int
	}{{23 * time.Hour, 200}, {23 * time.Hour, 200}, {25 * time.Hour, 403}} {
		later.Add(int64(step.after))
		if status, _ := c.get(t, "/"); status != step.status {
			t.Errorf("after %s: %d, want %d", step.after, status, step.status)
		}
	}
	c = s.browser(t)
	for hour := 20; hour < 8*24; hour += 20 {
		later.Add(int64(20 * time.Hour))
		if status, _ := c.get(t, "/"); (status == 200) != (hour <= 7*24) {
			t.Errorf("after %d hours of use: %d", hour, status)
		}
	}
}

// TestUnproven: work that no check shows is a card like that of work to land, without names of
// runs and branches; it is sent back with a remark.
func TestUnproven(t *testing.T) {
	s := serve(t, `{"id":"pier-1","title":"Paint it","description":"x","acceptance_criteria":"~~~verify\ntrue\n~~~","status":"open","priority":1,"issue_type":"task"}`+"\n", nil)
	s.clone(t)
	r := loop.Request{Command: []string{"sh", "-c", "echo red >paint.txt"}, Once: true, Attempts: 2, Cap: time.Hour, Tell: func(e loop.Event) { t.Log(e.Issue, e.Text) }}
	if _, err := loop.Work(t.Context(), s.app("w").Fresh(t.Context(), "work"), r); err != nil {
		t.Fatal(err)
	}
	c := s.browser(t)
	body := c.until(t, "/", "&#43;red")
	contains(t, body, `>Take it</button>`, "Send it back…", "they do not show what it did. Should the work be accepted?</p>")
	card := body[strings.Index(body, "<article"):]
	for _, never := range []string{"r-", "stig/pier-1"} {
		if folded := strings.Index(card, "<details>"); strings.Contains(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(card[:folded], ""), never) {
			t.Errorf("the card has %s:\n%s", never, card[:folded])
		}
	}
	hash := regexp.MustCompile(`id="q-([0-9a-f]+)"`).FindStringSubmatch(body)[1]
	_, body = c.post(t, "/issues/pier-1/resolve", "question", hash, "option", "2", "text", "it is to be blue", "form", hash, "back", "/")
	contains(t, body, "answered: reject it: the work is to be done again · it is to be blue")
}

// TestFailure: an issue at which a run failed is a card, with the last lines of the run; a remark
// on it is in the prompt of the next run.
func TestFailure(t *testing.T) {
	s := serve(t, `{"id":"pier-1","title":"Print the tides","description":"x","acceptance_criteria":"~~~verify\ntest -s tides.txt\n~~~","status":"open","priority":1,"issue_type":"task"}`+"\n", nil)
	s.clone(t)
	work := func(command string) {
		r := loop.Request{Command: []string{"sh", "-c", command}, Once: true, Attempts: 3, Cap: time.Hour, Tell: func(e loop.Event) { t.Log(e.Issue, e.Text) }}
		if _, err := loop.Work(t.Context(), s.app("w").Fresh(t.Context(), "work"), r); err != nil {
			t.Fatal(err)
		}
	}
	work("echo the printer is off; exit 1")
	c := s.browser(t)
	body := c.until(t, "/", `id="failed-pier-1"`)
	contains(t, body, "<b>1</b> failed", `class="count">1 failed</span>`, "the printer is off\n</pre>", "Leave a remark…")
	contains(t, c.until(t, "/issues/pier-1", "failed once"), `<span class="state warn">ready, failed once</span>`)
	if status, body := c.post(t, "/issues/pier-1/comment", "text", "", "form", "remark pier-1", "back", "/"); status != 422 || !strings.Contains(body, "the comment is empty") {
		t.Errorf("%d %s", status, body)
	}
	_, body = c.post(t, "/issues/pier-1/comment", "text", "Use the one in the tower.", "form", "remark pier-1", "back", "/", "then", "/#failed-pier-1")
	contains(t, body, `id="failed-pier-1"`, "mara commented just now: Use the one in the tower.")
	s.now = "2026-11-20T10:00:00Z" // loops wait after a failure
	got := t.TempDir() + "/prompt"
	work("cat >" + got + "; exit 1")
	if prompt, err := os.ReadFile(got); err != nil || !strings.Contains(string(prompt), "Use the one in the tower.") {
		t.Errorf("%v: the prompt lacks the remark:\n%s", err, prompt)
	}
	contains(t, c.until(t, "/issues/pier-1", "failed twice"), "ready, failed twice")
}
