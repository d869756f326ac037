package board_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// many returns a store with more of everything than pages show.
func many() string {
	var text strings.Builder
	line := func(fields map[string]any) {
		for key, value := range map[string]any{"priority": 2, "issue_type": "task", "created_at": "2026-11-10T09:00:00Z", "updated_at": "2026-11-20T08:00:00Z"} {
			if fields[key] == nil {
				fields[key] = value
			}
		}
		b, _ := json.Marshal(fields)
		text.Write(append(b, '\n'))
	}
	for i := range 120 {
		line(map[string]any{"id": fmt.Sprintf("shut-%d", i), "title": "shut", "status": "closed", "closed_at": "2026-11-20T08:00:00Z", "close_reason": strings.Repeat("so ", 1000)})
		line(map[string]any{"id": fmt.Sprintf("left-%d", i), "title": "left", "status": "in_progress", "assignee": fmt.Sprintf("worker-%d", i), "updated_at": "2026-01-01T08:00:00Z"})
		line(map[string]any{"id": fmt.Sprintf("hull-%d", i), "title": "hull", "status": "open", "issue_type": "epic"})
		line(map[string]any{"id": fmt.Sprintf("hull-%d.1", i), "title": "plank", "status": "open", "dependencies": []any{map[string]any{"issue_id": fmt.Sprintf("hull-%d.1", i), "depends_on_id": fmt.Sprintf("hull-%d", i), "type": "parent-child"}}})
	}
	var comments, labels []any
	for i := range 200 {
		comments = append(comments, map[string]any{"id": i + 1, "issue_id": "pier-1", "author": "ann", "text": fmt.Sprintf("comment %d", i), "created_at": "2026-11-20T08:00:00Z"})
	}
	for i := range 3000 {
		labels = append(labels, fmt.Sprintf("label %d", i))
	}
	line(map[string]any{"id": "pier-1", "title": "Rope", "status": "open", "comments": comments, "labels": labels})
	return text.String()
}

// TestCountsAll: counts on a page include what the page does not show.
func TestCountsAll(t *testing.T) {
	s := serve(t, many(), nil)
	c := s.browser(t)
	for _, p := range []struct {
		path  string
		wants []string
	}{
		{"/", []string{`<b>0</b> at work`, `<b>120</b> claimed`, `<b>120</b> closed in the last 7 days`, `Running <span class="count">0 at work, 120 claimed<`, ">70 more<", ">108 more<"}},
		{"/issues/pier-1", []string{`What happened <span class="count">201<`, "the newest 80", "of 3000 labels", "comment 199"}},
		{"/issues?from=9999", []string{"361 issues", ">Previous<", `href="/issues/pier-1"`}},
		{"/graph", []string{`<option value="hull-0">`, `<option value="hull-119">`}},
	} {
		body := c.ready(t, p.path)
		if len(body) > 100_000 && p.path != "/graph" {
			t.Errorf("%s: %d bytes", p.path, len(body))
		}
		for _, want := range p.wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s; has %v", p.path, want, regexp.MustCompile(`<h2>.*?</h2>|<p class="meta".*?</p>`).FindAllString(body, 8))
			}
		}
	}
}
