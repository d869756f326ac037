package board_test

import (
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/internal/board"
	"stig/internal/loop"
	"stig/internal/service"
)

var update = flag.Bool("update", false, "write the words of the pages in docs/board")

// TestPictures compares the words on the board of the example store with testdata/NAME.txt,
// since pixels differ between browsers. After -update has changed them, retake the pictures in
// docs/board.
func TestPictures(t *testing.T) {
	s := harbor(t)
	c := s.browser(t)
	for page, name := range map[string]string{"/": "today.txt", "/graph": "graph.txt"} {
		path := filepath.Join("testdata", name)
		kept, err := os.ReadFile(path)
		now := c.words(t, page, string(kept))
		switch {
		case err == nil && string(kept) == now:
		case *update:
			if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Log("now take the pictures: cd internal/testkit/outside && go test -tags e2e -run TestPictures -update")
		default:
			t.Errorf("pictures of docs/board have other words (%v): run go test ./internal/board -run TestPictures -update; the page has\n%s", err, now)
		}
	}
}

// harbor serves the example store after a morning of three loops: one asks, one closes an issue
// whose checks pass, one fails.
func harbor(t *testing.T) *served {
	t.Helper()
	s := serve(t, "", func(o *board.Options) {
		err := os.RemoveAll(filepath.Join(o.Run.Dir, ".beads"))
		if err == nil {
			err = os.CopyFS(o.Run.Dir, os.DirFS(filepath.Join("..", "..", "examples", "harbor")))
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	s.clone(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct {
		actor, issue string
		command      []string
	}{
		{"bo", "harbor-d3w", []string{"env", asAnother + "=" + isAsker, "STIG_NOW=" + s.now, self}},
		{"ann", "harbor-4ke.4", []string{"sh", "-c", "sed s/2026-11/2026-12/ tides/2026-11.csv >tides/2026-12.csv"}},
		{"cy", "harbor-t3c", []string{"sh", "-c", "echo the printer does not answer; exit 1"}},
	} {
		r := loop.Request{Filter: []string{run.issue}, Command: run.command, Once: true, Attempts: 2, Cap: time.Hour, Tell: func(e loop.Event) { t.Log(e.Issue, e.Text) }}
		if _, err := loop.Work(t.Context(), s.app(run.actor).Fresh(t.Context(), "work"), r); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// asker acts as an agent that starts harbor-d3w and asks a question.
func asker() error {
	text := "# How to add a berth\n\n1. Measure the floor at low water, in meters above chart datum.\n2. Add a line to berths.csv.\n"
	err := os.Mkdir("docs", 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join("docs", "add-a-berth.md"), []byte(text), 0o644)
	}
	if err != nil {
		return err
	}
	fmt.Println("the issue does not say who may measure")
	r := service.EscalateRequest{ID: os.Getenv("STIG_ISSUE")}
	r.Question = checkpoint.Question{
		Text:    "Who measures the floor of a new berth? A lead line at low water is free, and within 20 cm. A survey costs 400, and is what the insurance asks for.",
		Options: []string{"a lead line", "a survey", "a lead line, and a survey of berths below -1 m"},
	}
	a := ownApp()
	_, err = service.Escalate(a.Ctx, a, r)
	return err
}

// other matches what differs between runs.
var other = regexp.MustCompile(`\br-[0-9a-f]{10}\b| at [0-9a-f]{7,}\b|\b\d+\.\ds\b`)

// words returns the words of a page. It reloads the page while they differ from kept, since a
// page may appear before all results from git do.
func (c *client) words(t *testing.T, path, kept string) (now string) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		_, page := c.get(t, path)
		if now = words(page); now == kept || time.Now().After(until) {
			return now
		}
	}
}

// words returns the visible texts of a page, one per line.
func words(page string) string {
	_, page, _ = strings.Cut(page, "<body")
	page = regexp.MustCompile(`(?s)^[^>]*>|<(style|script)\b.*?</(style|script)>|<[^>]*>`).ReplaceAllString(page, "\n")
	var lines []string
	for line := range strings.Lines(html.UnescapeString(page)) {
		if line = strings.TrimSpace(other.ReplaceAllString(line, "…")); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
