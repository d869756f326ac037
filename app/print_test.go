package app

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Text of a repository must not act on a terminal, nor look other than it is.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\r\nc é 日 👍":         "a\tb\nc é 日 👍",
		"\x1b]0;t\x07\x7f":        `\x1b]0;t\x07\x7f`,
		"\u009b31m":               `\x9b31m`,
		"a \u202eb\u2066 c\u200f": `a \u202eb\u2066 c\u200f`,
		"a\u2028b":                `a\u2028b`,
		"a\U000e0041b":            `a\ue0041b`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		var out bytes.Buffer
		if err := WriteJSON(&out, "k", map[string]string{"t": text}); err != nil {
			t.Fatal(err)
		}
		var back struct {
			T string `json:"t"`
		}
		if strings.ContainsFunc(strings.TrimSuffix(out.String(), "\n"), acts) || json.Unmarshal(out.Bytes(), &back) != nil || back.T != text {
			t.Errorf("%q: %s", text, out.String())
		}
	}
}
