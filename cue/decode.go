package cue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	cuelang "cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/token"

	"stig/internal/visible"
)

// Decode validates a CUE or JSON file against a definition and decodes it by json tags into the
// Go value that into points to; missing keys leave it unchanged. The error has a line for each
// mistake in the file, prefixed by name:line:column: what is allowed there, and what was found.
func Decode(schema, definition, name string, source []byte, into any) error {
	syntax, err := parseBounded(name, source)
	if err != nil {
		return err
	}
	return decode(schema, definition, name, syntax, into)
}

// DecodeYAML is Decode for YAML.
func DecodeYAML(schema, definition, name string, source []byte, into any) error {
	syntax, err := parseYAML(name, source)
	if err != nil {
		return err
	}
	return decode(schema, definition, name, syntax, into)
}

func decode(schema, definition, name string, syntax *ast.File, into any) error {
	context := newContext()
	allowed := context.CompileString(schema, cuelang.Filename(definition)).LookupPath(cuelang.ParsePath(definition))
	if err := allowed.Err(); err != nil {
		return fmt.Errorf("schema of %s: %w", name, err)
	}
	given := context.BuildFile(syntax)
	if err := given.Err(); err != nil {
		return located(err, name)
	}
	value := allowed.Unify(given)
	if err := value.Validate(cuelang.Concrete(true)); err != nil {
		return mistakes(err, name, allowed, given)
	}
	return value.Decode(into)
}

