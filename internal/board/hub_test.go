package board

import (
	"context"
	"testing"
	"time"
)

// TestEnterWhileItChanges: if another browser opens a page while it is rendered here, and it
// changes meanwhile, both show the newer state: no later change would replace the old one.
func TestEnterWhileItChanges(t *testing.T) {
	older, newer := []part{{Name: "a", HTML: "older"}}, []part{{Name: "a", HTML: "newer"}}
	h := &hub{rooms: map[string]*room{}, wake: newBell()}
	h.make = func(context.Context, string) (page, reading, error) {
		h.rooms["/"] = &room{parts: newer, sum: sumOf(newer), visitor: map[*visitor]bool{}}
		return page{Parts: older}, reading{}, nil
	}
	v, err := h.enter(t.Context(), "/", sumOf(older), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if pending, sum := h.take(v); pending["a"] != "newer" || sum != sumOf(newer) {
		t.Errorf("pending is %v", pending)
	}
}
