package board

import (
	"html"
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"stig/internal/visible"
)

const (
	// MostHTML is how much of a text is rendered, in bytes.
	MostHTML = 256 << 10
	// marks is how many characters of a text may open or close something: what the
	// library takes for them grows with their square.
	marks = 4000
	// lists is how many lists may begin on one line, each in the one before it: what the
	// library takes for them grows with their square, too.
	lists = 32
)

// HTML renders a text. Of more than most bytes it renders the beginning, and reports that
// there is more.
func HTML(source string, most int) (shown string, more bool) {
	if most = min(most, MostHTML); len(source) > most {
		source, more = strings.ToValidUTF8(source[:most], ""), true
	}
	source = visible.Text(source)
	if isTangled(source) {
		return "<pre>" + html.EscapeString(source) + "</pre>\n", more
	}
	w := writer{source: []byte(source)}
	w.blocks(parse()(text.NewReader(w.source)))
	return w.out.String(), more
}

// isTangled reports whether a text would take the library long.
func isTangled(text string) bool {
	n := 0
	for _, mark := range []string{"*", "_", "[", "`", "<", ">", "|"} {
		n += strings.Count(text, mark)
	}
	if n > marks {
		return true
	}
	for line := range strings.Lines(text) {
		if begun(line) > lists {
			return true
		}
	}
	return false
}

// begun counts the lists that a line may begin, as in "- 1. + a", one more than allowed at
// most.
func begun(line string) (n int) {
	for ; n <= lists; n++ {
		line = strings.TrimLeft(line, " \t>")
		rest := strings.TrimLeft(line, "0123456789")
		if len(rest) < 2 || !strings.ContainsRune("-+*.)", rune(rest[0])) || rest[1] != ' ' && rest[1] != '\t' {
			return n
		}
		line = rest[2:]
	}
	return n
}

// parse is the parser of CommonMark.
var parse = sync.OnceValue(func() parseFunc {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	).Parse
})

// allowed gives a destination that may be followed; "" for any other.
func allowed(destination string) string {
	to := strings.TrimSpace(string(util.UnescapePunctuations(util.ResolveNumericReferences(util.ResolveEntityNames([]byte(destination))))))
	u, err := url.Parse(to)
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "mailto":
		return to
	case "":
		// Browsers take //host and /\host for another host.
		if !strings.HasPrefix(to, "//") && !strings.ContainsAny(to, "\\\t\r\n") {
			return to
		}
	}
	return ""
}
