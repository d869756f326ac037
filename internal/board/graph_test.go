package board_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGraphPaths: the graph page shows the paths between two issues, whichever of them waits.
func TestGraphPaths(t *testing.T) {
	c := serve(t, fleet, nil).browser(t)
	for path, wants := range map[string][]string{
		"/graph?from=pier-1&to=pier-1.1": {`waits for <a href="/issues/pier-1.1">pier-1.1</a> in`, `→ <a href="/issues/pier-1.1">`, "<summary>Why</summary>"},
		"/graph?from=pier-1.1&to=pier-1": {`<a href="/issues/pier-1">pier-1</a> waits for`},
		"/graph?from=pier-2&to=pier-5":   {"Neither pier-2 nor pier-5 waits for the other."},
	} {
		_, body := c.get(t, path)
		contains(t, body, wants...)
		if strings.Contains(body, "Flag</text>") {
			t.Errorf("%s draws an issue that is on no path", path)
		}
	}
	for path, status := range map[string]int{"/graph?from=pier-1": 422, "/graph?from=pier-1&to=pier-9": 404} {
		if got, body := c.get(t, path); got != status || !strings.Contains(body, `list="names"`) {
			t.Errorf("%s: %d", path, got)
		}
	}
}

// TestGraphIsDark: the style sheet has a dark form of every colour in a picture and its legend
// that needs one.
func TestGraphIsDark(t *testing.T) {
	sheet, err := os.ReadFile(filepath.Join("static", "style.css"))
	if err != nil {
		t.Fatal(err)
	}
	text := fleet + `{"id":"pier-6","title":"Mast","status":"open","notes":"| Signal | Value |\n|---|---|\n| cynefin | complex |\n","dependencies":[{"issue_id":"pier-6","depends_on_id":"pier-7","type":"blocks"}]}
{"id":"pier-7","title":"Boom","status":"blocked","dependencies":[{"issue_id":"pier-7","depends_on_id":"pier-6","type":"blocks"}]}
`
	_, body := serve(t, text, nil).browser(t).get(t, "/graph")
	both := []string{"#7b8794", "#8b949e"} // lines, visible on both
	for _, colour := range regexp.MustCompile(`(?:fill|stroke)="(#[0-9a-f]{6})"`).FindAllStringSubmatch(body, -1) {
		if !strings.Contains(string(sheet), "["+colour[0]+"]") && !slices.Contains(both, colour[1]) {
			t.Errorf("no dark form of %s", colour[0])
		}
	}
}

// TestCheckFolds: a rule is on the page once with its hint, and the places are under it.
func TestCheckFolds(t *testing.T) {
	var text strings.Builder
	for _, n := range strings.Fields("a b c d e") {
		text.WriteString(`{"id":"pier-` + n + `","title":"Rope ` + n + `","status":"open","priority":2,"issue_type":"task","acceptance_criteria":"It holds."}` + "\n")
		text.WriteString(`{"id":"quay-` + n + `","title":"Rope ` + n + `","status":"closed","priority":2,"issue_type":"task","close_reason":"Unverified: old. Waived: old ` + n + `."}` + "\n")
	}
	body := serve(t, text.String(), nil).browser(t).ready(t, "/check")
	contains(t, body, ">criteria-not-runnable<", "5 places")
	if n := strings.Count(body, "put the commands that check them into a block"); n != 1 {
		t.Errorf("the hint is there %d times: %s", n, body)
	}
	contains(t, body, "type stig reopen ID --reason")
	if n := strings.Count(body, "no acceptance criterion can be run"); n != 1 {
		t.Errorf("the message is there %d times", n)
	}
}
