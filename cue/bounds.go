package cue

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/encoding/yaml"
)

// A project's file is evaluated before anybody has read it, and evaluation cannot be
// interrupted: a few lines that reference each other twice, or loop, would keep every command
// busy forever. Anything that can grow is rejected by its syntax.
const (
	maxSource = 64 << 10 // bytes of a file
	maxDepth  = 64       // depth of nested expressions
	maxSize   = 50_000   // nodes, with references counted as their targets
)

// checking are the functions that only test a value.
var checking = []string{
	"and", "or", "len", "MinRunes", "MaxRunes", "MinItems", "MaxItems", "UniqueItems", "MinFields", "MaxFields",
	"Contains", "HasPrefix", "HasSuffix", "Time", "Format", "FormatString", "Match", "Valid",
}

// called returns the name of a function without its package.
func called(function ast.Expr) string {
	switch f := function.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		name, _, _ := ast.LabelName(f.Sel)
		return name
	}
	return ""
}

// parseBounded parses a file, and returns an error for one that could take long to parse or
// evaluate. The error has a line, prefixed by name:line:column, for each mistake.
func parseBounded(name string, source []byte) (*ast.File, error) {
	if len(source) > maxSource {
		return nil, fmt.Errorf("%s:1:1: is longer than 64 KiB", name)
	}
	if err := scanned(name, source); err != nil {
		return nil, located(err, name)
	}
	syntax, err := parser.ParseFile(name, source)
	if err == nil {
		err = bounded(syntax)
	}
	if err != nil {
		return nil, located(err, name)
	}
	return syntax, nil
}

// scanned rejects what makes the parser slow: illegal characters, which it would all collect,
// and deep nesting. It stops at the first.
func scanned(name string, source []byte) (found errors.Error) {
	file := token.NewFile(name, 0, len(source))
	refuse := func(at token.Pos, format string, args ...any) {
		if found == nil {
			found = errors.Newf(at, format, args...)
		}
	}
	if bytes.Count(source, []byte("@(")) > maxDepth {
		refuse(file.Pos(0, token.NoRelPos), "has more than %d attributes", maxDepth)
	}
	var s scanner.Scanner
	s.Init(file, source, func(at token.Pos, format string, args []any) { refuse(at, format, args...) }, 0)
	for open, chained := 0, 0; found == nil; {
		at, what, _ := s.Scan()
		switch what {
		case token.EOF:
			return found
		case token.INTERPOLATION:
			refuse(at, "\\(…) is not allowed in this file")
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open, chained = open+1, 0
		case token.RPAREN, token.RBRACK, token.RBRACE:
			open, chained = max(open-1, 0), 0
		case token.COLON:
			chained++
		case token.COMMA:
			chained = 0
		}
		if open+chained > maxDepth {
			refuse(at, "is nested too deeply")
		}
	}
	return found
}

// parseYAML is parseBounded for YAML, whose syntax errors have a line only: their column is 1.
func parseYAML(name string, source []byte) (*ast.File, error) {
	if len(source) > maxSource {
		return nil, fmt.Errorf("%s:1:1: is longer than 64 KiB", name)
	}
	syntax, err := yaml.Extract(name, source)
	if err != nil {
		line, words, ok := strings.Cut(strings.TrimLeft(strings.TrimPrefix(err.Error(), name), ":"), ": ")
		if _, e := strconv.Atoi(line); e != nil || !ok {
			line, words = "1", strings.TrimPrefix(strings.TrimPrefix(err.Error(), name), ": ")
		}
		return nil, fmt.Errorf("%s:%s:1: %s", name, line, words)
	}
	if err := bounded(syntax); err != nil {
		return nil, located(err, name)
	}
	return syntax, nil
}

// bounded returns an error for a file that could take long to evaluate.
func bounded(f *ast.File) error {
	m := measure{fields: map[string][]ast.Node{}, sizes: map[string]int{}}
	ast.Walk(f, m.enter, func(ast.Node) { m.depth-- })
	if m.err == nil && m.sizeOf(f) > maxSize {
		return errors.Newf(f.Pos(), "grows too large when its references are expanded")
	}
	if m.err == nil {
		return nil
	}
	return m.err
}

// measure records what the names in a file stand for. It ignores scopes: of several fields with
// one name all count, which can only overestimate.
type measure struct {
	depth  int
	fields map[string][]ast.Node
	sizes  map[string]int // size of what a name stands for; 0 while it is being counted
	err    errors.Error
}

// enter records a name, and rejects what makes many values out of few.
func (m *measure) enter(n ast.Node) bool {
	m.depth++
	switch n := n.(type) {
	case *ast.Field:
		if name, _, err := ast.LabelName(n.Label); err == nil {
			m.fields[name] = append(m.fields[name], n.Value)
		}
	case *ast.Alias:
		m.fields[n.Ident.Name] = append(m.fields[n.Ident.Name], n.Expr)
	case *ast.LetClause:
		m.fields[n.Ident.Name] = append(m.fields[n.Ident.Name], n.Expr)
	case *ast.ForClause:
		m.refuse(n, "for is not allowed in this file")
	case *ast.CallExpr:
		if !slices.Contains(checking, called(n.Fun)) {
			m.refuse(n, "must be a call of one of "+strings.Join(checking, ", "))
		}
	case *ast.Interpolation:
		m.refuse(n, "\\(…) is not allowed in this file")
	case *ast.BinaryExpr:
		if n.Op == token.MUL || n.Op == token.ADD || n.Op == token.QUO || n.Op == token.SUB {
			m.refuse(n, n.Op.String()+" is not allowed in this file")
		}
	}
	if m.depth > maxDepth {
		m.refuse(n, "is nested too deeply")
	}
	return m.err == nil
}

func (m *measure) refuse(at ast.Node, why string) {
	if m.err == nil {
		m.err = errors.Newf(at.Pos(), "%s", why)
	}
}

// sizeOf counts nodes, and for a name what it stands for; it never goes far beyond maxSize,
// which is too many.
func (m *measure) sizeOf(n ast.Node) (size int) {
	ast.Walk(n, func(n ast.Node) bool {
		size++
		if id, ok := n.(*ast.Ident); ok && size <= maxSize {
			size += m.named(id.Name)
		}
		return size <= maxSize
	}, nil)
	return size
}

func (m *measure) named(name string) int {
	if size, known := m.sizes[name]; known {
		return size
	}
	m.sizes[name] = 0
	for _, value := range m.fields[name] {
		if value != nil {
			m.sizes[name] = min(m.sizes[name]+m.sizeOf(value), maxSize)
		}
	}
	return m.sizes[name]
}
