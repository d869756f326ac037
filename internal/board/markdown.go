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
	"stig/notes"
)

// MostHTML limits the rendered text, in bytes.
const MostHTML = 256 << 10

// HTML renders Markdown as safe HTML. It renders at most most bytes of the text, and reports
// whether there is more.
func HTML(source string, most int) (shown string, more bool) {
	if most = min(most, MostHTML); len(source) > most {
		source, more = strings.ToValidUTF8(source[:most], ""), true
	}
	source = visible.Text(source)
	if notes.Tangled(source) != "" {
		return "<pre>" + html.EscapeString(source) + "</pre>\n", more
	}
	w := writer{source: []byte(source)}
	w.blocks(parse()(text.NewReader(w.source)))
	return w.out.String(), more
}

// parse parses CommonMark.
var parse = sync.OnceValue(func() parseFunc {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	).Parse
})

// allowed returns a destination that a link may have; "" for others.
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
		// Browsers read //host and /\host as another host.
		if !strings.HasPrefix(to, "//") && !strings.ContainsAny(to, "\\\t\r\n") {
			return to
		}
	}
	return ""
}
