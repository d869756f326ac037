package sample

import (
	"fmt"
	"strings"
	"time"
)

// Text is a hostile text and its description.
type Text struct{ Name, Text string }

// repeated are short texts. Many of one make a parser of Markdown, shell or structured values
// nest, backtrack, or look for a missing end.
var repeated = []string{
	"(", "{ ", "{", "[", "]", "$(", "<(", "${a:-", "$((", "((", "[[ ", "\"$(", "`", "``", "` ", "`a", "`` ` ", "\\", "'", "\"", "'a", "\"a ",
	"if ", "if a; then ", "while a; do ", "case a in a) ", "f() ", "function f { ", "! ", "time ", "coproc ", "a && ", "a | ", "a & ", "a; ", "<<E ", "cat <<E\n", "@(", "a?", "- ", "-", "1+", "a=", "a[",
	"elif a; then b; ", "a b\n", "`a` b\n", "run `a`\n", "*a*\n", "[a](b)\n", "```\n", "~~~\n", "```bash\na b\n```\n", "> ", ">", "> - ", "> - 1. ", "1. ", "* ", "- [ ] a\n", "[a](b) ", "[a](", "[a](b (", "[a](b '", "[a](b \"", "[a](<b ", "[a](b", "![", "![a](", "[a][", "[a][b ", "[[a]", "[a] ", "[a]: b (", "[a]: b \"\n", "[a]:\n", "]: ", "[a]: <",
	"*", "**", "***a ", "*a ", "a*", "**a", "_a ", "a_", "*_", "*a_b ", "*[a](b)* ", "~~", "&", "&a;", "&#", "<", "<a ", "<a b=\"", "<a b='", "<a/", "<a b ", "<http://a", "<a@b", "*<a", "<!-- a", "<?", "<!", "<!--", "<!A ", "<![CDATA[",
	"<!-- a -->\n", "<!-- a -->", "<!-- signals -->\n", "<!-- /signals -->\n", "<!-- signals -->\n<!-- /signals -->\n", "<div>", "</div>", "<div>\n", "|", "|a", "| a | b |\n", "\\|",
	"#", "# a\n", "a\n=\n", "a\n-\n", "a\n", "\n", " ", "\t", " \n", "\r", "a\r\n", "\x01", "\x1b[", "é", "\u202e", "w", "word ", "A", ".", ": ", "- a: ",
	"Acceptance: a\n", "## Acceptance\n- a\n", "AC: ", "Done when ", "run `a b` passes ", "`go test` passes, ", "passes ", "run go test ./a and ", "→ ", "= ", "prints ", "not ", "when ", "such as ",
	"http://a.b/c ", "@a ", "q-1 ", "q-1.1", "a/b.go ", "2025-01-01 ", "What? ", "It is. ", "password=", "AKIA", "[{", "{\"a\":", "a: ", "a: {", "a: [", "- - ", "? ", "!!a ", "*a", "&a ", "done: a\n", "**done**: a\n", "- **a**: b\n", "## a\n### b\n",
}

// Hostile returns texts of about size bytes: many repetitions of one unit, bare and in fenced
// shell code, and lines that nest ever deeper.
func Hostile(size int) (texts []Text) {
	add := func(name, text string) { texts = append(texts, Text{name, text}) }
	for _, unit := range repeated {
		name, many := fmt.Sprintf("%q", unit), strings.Repeat(unit, size/len(unit))
		add(name, many)
		if strings.Contains(unit, "```") || strings.Contains(unit, "~~~") {
			continue
		}
		add("fence of "+name, "Run:\n\n```bash\n"+many+"\n```\n")
		if !strings.Contains(unit, "\n") && !strings.Contains(unit, "`") {
			add("span of "+name, "- `"+many+"a` passes\n")
		}
	}
	add("arithmetic", "```bash\necho $(("+strings.Repeat("-", size)+"1))\n```")
	add("small fences", strings.Repeat("```bash\na b\n```\n\n", size/18))
	for _, growing := range []struct {
		name string
		line func(n int) string
	}{
		{"deeper list", func(n int) string { return strings.Repeat("  ", n) + "- a\n" }},
		{"deeper quote", func(n int) string { return strings.Repeat(">", n) + " a\n" }},
		{"longer ticks", func(n int) string { return strings.Repeat("`", n) + "a" }},
		{"longer fences", func(n int) string { return strings.Repeat("`", n+3) + "\n" }},
		{"references", func(n int) string { return fmt.Sprintf("[a%d]: /u\n", n) }},
		{"headings", func(n int) string { return strings.Repeat("#", n%6+1) + " a\n" }},
		{"sections", func(n int) string { return fmt.Sprintf("<!-- s%d -->\n", n) }},
		{"rows", func(n int) string { return fmt.Sprintf("| a%d | b |\n", n) }},
		{"steps", func(n int) string { return fmt.Sprintf("%d. run `a%d b` passes\n", n, n) }},
	} {
		var text strings.Builder
		for n := 1; text.Len() < size; n++ {
			text.WriteString(growing.line(n))
		}
		add(growing.name, text.String())
	}
	return texts
}

// Sizes of hostile texts, and for the smaller and the larger the times from which they matter.
const (
	small   = 25 << 10
	large   = 100 << 10
	notable = 5 * time.Millisecond
	felt    = 200 * time.Millisecond
)

// Superlinear names the hostile texts for which a walk takes more than three times as long for
// each doubling of their size, up to 100 kB, and how long it took. Since the machine may be
// busy, the time is the shortest of several over two doublings.
func Superlinear(walk func(text string)) (found []string) {
	longer := Hostile(large)
	for i, text := range Hostile(small) {
		before := shortest(walk, text.Text, 1)
		if before < notable {
			continue
		}
		now := shortest(walk, longer[i].Text, 1)
		for tries := 0; now > max(felt, 9*before) && tries < 5; tries++ {
			before, now = max(notable, min(before, shortest(walk, text.Text, 2))), min(now, shortest(walk, longer[i].Text, 2))
		}
		if now > max(felt, 9*before) {
			found = append(found, fmt.Sprintf("%s: %v for %d bytes, %v for %d", text.Name, before, small, now, large))
		}
	}
	return found
}

func shortest(walk func(text string), text string, times int) time.Duration {
	best := time.Hour
	for range times {
		begun := time.Now()
		walk(text)
		best = min(best, time.Since(begun))
	}
	return best
}
