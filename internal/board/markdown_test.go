package board_test

import (
	"strings"
	"testing"
	"time"

	"stig/internal/board"
)

// TestHTML checks the HTML of texts, hostile ones included.
func TestHTML(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"prose", "a *b* `c`\nd", "<p>a <em>b</em> <code>c</code><br>\nd</p>\n"},
		{"link", "[a](https://x.example/y)", `<p><a href="https://x.example/y">a</a></p>` + "\n"},
		{"link within", "[a](/issues/b#c)", `<p><a href="/issues/b#c">a</a></p>` + "\n"},
		{"script link", "[a](javascript:alert(1))", `<p>a</p>` + "\n"},
		{"script link, disguised", "[a](JaVa&#x73;cript:alert(1))", `<p>a</p>` + "\n"},
		{"data link", "[a](data:text/html,x)", `<p>a</p>` + "\n"},
		{"link without a scheme", "[a](//evil.example/x)", `<p>a</p>` + "\n"},
		{"auto link", "<https://x.example>", `<p><a href="https://x.example">https://x.example</a></p>` + "\n"},
		{"auto link of another scheme", "<vbscript:x>", "<p>vbscript:x</p>\n"},
		{"mail", "<a@x.example>", `<p><a href="mailto:a@x.example">a@x.example</a></p>` + "\n"},
		{"picture", "![a](https://x.example/p.png)", `<p><a href="https://x.example/p.png">a</a></p>` + "\n"},
		{"raw tag", "a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n"},
		{"raw block", "<script>\nalert(1)\n</script>\n", "<pre>&lt;script&gt;\nalert(1)\n&lt;/script&gt;\n</pre>\n"},
		{"table", "|a|\n|-|\n|<b>|", "<table>\n<tr><th>a</th></tr>\n<tr><td>&lt;b&gt;</td></tr>\n</table>\n"},
		{"cells", "| a | b |\n|---|:-:|\n| x\\|y | `z` |", "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>x|y</td><td>`z`</td></tr>\n</table>\n"},
		{"heading", "# a & b", "<h3>a &amp; b</h3>\n"},
		{"hidden", "a\u202eb\x1b[31m\tc\nd", "<p>a\\u202eb\\x1b[31m\tc<br>\nd</p>\n"},
		{"hidden in entities", "a&#x202e;b&#27;[31m&lrm;", "<p>a\\u202eb\\x1b[31m\\u200e</p>\n"},
		{"list", "- a\n- b\n  1. c\n", "<ul><li>a\n</li>\n<li>b\n<ol><li>c\n</li>\n</ol>\n</li>\n</ul>\n"},
		{"quote and rule", "> a\n\n---\n", "<blockquote><p>a</p>\n</blockquote>\n<hr>\n"},
		{"code", "```sh\nls <x>\n```\n\n    y\n", "<pre>ls &lt;x&gt;\n</pre>\n<pre>y\n</pre>\n"},
		{"entities", "&lt;b&gt; \\* &amp;lt;", "<p>&lt;b&gt; * &amp;lt;</p>\n"},
		{"link with a quote", "[a](<https://x.example/\"onclick=y>)", `<p><a href="https://x.example/&#34;onclick=y">a</a></p>` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := board.HTML(c.text, board.MostHTML); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestHTMLIsBounded: no text of an issue makes rendering slow.
func TestHTMLIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"delimiters": strings.Repeat("*a_", 200_000), "brackets": strings.Repeat("[", 200_000), "quotes": strings.Repeat(">", 200_000),
		"ticks": strings.Repeat("`a", 200_000), "long": strings.Repeat("word ", 2_000_000), "lists": strings.Repeat("- a\n", 60_000),
		"indented": strings.Repeat(" ", 200_000), "lines": strings.Repeat("\n", 200_000), "tables": strings.Repeat("|a", 100_000),
		"dashes": strings.Repeat("- ", 100_000), "numbers": strings.Repeat("1. ", 80_000), "pluses": strings.Repeat("+ ", 100_000), "steps": steps(700), "quoted": strings.Repeat("> + ", 3900),
		"entities": strings.Repeat("&amp;", 50_000), "escapes": strings.Repeat("\\", 200_000), "fences": strings.Repeat("~~~\n", 60_000), "rules": strings.Repeat("a\n=\n", 60_000),
		"bangs": strings.Repeat("!", 200_000), "tabs": strings.Repeat("\t- a\n", 60_000), "colons": strings.Repeat("a:b ", 60_000), "closers": strings.Repeat("]", 200_000), "parens": strings.Repeat("](", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			got, _ := board.HTML(text, board.MostHTML)
			if spent := time.Since(start); spent > 10*time.Second { // what is quadratic takes minutes
				t.Errorf("%d bytes took %s", len(text), spent)
			}
			if len(got) > 6*board.MostHTML {
				t.Errorf("%d bytes became %d", len(text), len(got))
			}
		})
	}
}

// steps are lists, each in the one above it.
func steps(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", 2*i%350) + "- a\n")
	}
	return b.String()
}

// FuzzHTML: whatever the text, no tag comes out that the text could have put there.
func FuzzHTML(f *testing.F) {
	f.Add("a <script>x</script> [l](javascript:y) ![p](//z)")
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := board.HTML(text, board.MostHTML)
		got = strings.ToLower(got)
		for _, bad := range []string{"<script", "<img", "<iframe", "<style", "href=\"javascript:", "href=\"data:", "href=\"vbscript:", "href=\"//", "<!--"} {
			if strings.Contains(got, bad) {
				t.Errorf("%q gives %s", text, got)
			}
		}
	})
}
