// Package cue validates named values against a definition of a CUE schema and describes each
// violation in one sentence.
//
// It does not know what the values mean or where their text comes from: callers pass names,
// texts and places, and each violation carries them back. It is the only package that imports
// CUE, and it compiles nothing before the first question.
//
//	schema := cue.Embedded()
//	for _, v := range schema.Check("#SignalTable", values) {
//		fmt.Println(v.Message)
//	}
package cue

import (
	"fmt"
	"strings"
	"sync"

	cuelang "cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"

	"stig/schemas"
)

// Schema is a CUE source, compiled on first use, with a cache of verdicts. It is safe for
// concurrent use.
type Schema struct {
	narrowed bool
	files    []file
	compile  func() (*compiled, error)

	mu       sync.Mutex // one evaluation at a time: CUE values do not allow concurrent use
	verdicts map[string][]verdict
}

// file is one source text of a schema, with its name in messages.
type file struct {
	name   string
	source []byte
}

// New returns a schema from one CUE file without parsing it. name is the file's name in
// messages.
func New(name string, source []byte) *Schema {
	return newSchema(false, file{name, source})
}

// Embedded returns a schema from a file embedded in the program.
func Embedded() *Schema {
	return New(schemas.File, []byte(schemas.StigmergicWorkflow))
}

func newSchema(narrowed bool, files ...file) *Schema {
	return &Schema{
		narrowed: narrowed,
		files:    files,
		compile:  sync.OnceValues(func() (*compiled, error) { return compile(files) }),
		verdicts: make(map[string][]verdict),
	}
}

// Narrowed reports whether Narrow made the schema.
func (s *Schema) Narrowed() bool { return s.narrowed }

// Compile compiles the schema now. The error has a line, prefixed by file:line:column, for each
// mistake in the source.
func (s *Schema) Compile() error {
	_, err := s.compile()
	return err
}

// compiled is a schema in a context of its own. Users' values are never built in that context,
// which would keep them until the program ends.
type compiled struct {
	root        cuelang.Value
	base        *compiled // the schema that was narrowed; nil for a schema of one file
	definitions map[string]*definition
}

func compile(files []file) (*compiled, error) {
	instance := &build.Instance{PkgName: ""}
	for _, f := range files {
		syntax, err := parser.ParseFile(f.name, f.source)
		if err != nil {
			return nil, located(err, f.name)
		}
		if err := instance.AddSyntax(syntax); err != nil {
			return nil, located(err, f.name)
		}
	}
	c := &compiled{definitions: make(map[string]*definition)}
	last := files[len(files)-1].name
	if len(files) > 1 {
		base, err := compile(files[:len(files)-1])
		if err != nil {
			return nil, err
		}
		c.base = base
	}
	if err := instance.Complete(); err != nil {
		return nil, located(err, last)
	}
	c.root = newContext().BuildInstance(instance)
	if err := c.root.Validate(); err != nil {
		return nil, located(err, last)
	}
	if err := c.staysClosed(); err != nil {
		return nil, located(err, last)
	}
	return c, nil
}

// staysClosed finds fields that a narrowing file adds by a reference.
func (c *compiled) staysClosed() error {
	if c.base == nil {
		return nil
	}
	it, err := c.base.root.Fields(cuelang.Definitions(true))
	if err != nil {
		return err
	}
	for it.Next() {
		value, err := c.strict(it.Selector().String())
		if err != nil {
			return err
		}
		if err := value.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// strict looks a definition up and compares it with the schema that was narrowed: declarations
// of one definition in several files of a package can add fields to each other, definitions in
// two schemas cannot.
func (c *compiled) strict(path string) (cuelang.Value, error) {
	value, err := c.lookup(path)
	if err != nil || c.base == nil {
		return value, err
	}
	base, err := c.base.strict(path)
	if err != nil {
		return value, err
	}
	return value.Unify(base), nil
}

// mustCompile is for questions without an error result. A schema that fails to compile is
// either part of the program or was given to Narrow, which has rejected it.
func (s *Schema) mustCompile() *compiled {
	c, err := s.compile()
	if err != nil {
		panic(fmt.Sprintf("cue: %v", err))
	}
	return c
}

// lookup finds a value by its path, such as "#Thresholds.convergence.clear".
func (c *compiled) lookup(path string) (cuelang.Value, error) {
	value := c.root
	for _, selector := range cuelang.ParsePath(path).Selectors() {
		next := value.LookupPath(cuelang.MakePath(selector))
		if !next.Exists() && selector.LabelType() == cuelang.StringLabel {
			next = value.LookupPath(cuelang.MakePath(selector.Required()))
		}
		if !next.Exists() {
			return cuelang.Value{}, fmt.Errorf("the schema has no %s", path)
		}
		value = next
	}
	return value, nil
}

// located formats every CUE error on its own line, prefixed by its place in the named file, or
// by the name where CUE gives no place, as for a structural cycle.
func located(err error, name string) error {
	var lines []string
	seen := make(map[string]bool)
	for _, e := range errors.Errors(err) {
		format, args := e.Msg()
		line := fmt.Sprintf(format, args...)
		if path := e.Path(); len(path) > 0 {
			line = strings.Join(path, ".") + ": " + line
		}
		line = placeIn(errors.Positions(e), name) + ": " + line
		if !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// literalOf returns the syntax of a value.
func literalOf(v Value) ast.Expr {
	switch {
	case v.Kind == Null:
		return ast.NewNull()
	case v.Kind == Number && isNumber(v.Text):
		return numberLiteral(v.Text)
	default:
		return ast.NewString(v.Text)
	}
}
