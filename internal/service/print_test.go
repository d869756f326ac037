package service

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"stig/internal/visible"
	"stig/internal/workspace"
)

// TestJSONHidesNothing checks that hidden characters are escaped in JSON.
func TestJSONHidesNothing(t *testing.T) {
	for _, text := range []string{"a\tb c é 日 👍", "\x1b]0;t\x07\x7f", "a \u202eb\u2066 c\u200f", "a\u2028b", "a\U000e0041b", "ls\u00a0-l\u200b"} {
		var out bytes.Buffer
		if err := workspace.WriteJSON(&out, "k", map[string]string{"t": text}); err != nil {
			t.Fatal(err)
		}
		var back struct {
			T string `json:"t"`
		}
		if line := strings.TrimSuffix(out.String(), "\n"); visible.Text(line) != line || json.Unmarshal(out.Bytes(), &back) != nil || back.T != text {
			t.Errorf("%q: %s", text, out.String())
		}
	}
}
