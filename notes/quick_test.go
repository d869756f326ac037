package notes

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// quickCases are texts with a reason, and whether the block tree can be skipped.
var quickCases = []struct {
	name, text string
	quick      bool
}{
	{"a section", "<!-- a -->\nx\n<!-- /a -->", true},
	{"text around", "before\n<!-- a -->\nx\n<!-- /a -->\nafter < it & <3\n", true},
	{"a table", "<!-- a -->\n\n| x | y |\n|---|---|\n| 1 | 2 |\n \t\n| z |\n\n<!-- /a -->\n", true},
	{"two tables", "<!-- a -->\n| x |\n|---|\n\n| y |\n|---|\n| 1 |\n<!-- /a -->\n", true},
	{"a table among text", "<!-- a -->\nx\n| x |\n|---|\n<!-- /a -->\n", false},
	{"an indented table", "<!-- a -->\n | x |\n |---|\n<!-- /a -->\n", false},
	{"a table outside", "x\n| x |\n|---|\n<!-- a -->\n<!-- /a -->\n", true},
	{"after a list", "- x\n<!-- a -->\n1. y\n   z\n<!-- /a -->\n", true},
	{"after an empty item", "-\n<!-- a -->\n+\n\n<!-- /a -->\n", true},
	{"after a quote", "> x\n<!-- a -->\n> > y\n<!-- /a -->\n", true},
	{"below a heading's dashes", "x\n<!-- a -->\n---\n<!-- /a -->\n===\n", true},
	{"after indented code", "    x\n<!-- a -->\n\ty\n<!-- /a -->\n", true},
	{"after half a link", "[a]:\n<!-- a -->\n[b]: x \"y\n<!-- /a -->\n\"\n", true},
	{"malformed", "<!-- a -->\n<!-- b -->\n<!-- /a -->\n<!-- /a -->\n", true},
	{"a remark", "<!-- a: b, c -->\n<!-- a -->\n<!-- /a -->\n", true},
	{"blanks behind", "<!-- a -->  \nx\n<!-- /a -->\t\n", true},
	{"indented", "<!-- a -->\nx\n <!-- /a -->\n", false},
	{"in an item", "- <!-- a -->\n- <!-- /a -->\n", false},
	{"a fence", "```\n<!-- a -->\n```\n", false},
	{"another fence", "~~~\n<!-- a -->\n", false},
	{"in an element", "<div>\n<!-- a -->\n\n<!-- /a -->\n", false},
	{"in a script", "<script>\n\n<!-- a -->\n<!-- /a -->\n</script>", false},
	{"in a declaration", "<!X\n<!-- a -->\n<!-- /a -->\n", false},
	{"in an instruction", "<?x\n<!-- a -->\n<!-- /a -->\n", false},
	{"in a comment", "<!--\n<!-- a -->\n-->\n", false},
	{"behind a comment", "<!-- x --> y -->\n<!-- a -->\n<!-- /a -->\n", true},
	{"two comments on a line", "<!-- x --> <!-- y\n<!-- a -->\n<!-- /a -->\n", true},
	{"an element behind a comment", "<!-- x --> <div>\n<!-- a -->\n<!-- /a -->\n", true},
	{"a short comment", "<!-->\n<!-- a -->\n<!-- /a -->\n", false},
	{"CR LF", "<!-- a -->\r\nx\r\n<!-- /a -->\r\n", false},
}

func TestQuick(t *testing.T) {
	for _, c := range quickCases {
		t.Run(c.name, func(t *testing.T) {
			if quick := (&Doc{text: c.text}).quick(); quick != c.quick {
				t.Errorf("quick: %v", quick)
			}
			sameWithTree(t, c.text)
		})
	}
}

// sameWithTree checks that skipping the block tree makes no difference.
func sameWithTree(t *testing.T, text string) {
	t.Helper()
	got, want := &Doc{text: text}, &Doc{text: text}
	if !got.quick() {
		return
	}
	delimiters, paragraphs := scan(text)
	want.paragraphs = paragraphs
	want.sections, want.malformed = pair(text, delimiters)
	if !reflect.DeepEqual(got.sections, want.sections) || !reflect.DeepEqual(got.malformed, want.malformed) {
		t.Fatalf("%q:\nsections %v, malformed %v\nwith a tree %v, %v", text, got.sections, got.malformed, want.sections, want.malformed)
	}
	for _, s := range want.sections {
		if a, b := got.Table(s), want.Table(s); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q: %s: table %+v\nwith a tree %+v", text, s.Name, a, b)
		}
	}
}

// TestQuickRandom joins random pieces of lines: fuzzing rarely builds a text with sections.
func TestQuickRandom(t *testing.T) {
	pieces := []string{
		"\n", "\n", "\n\n", "\n", " ", "    ", "\t", "<!-- a -->", "<!-- /a -->", "\n<!-- a -->\n", "\n<!-- /a -->\n", "<!-- b -->\n", "<!-- /b -->\n",
		"<!-- x y: -->", "<!-- x --> <!-- ", "<b>", "<?", "| x | y |\n", "|---|---|\n", "| 1 | 2 |\n", "|", "- ", "* ", "1. ", "10) ", "+", "> ", "# ", "===\n", "---\n", "***\n",
		"[a]: ", "[a]", "\"", "'", "(", "\\", "`", "word", "word\n", "< ", "<", ">", "-->", "<!--", "é", "\x00", "\v", "\f", "\u00a0", "~~", "``",
	}
	random := rand.New(rand.NewPCG(7, 7))
	quick := 0
	for range 30_000 {
		var text strings.Builder
		some := func() {
			for range random.IntN(10) {
				text.WriteString(pieces[random.IntN(len(pieces))])
			}
		}
		some()
		text.WriteString("\n<!-- a -->\n")
		some()
		text.WriteString("\n<!-- /a -->\n")
		some()
		sameWithTree(t, text.String())
		d := &Doc{text: text.String()}
		if d.quick() && len(d.sections) > 0 {
			quick++
		}
	}
	if quick < 1000 {
		t.Errorf("only %d texts with sections were read without a tree", quick)
	}
}

func FuzzQuick(f *testing.F) {
	for _, c := range quickCases {
		f.Add(c.text)
	}
	f.Fuzz(sameWithTree)
}

// TestQuickAllocates holds notes as they are in most stores to few allocations.
func TestQuickAllocates(t *testing.T) {
	text := "<!-- a -->\n\n| Signal | Value | Updated |\n|---|---|---|\n| x | 1 | — |\n| y | 2 | — |\n\n<!-- /a -->\n\n<!-- b -->\n- x\n- y\n<!-- /b -->\n"
	if got := testing.AllocsPerRun(100, func() { Parse(text) }); got > 8 {
		t.Errorf("%v allocations", got)
	}
}
