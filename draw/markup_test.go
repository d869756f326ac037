package draw

import (
	"strings"
	"testing"
)

// What combines with the character before it takes no room of a title.
func TestTitlesAreClippedByColumns(t *testing.T) {
	title := strings.Repeat("e\u0301", 45)
	p := &Picture{Nodes: []Node{{ID: "a-1", Title: title}}}
	if text := string(p.Mermaid()); !strings.Contains(text, title) {
		t.Errorf("clipped:\n%s", text)
	}
}
