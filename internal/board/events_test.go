package board_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHeadOfEvents: a HEAD request for events gets a response that ends.
func TestHeadOfEvents(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	c.http.Timeout = 5 * time.Second
	c.http.Transport = &http.Transport{MaxConnsPerHost: 1} // the next request uses the same connection
	if status, _ := c.do(t, "HEAD", "/events?at=/", nil, nil); status != 200 {
		t.Errorf("status %d", status)
	}
	if status, _ := c.get(t, "/"); status != 200 {
		t.Errorf("then %d", status)
	}
}

// TestEventsOfOddTexts: line breaks in the text of an issue cannot start a new event.
func TestEventsOfOddTexts(t *testing.T) {
	s := serve(t, lines, nil)
	c := s.browser(t)
	events, leave := c.listen(t, "/issues?assignee=a%0Devent:+rows", "")
	defer leave()
	e := await(t, events, "filters")
	if strings.Contains(e.data, "\r") {
		t.Errorf("%q", e.data)
	}
}
