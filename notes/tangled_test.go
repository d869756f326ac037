package notes_test

import (
	"fmt"
	"strings"
	"testing"

	"stig/internal/testkit/sample"
	"stig/notes"
)

// walks are all ways in which a text is read.
func walks(text string) {
	notes.Parse("<!-- s -->\n" + text + "\n<!-- /s -->")
	notes.Blocks(text)
	notes.FindCode(text)
	notes.Parts(text)
	notes.Prose(text)
}

// TestHostileTextIsWalkedInLinearTime also ends where a walk over one nests too deep for a
// stack.
func TestHostileTextIsWalkedInLinearTime(t *testing.T) {
	for _, found := range sample.Superlinear(walks) {
		t.Error(found)
	}
}

func BenchmarkHostile(b *testing.B) {
	for size := 25 << 10; size <= 200<<10; size *= 2 {
		texts := sample.Hostile(size)
		b.Run(fmt.Sprintf("%dk", size>>10), func(b *testing.B) {
			for b.Loop() {
				for _, text := range texts {
					walks(text.Text)
				}
			}
		})
	}
}

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
		{items(101), "nest more than 100 deep"},
		{strings.Repeat(">", 101) + "a", "nest more than 100 deep"},
		{strings.Repeat("> 1) ", 51), "nest more than 100 deep"},
		{strings.Repeat("\t", 51) + "- a", "nest more than 100 deep"},
		{items(50) + strings.Repeat("\n", 6000), "nest 50 deep in 6001 lines; at most 5242 lines"},
		{strings.Repeat("a\r\n", 100) + strings.Repeat("*a ", 4097), "more than 4096 marks of emphasis"},
		{strings.Repeat("[a]: /b\n", 4097), "more than 4096 lines may define links"},
		{strings.Repeat("[a](", 4096), "bytes stand behind its links"},
		{strings.Repeat("a", 1<<20+1), "at most 1048576 are read"},
	} {
		got := notes.Tangled(c.text)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%.40q…: %q, want %q", c.text, got, c.want)
		}
		if got != "" && len(notes.Blocks("# a\n\n"+c.text))+len(notes.FindCode("`a`\n\n"+c.text)) > 0 {
			t.Errorf("%.40q…: is tangled and read", c.text)
		}
	}
}
