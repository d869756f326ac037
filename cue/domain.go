package cue

import (
	"encoding/json"
	"fmt"
	"strings"

	cuelang "cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/token"
)

// Kind is the JSON type of a value.
type Kind int

const (
	String Kind = iota
	Number      // a text that is not a JSON number becomes a string
	Null
	Struct // only in results of Fields
)

// Field is one field of a struct in the schema.
type Field struct {
	Name string
	Text string // as the schema writes it, strings unquoted; "" for null and structs
	Kind Kind
}

// Enum lists the constants that path allows, in schema order. It is nil if path allows other
// values too.
func (s *Schema) Enum(path string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, err := s.mustCompile().lookup(path)
	if err != nil {
		return nil, err
	}
	return constants(value), nil
}

// Range returns the least and the greatest number that path allows, both inclusive, as the
// schema writes them.
func (s *Schema) Range(path string) (low, high string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, err := s.mustCompile().lookup(path)
	if err != nil {
		return "", "", err
	}
	for _, b := range bounds(value) {
		switch b.op {
		case cuelang.GreaterThanEqualOp:
			low = b.text
		case cuelang.LessThanEqualOp:
			high = b.text
		}
	}
	if low == "" || high == "" {
		return "", "", fmt.Errorf("%s has no inclusive range", path)
	}
	return low, high, nil
}

// Fields lists the fields of the struct at path, in schema order.
func (s *Schema) Fields(path string) ([]Field, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, err := s.mustCompile().lookup(path)
	if err != nil {
		return nil, err
	}
	it, err := value.Fields(cuelang.Optional(true))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var fields []Field
	for it.Next() {
		f := Field{Name: it.Selector().Unquoted(), Kind: String}
		switch v := it.Value(); v.IncompleteKind() {
		case cuelang.StructKind:
			f.Kind = Struct
		case cuelang.NullKind:
			f.Kind = Null
		case cuelang.IntKind, cuelang.FloatKind, cuelang.NumberKind:
			f.Kind, f.Text = Number, constant(v)
		default:
			f.Text = constant(v)
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// constants lists the alternatives of a value that is one constant or a disjunction of them.
// error(…) is not an alternative: evaluation drops it.
func constants(v cuelang.Value) []string {
	var texts []string
	for _, a := range operands(v, cuelang.OrOp) {
		if !a.IsConcrete() || a.Kind() == cuelang.NullKind {
			return nil
		}
		texts = append(texts, constant(a))
	}
	return texts
}

// operands lists the operands of an operator in a value, or the value alone if it has another
// or none.
func operands(v cuelang.Value, by cuelang.Op) []cuelang.Value {
	v = v.Eval()
	if op, joined := v.Expr(); op == by {
		return joined
	}
	return []cuelang.Value{v}
}

// constant returns a string without quotes, or any other concrete value as CUE writes it; "" if
// it is not concrete.
func constant(v cuelang.Value) string {
	if !v.IsConcrete() {
		return ""
	}
	if text, err := v.String(); err == nil {
		return text
	}
	text, err := format.Node(v.Syntax(cuelang.Final()))
	if err != nil {
		return ""
	}
	return string(text)
}

// bound is one limit of a number.
type bound struct {
	op   cuelang.Op
	text string
}

// bounds lists the limits of a number; nil if it has other constraints too.
func bounds(v cuelang.Value) []bound {
	var found []bound
	for _, part := range operands(v, cuelang.AndOp) {
		op, args := part.Expr()
		if _, ok := boundWords[op]; !ok || len(args) != 1 {
			return nil
		}
		found = append(found, bound{op, constant(args[0])})
	}
	return found
}

// boundWords phrases a single limit.
var boundWords = map[cuelang.Op]string{
	cuelang.GreaterThanEqualOp: "at least ",
	cuelang.GreaterThanOp:      "greater than ",
	cuelang.LessThanEqualOp:    "at most ",
	cuelang.LessThanOp:         "less than ",
}

// sentence says what a value allows, as in "must be one of a, b"; "" if only the schema's own
// words will do.
func sentence(v cuelang.Value) string {
	switch allowed := constants(v); len(allowed) {
	case 0:
	case 1:
		return "must be " + allowed[0]
	default:
		return "must be one of " + strings.Join(allowed, ", ")
	}
	limits := bounds(v)
	if len(limits) == 2 && limits[0].op == cuelang.GreaterThanEqualOp && limits[1].op == cuelang.LessThanEqualOp {
		return "must be between " + limits[0].text + " and " + limits[1].text
	}
	var words []string
	for _, limit := range limits {
		words = append(words, boundWords[limit.op]+limit.text)
	}
	if len(words) == 0 {
		return ""
	}
	return "must be " + strings.Join(words, " and ")
}

// isNumber reports whether text is a JSON number, which CUE accepts too.
func isNumber(text string) bool {
	if text == "" {
		return false
	}
	first, last := text[0], text[len(text)-1]
	return (first == '-' || isDigit(first)) && isDigit(last) && json.Valid([]byte(text))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func numberLiteral(text string) ast.Expr {
	digits, negative := strings.CutPrefix(text, "-")
	kind := token.INT
	if strings.ContainsAny(digits, ".eE") {
		kind = token.FLOAT
	}
	lit := ast.NewLit(kind, digits)
	if negative {
		return &ast.UnaryExpr{Op: token.SUB, X: lit}
	}
	return lit
}
