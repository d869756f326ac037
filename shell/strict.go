package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Strict is a script that ends wherever a statement of it fails. A shell with -e goes
// on after `! a`, and after `a && b` of which a fails, unless it is the last of the
// script: these get "|| exit". Conditions (`a && exit 1` among them), what has an
// alternative (||), bodies of functions and scripts that set +e stay as they are, and
// so does what does not parse.
func Strict(script string) string {
	file, err := Parse(script)
	if err != nil || len(file.Stmts) == 0 || goesOn(file) {
		return script
	}
	last := len(file.Stmts) - 1 // its exit code is that of the script
	ends := append(excused(file.Stmts[:last]), within(file.Stmts[last])...)
	slices.Sort(ends)
	var text strings.Builder
	from := 0
	for _, at := range ends {
		text.WriteString(script[from:at] + " || exit")
		from = at
	}
	return text.String() + script[from:]
}

// goesOn reports whether a script says itself that it goes on after failures.
func goesOn(file *syntax.File) (found bool) {
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 1 {
			words := Words(call.Args)
			found = found || words[0] == "set" && strings.HasPrefix(words[1], "+")
		}
		return !found
	})
	return found
}

// excused gives the ends of statements after which a shell with -e goes on where they fail.
func excused(list []*syntax.Stmt) (ends []int) {
	for _, s := range list {
		and, both := s.Cmd.(*syntax.BinaryCmd)
		if !s.Background && (s.Negated || both && and.Op == syntax.AndStmt && !steers(and.Y)) {
			ends = append(ends, end(s))
		}
		ends = append(ends, within(s)...)
	}
	return ends
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
func within(s *syntax.Stmt) []int {
	if s.Negated {
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
		var ends []int
		for _, item := range node.Items {
			ends = append(ends, excused(item.Stmts)...)
		}
		return ends
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
func branches(clause *syntax.IfClause) (ends []int) {
	for ; clause != nil; clause = clause.Else {
		ends = append(ends, excused(clause.Then)...)
	}
	return ends
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
