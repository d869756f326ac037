package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// slugs makes the ids of headings as GitHub does, so that a link to one leads to it there
// and in the book.
type slugs struct{ used map[string]int }

// Generate gives the id of a heading: its letters and digits in lower case, with "-" for
// spaces; -1 is added to the second of a name.
func (s *slugs) Generate(heading []byte, _ ast.NodeKind) []byte {
	var out strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(string(heading))) {
		switch {
		case r == ' ':
			out.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			out.WriteRune(r)
		}
	}
	slug := out.String()
	n := s.used[slug]
	if s.used[slug]++; n > 0 {
		slug = fmt.Sprintf("%s-%d", slug, n)
	}
	return []byte(slug)
}

// Put says that an id is taken.
func (s *slugs) Put(id []byte) { s.used[string(id)]++ }
