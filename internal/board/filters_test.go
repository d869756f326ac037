package board_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestWordsAndFilters: a search applies the filters too.
func TestWordsAndFilters(t *testing.T) {
	s := serve(t, strings.Replace(lines, `"title":"Which rope"`, `"title":"Which rope","labels":["hemp"]`, 1), nil)
	c := s.browser(t)
	for query, want := range map[string]string{
		"q=rope&all=yes": "pier-1 pier-3", "q=rope": "pier-1", "q=rope&status=closed": "pier-3", "q=rope&status=open,+closed": "pier-1 pier-3",
		"q=rope&label=hemp&all=yes": "pier-1", "q=rope&assignee=ann&all=yes": "", "q=rope&type=bug": "", "label=hemp": "pier-1",
	} {
		_, body := c.get(t, "/issues?"+query)
		for strings.Contains(body, "Searching.") { // the machine may be busy
			_, body = c.get(t, "/issues?"+query)
		}
		ids := map[string]bool{}
		for _, row := range regexp.MustCompile(`<tr class="item"><td><a class="name" href="/issues/([^"]*)">`).FindAllStringSubmatch(body, -1) {
			ids[row[1]] = true
		}
		for _, id := range []string{"pier-1", "pier-2", "pier-3"} {
			if ids[id] != strings.Contains(want, id) {
				t.Errorf("%s: %v, want %s", query, ids, want)
			}
		}
	}
}

// TestFormsOfFiltersStay: invalid filters stay in the form for correction, and filters without
// matches say so.
func TestFormsOfFiltersStay(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	for _, f := range []struct {
		path   string
		status int
		wants  []string
	}{
		{"/issues?status=done", 422, []string{"--status: must be one of", `name="status" value="done"`}},
		{"/issues?q=*&label=x", 422, []string{"must be words", `<option value="x" selected>x`}},
		{"/graph?around=pier-9", 404, []string{"pier-9: no such issue", `value="pier-9" aria-label="Issue"`}},
		{"/graph?status=done", 200, []string{"No issues match."}},
	} {
		status, body := c.get(t, f.path)
		if status != f.status {
			t.Errorf("%s: %d", f.path, status)
		}
		contains(t, body, f.wants...)
	}
}
