package cue

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	cuelang "cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
)

// Narrow returns a stricter schema: the definitions of source apply in addition to those of s.
// It compiles both. The file can remove alternatives and tighten limits; anything that would
// widen the schema is rejected, even if CUE would silently accept it: an alternative or a limit
// outside the schema, an unknown field or definition, a pattern, an ellipsis. The error has a
// line, prefixed by name:line:column, for each mistake.
func (s *Schema) Narrow(name string, source []byte) (*Schema, error) {
	syntax, err := parseBounded(name, source)
	if err != nil {
		return nil, err
	}
	base, err := s.compile()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	w := widening{base: base}
	w.file(syntax)
	s.mu.Unlock()
	if len(w.found) > 0 {
		return nil, errors.New(strings.Join(w.found, "\n"))
	}
	narrowed := newSchema(true, append(slices.Clone(s.files), file{name, bytes.Clone(source)})...)
	if err := narrowed.Compile(); err != nil {
		return nil, err
	}
	return narrowed, nil
}

// widening examines the syntax of a narrowing file for what would widen the schema. It uses the
// syntax, not the value, because CUE allows all fields that several declarations of one
// definition add.
type widening struct {
	base  *compiled
	found []string
}

func (w *widening) report(at ast.Node, format string, args ...any) {
	w.found = append(w.found, place(at.Pos())+": "+fmt.Sprintf(format, args...))
}

func (w *widening) file(f *ast.File) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.Field:
			name, _, err := ast.LabelName(d.Label)
			if err == nil && strings.HasPrefix(name, "_") {
				continue // a helper of the file
			}
			w.field("", d)
		case *ast.EmbedDecl:
			w.report(d, "must be a definition of the schema")
		}
	}
}

// field checks one field under the definition or struct at path.
func (w *widening) field(path string, f *ast.Field) {
	name, _, err := ast.LabelName(f.Label)
	if err != nil {
		w.report(f, "%s: fields must be named individually", cmp.Or(path, "schema"))
		return
	}
	full := strings.TrimPrefix(path+"."+name, ".")
	value, err := w.base.lookup(full)
	if err != nil {
		w.report(f, "%v", err)
		return
	}
	w.expr(full, value, f.Value)
}

func (w *widening) expr(path string, value cuelang.Value, e ast.Expr) {
	switch e := e.(type) {
	case *ast.StructLit:
		w.decls(path, value, e.Elts)
	case *ast.ParenExpr:
		w.expr(path, value, e.X)
	case *ast.BinaryExpr:
		if e.Op == token.OR || e.Op == token.AND {
			w.expr(path, value, e.X)
			w.expr(path, value, e.Y)
		}
	case *ast.UnaryExpr:
		switch e.Op {
		case token.MUL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			w.expr(path, value, e.X)
		case token.SUB, token.ADD:
			w.constant(path, value, e)
		}
	case *ast.BasicLit:
		w.constant(path, value, e)
	}
}

func (w *widening) decls(path string, value cuelang.Value, decls []ast.Decl) {
	for _, decl := range decls {
		switch d := decl.(type) {
		case *ast.Field:
			w.field(path, d)
		case *ast.EmbedDecl:
			w.expr(path, value, d.Expr)
		case *ast.Comprehension:
			w.expr(path, value, d.Value)
		case *ast.Ellipsis:
			w.report(d, "%s: must stay closed; found %q", path, "...")
		}
	}
}

// constant validates one constant, an alternative or a limit, against the schema.
func (w *widening) constant(path string, value cuelang.Value, e ast.Expr) {
	given := newContext().BuildExpr(e)
	if given.Unify(value).Validate(cuelang.Final()) == nil {
		return
	}
	words := cmp.Or(sentence(value), "must be allowed by the schema")
	w.report(e, "%s: %s; found %v", path, words, given)
}

func place(p token.Pos) string {
	position := p.Position()
	return fmt.Sprintf("%s:%d:%d", position.Filename, position.Line, position.Column)
}

// placeIn returns the position that is in the named file, else the name alone.
func placeIn(positions []token.Pos, name string) string {
	for _, p := range positions {
		if p.Filename() == name {
			return place(p)
		}
	}
	return name
}
