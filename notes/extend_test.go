package notes_test

import (
	"strings"
	"testing"

	"stig/notes"
)

func TestExtend(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"none", "", "<!-- a -->\nnew\n<!-- /a -->"},
		{"a body", "<!-- a -->\nold  \n<!-- /a -->", "<!-- a -->\nold  \n\nnew\n<!-- /a -->"},
		{"a body that ends blank", "<!-- a -->\nold\n\n<!-- /a -->", "<!-- a -->\nold\n\nnew\n<!-- /a -->"},
		{"an empty body", "<!-- a -->\n<!-- /a -->", "<!-- a -->\nnew\n<!-- /a -->"},
		{"CRLF", "<!-- a -->\r\nold\r\n<!-- /a -->\r\ntail", "<!-- a -->\r\nold\r\n\r\nnew\r\n<!-- /a -->\r\ntail"},
		{"the last of several", "<!-- a -->\n1\n<!-- /a -->\n<!-- a -->\n2\n<!-- /a -->", "<!-- a -->\n1\n<!-- /a -->\n<!-- a -->\n2\n\nnew\n<!-- /a -->"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := notes.Parse(test.text).Extend("a", "new")
			if err != nil {
				t.Fatal(err)
			}
			if got.Text() != test.want {
				t.Errorf("got %q, want %q", got.Text(), test.want)
			}
		})
	}
	if _, err := notes.Parse("<!-- a -->\n").Extend("a", "new"); err == nil {
		t.Error("malformed notes were extended")
	}
	if _, err := notes.Parse("").Extend("a", "<!-- /a -->"); err == nil || !strings.Contains(err.Error(), "1") {
		t.Errorf("a text with a delimiter was taken: %v", err)
	}
}
