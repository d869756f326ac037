package board_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"stig/internal/loop"
)

// TestDiff: a diff is one fold a file, the first open, with its lines by kind; a long one ends
// with a link to the whole. Issues whose landings are no cards on Today have theirs too.
func TestDiff(t *testing.T) {
	var text strings.Builder
	for n := range 7 {
		fmt.Fprintf(&text, `{"id":"pier-%d","title":"Write %[1]d","description":"x","acceptance_criteria":"~~~verify\ntest -s it-%[1]d\n~~~","status":"open","priority":1,"issue_type":"task"}`+"\n", n)
	}
	s := serve(t, text.String(), nil)
	write(t, s.dir+"/old.txt", "rope\nhemp\n")
	s.clone(t)
	for n := range 7 {
		command := fmt.Sprintf("echo '<b>' >it-%d", n)
		if n == 0 {
			command = `echo it >it-0; printf 'rope\nsteel\n-- a\n++ b\n' >old.txt; mkdir many; for i in 1 2 3 4 5 6 7 8; do seq 1000 >many/$i; done; echo ä >'ä b'`
		}
		r := loop.Request{Filter: []string{fmt.Sprint("pier-", n)}, Command: []string{"sh", "-c", command}, Once: true, Attempts: 2, Cap: time.Hour, Tell: func(e loop.Event) { t.Log(e.Issue, e.Text) }}
		if _, err := loop.Work(t.Context(), s.app("w").Fresh(t.Context(), "work"), r); err != nil {
			t.Fatal(err)
		}
	}
	c := s.browser(t)
	c.post(t, "/issues/pier-1/comment", "text", "") // looks for what is to land now, not later
	c.until(t, "/", "<b>7</b> to land")
	body := c.until(t, "/issues/pier-6", "Look at the diff")
	contains(t, body, ">Take it</button>", "<details open><summary>it-6 +1 −0</summary>", `<span class="added">&#43;&lt;b&gt;`)
	if n := strings.Count(body, "it-6 +1 −0"); n != 1 {
		t.Errorf("the page has the diff %d times", n)
	}
	body = c.until(t, "/issues/pier-0", "Look at the diff")
	contains(t, body, `>8 more files: the whole diff</a>`, `href="/issues/pier-0?whole=yes"`)
	body = c.until(t, "/issues/pier-0?whole=yes", "many/8 +1000 −0")
	contains(t, body, "old.txt +3 −1</summary>", `<span class="deleted">-hemp`, "&#43;steel\n&#43;-- a\n&#43;&#43;&#43; b</span>", "<summary>ä b +1 −0</summary>")
	if first := regexp.MustCompile(`<details open><summary>[^<]*−`).FindAllString(body, -1); len(first) != 1 || strings.Contains(body, "whole diff") {
		t.Errorf("open files: %q", first)
	}
}