// mistakes describes CUE's errors by what the schema allows in each place: one line a place, in
// file order; errors without a place in the file keep CUE's own words.
func mistakes(err error, name string, allowed, given cuelang.Value) error {
	type found struct {
		at   token.Pos
		line string
	}
	var all []found
	seen := map[string]bool{}
	paths := unknownKeys(nil, allowed, given) // CUE omits them while another value fails
	for _, e := range errors.Errors(err) {
		path := e.Path()
		if len(path) > 0 && strings.HasPrefix(path[0], "#") {
			path = path[1:]
		}
		paths = append(paths, path)
	}
	for _, path := range paths {
		place, at, words := mistake(path, allowed, given)
		if words == "" {
			return located(err, name)
		}
		where := name + ":1:1" // what is missing
		if at.IsValid() {
			where = placeIn([]token.Pos{at}, name)
		}
		if !seen[place] {
			seen[place] = true
			all = append(all, found{at, where + ": " + words})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.at.Offset() - b.at.Offset() })
	var lines []string
	for _, one := range all {
		lines = append(lines, one.line)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// unknownKeys lists the paths of keys that the schema lacks.
func unknownKeys(above []string, allowed, given cuelang.Value) (paths [][]string) {
	if given.IncompleteKind() != cuelang.StructKind {
		return nil
	}
	fields, err := given.Fields()
	if err != nil {
		return nil
	}
	for fields.Next() {
		label := fields.Selector().String()
		path := append(slices.Clone(above), label)
		if place := below(allowed, label); place.Exists() {
			paths = append(paths, unknownKeys(path, place, fields.Value())...)
		} else {
			paths = append(paths, path)
		}
	}
	return paths
}

// mistake follows a path as far as the schema knows it. It returns the place, as keys and in
// the file, and what is wrong there; no words if the file has nothing there.
func mistake(path []string, allowed, given cuelang.Value) (place string, at token.Pos, words string) {
	for _, label := range path {
		siblings := keys(allowed)
		given, allowed = below(given, label), below(allowed, label)
		place = strings.TrimPrefix(place+"."+label, ".")
		if !allowed.Exists() {
			return place, given.Pos(), place + ": is an unknown key; must be one of " + strings.Join(siblings, ", ")
		}
	}
	if !given.Exists() {
		return place, token.NoPos, place + ": field is required"
	}
	kind := given.IncompleteKind()
	source := sourceOf(given)
	if source == nil || place == "" && kind == cuelang.StructKind {
		return place, token.NoPos, ""
	}
	words = shape(allowed, kind) + "; found " + written(source)
	if place != "" {
		words = place + ": " + words
	}
	return place, source.Pos(), words
}

// sourceOf returns the syntax of a value without its key; nil if there is none.
func sourceOf(v cuelang.Value) ast.Node {
	switch node := v.Source().(type) {
	case *ast.Field:
		return node.Value
	case *ast.File:
		if len(node.Decls) == 1 {
			return node.Decls[0]
		}
		return nil
	default:
		return node
	}
}

// below returns a value's child under a label of a CUE path, a list element under its index.
func below(v cuelang.Value, label string) cuelang.Value {
	if v.IncompleteKind() == cuelang.ListKind {
		if n, err := strconv.Atoi(label); err == nil {
			if element := v.LookupPath(cuelang.MakePath(cuelang.Index(n))); element.Exists() {
				return element
			}
		}
		return v.LookupPath(cuelang.MakePath(cuelang.AnyIndex))
	}
	field := cuelang.Str(unquoted(label))
	if found := v.LookupPath(cuelang.MakePath(field)); found.Exists() {
		return found
	}
	if found := v.LookupPath(cuelang.MakePath(field.Optional())); found.Exists() {
		return found
	}
	return v.LookupPath(cuelang.MakePath(cuelang.AnyString))
}

// keys lists the fields that a struct may have.
func keys(v cuelang.Value) (names []string) {
	fields, err := v.Fields(cuelang.Optional(true))
	if err != nil {
		return nil
	}
	for fields.Next() {
		names = append(names, fields.Selector().Unquoted())
	}
	return names
}

// kinds names the kinds of values.
func kinds(k cuelang.Kind) string {
	switch k {
	case cuelang.StringKind:
		return "a quoted text"
	case cuelang.BoolKind:
		return "true or false"
	case cuelang.IntKind, cuelang.FloatKind, cuelang.NumberKind:
		return "a number"
	case cuelang.ListKind:
		return "a list in brackets"
	case cuelang.StructKind:
		return "keys in braces"
	}
	return k.String()
}

// shape describes what the schema requires of a value of some kind.
func shape(v cuelang.Value, found cuelang.Kind) string {
	kind := v.IncompleteKind()
	if kind != cuelang.ListKind && kind != cuelang.StructKind {
		if must := sentence(v); must != "" {
			return must
		}
	}
	limits := limitsOf(v.Eval())
	if own := ownWords(v); own != "" {
		limits = []string{own}
	}
	if found != kind || limits == nil {
		return "must be " + kinds(kind)
	}
	return strings.Join(limits, " and ")
}

// ownWords returns the message of the error(…) at the end of a schema value, "" for none.
func ownWords(v cuelang.Value) string {
	op, args := cuelang.Dereference(v).Expr()
	if op != cuelang.OrOp || len(args) < 2 {
		return ""
	}
	op, args = args[len(args)-1].Expr()
	if op != cuelang.CallOp || len(args) != 2 {
		return ""
	}
	words, _ := args[1].String()
	return words
}

// limitsOf describes what else a value must be, must not be, or must match.
func limitsOf(v cuelang.Value) (words []string) {
	op, args := v.Expr()
	switch {
	case op == cuelang.AndOp:
		for _, part := range args {
			words = append(words, limitsOf(part)...)
		}
	case op == cuelang.RegexMatchOp && len(args) == 1:
		words = append(words, "must match "+constant(args[0]))
	case op == cuelang.NotEqualOp && len(args) == 1 && constant(args[0]) == "":
		words = append(words, "must not be empty")
	case v.IncompleteKind() == cuelang.ListKind:
		words = append(words, "must not be empty")
	case boundWords[op] != "" && len(args) == 1:
		words = append(words, "must be "+boundWords[op]+constant(args[0]))
	}
	return words
}

// mostWritten limits how much of the found value a message quotes, in characters.
const mostWritten = 60

// written formats a value as the file has it, on one line.
func written(node ast.Node) string {
	text, err := format.Node(node)
	if err != nil {
		return "something that cannot be shown"
	}
	return visible.Clipped(visible.OneLine(string(text)), mostWritten)
}
