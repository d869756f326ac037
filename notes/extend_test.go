package notes_test

import (
	"strings"
	"testing"

	"stig/notes"
)

// TestAppend puts text behind all sections, and refuses what would take in a section that
// follows, or be one.
func TestAppend(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "new",
		"old":                           "old\n\nnew",
		"old\n":                         "old\n\nnew\n",
		"<!-- a -->\n1\n<!-- /a -->":    "<!-- a -->\n1\n<!-- /a -->\n\nnew",
		"<!-- a -->\r\n<!-- /a -->\r\n": "<!-- a -->\r\n<!-- /a -->\r\n\r\nnew\r\n",
	} {
		got, err := notes.Parse(text).Append("new\n")
		if err != nil || got.Text() != want {
			t.Errorf("%q: got %q, %v, want %q", text, got.Text(), err, want)
			continue
		}
		if err := (notes.Permit{Append: true}).Check(text, got.Text()); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if err := (notes.Permit{}).Check(text, got.Text()); err == nil {
			t.Errorf("%q: a text was added that nobody asked for", text)
		}
	}
	for _, text := range []string{"<!-- a -->", "<!-- a -->\n<!-- /a -->", "```\ncode", "<!-- open"} {
		if got, err := notes.Parse("old").Append(text); err == nil {
			t.Errorf("%q was appended: %q", text, got.Text())
		}
	}
	appending := notes.Permit{Append: true}
	for after, before := range map[string]string{"new\nold": "old", "old\n<!-- a -->\n<!-- /a -->": "old", "new": "old"} {
		if appending.Check(before, after) == nil {
			t.Errorf("%q to %q was taken for appending", before, after)
		}
	}
}

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
