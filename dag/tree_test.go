package dag_test

import (
	"fmt"
	"strings"
	"testing"

	"stig/dag"
)

// TestTree walks rows of every type in both directions, gives the rows of an issue once, and
// ends at a cycle, at an id that no issue has, and at the depth that was asked for.
func TestTree(t *testing.T) {
	file := parse(t, "a\nb: b>a\nc: b>b related>a b>gone\nx: b>y\ny: b>x\nd: b>c b>b")
	for _, test := range []struct {
		root  string
		up    bool
		depth int
		want  string
	}{
		{"c", false, 9, "c .b blocks ..a blocks .a related .gone blocks"},
		{"c", false, 1, "c .b blocks cut .a related .gone blocks"},
		{"d", false, 9, "d .c blocks ..b blocks ...a blocks ..a related ..gone blocks .b blocks cut"},
		{"x", false, 9, "x .y blocks ..x blocks cut cycle"},
		{"a", true, 9, "a .b blocks ..c blocks ...d blocks ..d blocks .c related cut"},
	} {
		root, _ := file.Index(test.root)
		var got []string
		for _, b := range dag.Tree(file, root, test.up, test.depth) {
			word := strings.TrimSpace(fmt.Sprint(strings.Repeat(".", b.Depth), b.ID, " ", b.Type))
			if b.Cut {
				word += " cut"
			}
			if b.Cycle {
				word += " cycle"
			}
			got = append(got, word)
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: got %s, want %s", test.root, text, test.want)
		}
	}
}
