package gate

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// alwaysTrue are builtins that always exit with 0.
var alwaysTrue = []string{"true", ":", "echo", "printf", "pwd", "sleep", "set", "export", "shopt", "trap", "umask", "alias", "unset", "wait", "hash", "jobs"}

// cannotFail returns why a script always exits with 0; "" if one of its statements can fail.
func (s *script) cannotFail() string {
	for name := range s.functions {
		_, builtin := builtins[name]
		_, known := programs()[name]
		if (builtin || known) && slices.ContainsFunc(s.commands, func(words []string) bool { return words[0] == name }) {
			return "a function replaces " + name
		}
	}
	why := ""
	for _, statement := range s.file.Stmts {
		found := always(statement)
		if found == "" {
			return ""
		}
		why = found
	}
	return why
}

// always returns why a statement always exits with 0; "" if it can fail.
func always(statement *syntax.Stmt) string {
	if statement.Background {
		return "nothing waits for what runs in the background"
	}
	if statement.Negated || len(statement.Redirs) > 0 {
		return "" // a file may not be there, or not be writable
	}
	switch node := statement.Cmd.(type) {
	case *syntax.CallExpr:
		return alwaysCall(node)
	case *syntax.DeclClause:
		return node.Variant.Value + " succeeds always"
	case *syntax.TestClause:
		if constant(node) {
			return "it compares constants"
		}
	case *syntax.FuncDecl:
		return "it only defines a function"
	case *syntax.Block:
		return alwaysAll(node.Stmts)
	case *syntax.Subshell:
		return alwaysAll(node.Stmts)
	case *syntax.BinaryCmd:
		x, y := always(node.X), always(node.Y)
		switch {
		case node.Op == syntax.OrStmt && y != "":
			return "|| " + lastCall(node.Y) + " hides a failure"
		case node.Op == syntax.OrStmt:
			return x
		case x != "" && y != "":
			return y
		}
	}
	return ""
}

func alwaysAll(statements []*syntax.Stmt) (why string) {
	for _, statement := range statements {
		if why = always(statement); why == "" {
			return ""
		}
	}
	return why
}

// alwaysCall is always for a simple command.
func alwaysCall(call *syntax.CallExpr) string {
	if len(call.Args) == 0 {
		if !constant(call) {
			return "" // it exits as what it substitutes does
		}
		return "it only sets variables"
	}
	words := ShellWords(call.Args)
	switch {
	case slices.Contains(alwaysTrue, words[0]):
		return words[0] + " succeeds always"
	case words[0] == "exit" && (len(words) == 1 || words[1] == "0"):
		return "exit 0 always succeeds"
	case (words[0] == "test" || words[0] == "[") && constant(call) && !slices.ContainsFunc(words, isFileTest):
		return "it compares constants"
	}
	return ""
}

// constant reports whether a node contains no variable and examines no file.
func constant(node syntax.Node) bool {
	fixed := true
	syntax.Walk(node, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst, *syntax.ExtGlob:
			fixed = false
		case *syntax.UnaryTest:
			fixed = fixed && !isFileTest(node.Op.String())
		case *syntax.BinaryTest:
			fixed = fixed && !isFileTest(node.Op.String())
		}
		return fixed
	})
	return fixed
}

// isFileTest reports whether a word of a test examines a file or a variable.
func isFileTest(word string) bool {
	return len(word) == 2 && word[0] == '-' && word != "-z" && word != "-n" || word == "-nt" || word == "-ot" || word == "-ef"
}

// lastCall is the name of the command at the end of a statement.
func lastCall(statement *syntax.Stmt) (name string) {
	syntax.Walk(statement, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			name = ShellWords(call.Args)[0]
		}
		return true
	})
	return name
}
