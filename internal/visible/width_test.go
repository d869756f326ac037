package visible_test

import (
	"testing"

	"stig/internal/visible"
)

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		text, characters, columns string // both of 4
		wide                      int
	}{
		{"abcd", "abcd", "abcd", 4},
		{"abcde", "abc…", "abc…", 5},
		{"ab cd", "ab …", "ab…", 5},
		{"日本語", "日本語", "日…", 6},
		{"e\u0301e\u0301e\u0301", "e\u0301e…", "e\u0301e\u0301e\u0301", 3},
		{"👍", "👍", "👍", 2},
	} {
		if n := visible.Columns(c.text); n != c.wide {
			t.Errorf("%q: %d columns, want %d", c.text, n, c.wide)
		}
		if got := visible.Clipped(c.text, 4); got != c.characters {
			t.Errorf("%q: %q of 4 characters, want %q", c.text, got, c.characters)
		}
		if got := visible.ClippedColumns(c.text, 4); got != c.columns {
			t.Errorf("%q: %q of 4 columns, want %q", c.text, got, c.columns)
		}
	}
}
