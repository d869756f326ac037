package notes_test

import (
	"strings"
	"testing"

	"stig/notes"
)

func TestTangled(t *testing.T) {
	items := func(depth int) string { return strings.Repeat("- ", depth) + "a\n" }
	deeper := ""
	for n := range 60 {
		deeper += strings.Repeat("  ", n) + "- a\n"
	}
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{deeper, ""},
		{strings.Repeat("- [a](b) and *c* of some_name and `d`\n", 4000), ""},
		{strings.Repeat("a_b_c *d* e\n\n", 20000), ""},
		{strings.Repeat("| `a` | b_c |\n", 10000), ""},
		{strings.Repeat(" ", 1000) + "a", ""},
		{items(100), ""},
		{items(101), "nest more than 100 levels deep"},
		{strings.Repeat(">", 101) + "a", "nest more than 100 levels deep"},
		{strings.Repeat("> 1) ", 51), "nest more than 100 levels deep"},
		{strings.Repeat("\t", 51) + "- a", "nest more than 100 levels deep"},
		{items(50) + strings.Repeat("\n", 6000), "nest 50 levels deep in more than 5242 lines"},
		{strings.Repeat("a\r\n", 100) + strings.Repeat("*a ", 4097), "more than 4096 emphasis marks"},
		{strings.Repeat("[a]: /b\n", 4097), "more than 4096 lines may define links"},
		{strings.Repeat("[a](", 4096), "too long for their 4096 links"},
		{strings.Repeat("a", 1<<20+1), "at most 1048576 are read"},
	} {
		got := notes.Tangled(c.text)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%.40q…: %q, want %q", c.text, got, c.want)
		}
		if got != "" && len(notes.Blocks("# a\n\n"+c.text))+len(notes.Leaves("`a`\n\n"+c.text)) > 0 {
			t.Errorf("%.40q…: is tangled and read", c.text)
		}
	}
}

// Sections that are not read must not be written a second time.
func TestTangledNotesAreNotWritten(t *testing.T) {
	d := notes.Parse("<!-- state -->\nas it is\n<!-- /state -->\n\n```\na\n```\n" + strings.Repeat("> ", 101))
	if len(d.Sections()) > 0 || len(d.Malformed()) != 1 {
		t.Errorf("%v %v", d.Sections(), d.Malformed())
	}
	if _, err := d.Replace("state", "as it will be"); err == nil || !strings.Contains(err.Error(), "nest more than 100 levels deep") {
		t.Errorf("written: %v", err)
	}
	if _, err := notes.Parse("```\na\n```\n"+strings.Repeat("> ", 101)).Replace("state", "new"); err == nil {
		t.Error("a section was added to what is not read")
	}
}
