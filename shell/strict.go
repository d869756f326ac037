package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Strict is a script that ends wherever a statement of it fails. A shell with -e goes
// on after `! a`, and after `a && b` of which a fails, unless it is the last of the
// script: of these it makes `! a || exit` and `a || exit; b`. Conditions (`a && exit 1`
// among them), what has an alternative (||), bodies of functions and scripts that set +e
// stay as they are, and so does what does not parse.
func Strict(script string) string {
	file, err := Parse(script)
	if err != nil || len(file.Stmts) == 0 || goesOn(file) {
		return script
	}
	last := len(file.Stmts) - 1 // its exit code is that of the script
	edits := append(excused(file.Stmts[:last]), within(file.Stmts[last])...)
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var text strings.Builder
	from := 0
	for _, e := range edits {
		text.WriteString(script[from:e.from] + e.text)
		from = e.to
	}
	return text.String() + script[from:]
}

// edit puts a text in the place of script[from:to].
type edit struct {
	from, to int
	text     string
}

// goesOn reports whether a script says itself that it goes on after failures.
func goesOn(file *syntax.File) (found bool) {
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 1 {
			words := Words(call.Args)
			off := strings.HasPrefix(words[1], "+") && strings.ContainsAny(words[1], "eo") // +o errexit
			found = found || words[0] == "set" && off
		}
		return !found
	})
	return found
}

// excused are the edits of statements after which a shell with -e goes on where they fail.
func excused(list []*syntax.Stmt) (edits []edit) {
	for _, s := range list {
		if s.Background {
			continue
		}
		and, both := s.Cmd.(*syntax.BinaryCmd)
		switch {
		case s.Negated:
			edits = append(edits, edit{end(s), end(s), " || exit"})
		case both && and.Op == syntax.AndStmt && !steers(and.Y):
			at := int(and.OpPos.Offset())
			edits = append(edits, edit{at, at + len("&&"), "|| exit;"})
			edits = append(edits, excused([]*syntax.Stmt{and.Y})...)
		default:
			edits = append(edits, within(s)...)
		}
	}
	return edits
}

// steering are builtins that lead a script on, or prepare what follows: what stands
// before them and && is a condition.
var steering = []string{"exit", "return", "break", "continue", "cd", "pushd", "popd", "source", ".", "set", "unset", "shift", "shopt", "trap", "umask", "alias", "exec", "wait"}

// steers reports whether a statement ends with one of these, or with an assignment.
func steers(s *syntax.Stmt) bool {
	switch node := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(node.Args) == 0 || slices.Contains(steering, Text(node.Args[0].Parts))
	case *syntax.DeclClause:
		return true
	case *syntax.Block:
		return len(node.Stmts) > 0 && steers(node.Stmts[len(node.Stmts)-1])
	case *syntax.BinaryCmd:
		return node.Op != syntax.Pipe && steers(node.Y)
	}
	return false
}

// within is excused for the statements that a statement consists of.
func within(s *syntax.Stmt) []edit {
	if s.Negated || s.Background {
		return nil
	}
	switch node := s.Cmd.(type) {
	case *syntax.Block:
		return excused(node.Stmts)
	case *syntax.Subshell:
		return excused(node.Stmts)
	case *syntax.WhileClause:
		return excused(node.Do)
	case *syntax.ForClause:
		return excused(node.Do)
	case *syntax.IfClause:
		return branches(node)
	case *syntax.CaseClause:
		var edits []edit
		for _, item := range node.Items {
			edits = append(edits, excused(item.Stmts)...)
		}
		return edits
	case *syntax.BinaryCmd:
		switch node.Op {
		case syntax.AndStmt:
			return within(node.Y)
		case syntax.Pipe, syntax.PipeAll:
			return append(within(node.X), within(node.Y)...)
		}
	}
	return nil
}

// branches is excused for what an if leads to.
func branches(clause *syntax.IfClause) (edits []edit) {
	for ; clause != nil; clause = clause.Else {
		edits = append(edits, excused(clause.Then)...)
	}
	return edits
}

// end is where a statement ends, before a semicolon, a comment or the text of a
// here-document.
func end(s *syntax.Stmt) int {
	if both, ok := s.Cmd.(*syntax.BinaryCmd); ok {
		return end(both.Y)
	}
	at := s.Position
	if s.Cmd != nil {
		at = s.Cmd.End()
	}
	for _, r := range s.Redirs {
		if r.Word.End().After(at) {
			at = r.Word.End()
		}
	}
	return int(at.Offset())
}
