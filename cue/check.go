package cue

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	cuelang "cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
)

// Value is a named value as written by somebody.
type Value struct {
	Name   string // the field of the definition
	Label  string // its name in messages; Name if empty
	Text   string // as found
	Kind   Kind
	Line   int // its line, 1-based; 0 if it has no place
	Column int // 1-based, in bytes
}

// Violation is one thing that the schema forbids.
type Violation struct {
	Name    string   // the field of the definition
	Found   string   // the text as found; "" for a missing field
	Allowed []string // the allowed constants; nil if other values are allowed too
	Line    int      // of the value; 0 for a missing field
	Column  int
	Message string // one sentence, prefixed by the label
}

// verdict is a violation without its place, since the same values may be elsewhere.
type verdict struct {
	index     int // of the value; -1 for a missing field
	violation Violation
}

// definition is what checks need of one struct of the schema.
type definition struct {
	value  cuelang.Value
	names  []string // its fields, in schema order
	fields map[string]field
}

type field struct {
	value    cuelang.Value
	required bool
}

// Check validates values against a definition such as "#SignalTable". It returns at most one
// violation a name, in the order of the values, missing fields last. It panics if the schema
// lacks the definition, which is a programming error.
//
// Verdicts are cached by the names and texts of the values, so that one table on a thousand
// issues is evaluated once.
func (s *Schema) Check(def string, values []Value) []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := memoryKey(def, values)
	verdicts, known := s.verdicts[key]
	if !known {
		d, err := s.mustCompile().definition(def)
		if err != nil {
			panic(fmt.Sprintf("cue: %v", err))
		}
		verdicts = d.judge(values)
		s.verdicts[key] = verdicts
	}
	var violations []Violation
	for _, v := range verdicts {
		violation := v.violation
		violation.Allowed = slices.Clone(violation.Allowed)
		if v.index >= 0 {
			violation.Line, violation.Column = values[v.index].Line, values[v.index].Column
		}
		violations = append(violations, violation)
	}
	return violations
}

// memoryKey encodes everything that a verdict depends on. Lengths keep texts apart.
func memoryKey(def string, values []Value) string {
	key := make([]byte, 0, 256)
	key = append(key, def...)
	for _, v := range values {
		key = strconv.AppendInt(key, int64(v.Kind), 10)
		for _, text := range [...]string{v.Name, v.Label, v.Text} {
			key = append(strconv.AppendInt(key, int64(len(text)), 10), ':')
			key = append(key, text...)
		}
	}
	return string(key)
}

func (c *compiled) definition(path string) (*definition, error) {
	if d := c.definitions[path]; d != nil {
		return d, nil
	}
	value, err := c.strict(path)
	if err != nil {
		return nil, err
	}
	it, err := value.Fields(cuelang.Optional(true))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &definition{value: value, fields: make(map[string]field)}
	for it.Next() {
		name := it.Selector().Unquoted()
		d.names = append(d.names, name)
		d.fields[name] = field{it.Value(), it.Selector().ConstraintType() == cuelang.RequiredConstraint}
	}
	c.definitions[path] = d
	return d, nil
}

// judge evaluates values. It finds unknown and missing names without CUE, which does not
// mention them while another field fails.
func (d *definition) judge(values []Value) []verdict {
	var verdicts []verdict
	index := make(map[string]int, len(values))
	data := &ast.StructLit{}
	for i, v := range values {
		_, known := d.fields[v.Name]
		_, twice := index[v.Name]
		switch {
		case !known:
			verdicts = append(verdicts, d.unknown(i, v))
			continue
		case twice:
			verdicts = append(verdicts, against(i, v, nil, "must be given once"))
			continue
		}
		index[v.Name] = i
		data.Elts = append(data.Elts, &ast.Field{Label: ast.NewString(v.Name), Value: literalOf(v)})
	}
	words := d.complaints(data)
	for _, sentence := range words[""] {
		verdicts = append(verdicts, verdict{-1, Violation{Message: sentence}})
	}
	for _, name := range d.names {
		i, given := index[name]
		switch {
		case given && len(words[name]) > 0:
			verdicts = append(verdicts, d.refused(i, values[i], words[name]))
		case !given && (d.fields[name].required || len(words[name]) > 0):
			verdicts = append(verdicts, verdict{-1, Violation{Name: name, Message: name + ": field is required"}})
		}
	}
	slices.SortStableFunc(verdicts, func(a, b verdict) int { return byIndex(a.index, b.index) })
	return verdicts
}

// byIndex sorts what has no index last.
func byIndex(a, b int) int {
	switch {
	case a == b:
		return 0
	case a < 0:
		return 1
	case b < 0:
		return -1
	}
	return a - b
}

func (d *definition) unknown(i int, v Value) verdict {
	return against(i, v, nil, "is not a field of the schema (known fields: "+strings.Join(d.names, ", ")+")")
}

// refused describes a violation by what the field allows. A value that the field alone would
// accept breaks a rule between fields, and then only CUE can say which.
func (d *definition) refused(i int, v Value, words []string) verdict {
	field := d.fields[v.Name].value
	allowed, must := constants(field), sentence(field)
	alone := newContext().BuildExpr(literalOf(v)).Unify(field)
	if alone.Validate(cuelang.Concrete(true), cuelang.Final()) == nil {
		allowed, must = nil, ""
		// A message from error(…) in the schema is about the field alone.
		words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "must be ") })
	}
	if must == "" {
		must = append(words, "is not allowed by the schema")[0]
	}
	return against(i, v, allowed, must)
}

func against(i int, v Value, allowed []string, words string) verdict {
	label, found := cmp.Or(v.Label, v.Name), strconv.Quote(v.Text)
	if v.Kind == Number && isNumber(v.Text) {
		found = v.Text
	}
	return verdict{i, Violation{
		Name:    v.Name,
		Found:   v.Text,
		Allowed: allowed,
		Message: label + ": " + words + "; found " + found,
	}}
}

// complaints lets CUE judge data, in a context that is discarded. It returns CUE's sentences by
// field, those about the whole struct under "".
func (d *definition) complaints(data *ast.StructLit) map[string][]string {
	whole := newContext().BuildExpr(data).Unify(d.value)
	words := make(map[string][]string)
	for _, e := range errors.Errors(whole.Validate(cuelang.Concrete(true), cuelang.Final())) {
		name := ""
		if path := e.Path(); len(path) > 0 {
			name = unquoted(path[0])
		}
		if format, args := e.Msg(); !strings.Contains(format, "errors in empty disjunction") {
			words[name] = append(words[name], fmt.Sprintf(format, args...))
		}
	}
	return words
}

func unquoted(label string) string {
	if text, err := strconv.Unquote(label); err == nil {
		return text
	}
	return label
}
