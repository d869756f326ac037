package visible_test

import (
	"strings"
	"testing"

	"stig/internal/visible"
)

// TestText lists what must be visible in a command, and what must stay as it is.
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\r\nc é 日 👍 ❤️ ﷽ e\u0301": "a\tb\nc é 日 👍 ❤️ ﷽ e\u0301",
		"\x1b]0;t\x07\x7f\rb":          `\x1b]0;t\x07\x7f\x0db`,
		"\u009b31m":                    `\u009b31m`,
		"a \u202eb\u2066 c\u200f":      `a \u202eb\u2066 c\u200f`,
		"a\u2028b\u2029":               `a\u2028b\u2029`,
		"a\U000e0041b":                 `a\U000e0041b`,
		"rm\u200b \ufeffx\u2060":       `rm\u200b \ufeffx\u2060`,
		"ls\u00a0-l\u3000x\u2009":      `ls\u00a0-l\u3000x\u2009`,
		"go\u00adtest":                 `go\u00adtest`,
		"\u3164\u115f\uffa0\u2800":     `\u3164\u115f\uffa0\u2800`,
		"a\U000e0101\ufe01":            `a\U000e0101\ufe01`,
		"\xff\ufffd\xc3":               `\xff` + "\ufffd" + `\xc3`,
		"\ue000\uffff":                 `\ue000\uffff`,
	} {
		got := visible.Text(text)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if visible.Text(got) != got {
			t.Errorf("%q: the escaped text is escaped again", text)
		}
	}
}

// TestASCII checks that every printable ASCII character stays.
func TestASCII(t *testing.T) {
	var b strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		b.WriteByte(c)
	}
	if got := visible.Text(b.String()); got != b.String() {
		t.Errorf("%q", got)
	}
}
