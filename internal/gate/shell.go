package gate

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"stig/internal/process"
)

// Limits of a text. Linux limits an argument of a shell's -c, and the parser needs a stack
// frame for each level.
const (
	maxText  = 64 << 10 // bytes
	maxDepth = 100      // open brackets
)

// errBound marks a text beyond one of these limits.
var errBound = errors.New("not read")

// ParseShell parses a text as bash. The error says why it is invalid.
func ParseShell(text string) (file *syntax.File, err error) {
	defer recovered(&err)
	if err := bounded(text); err != nil {
		return nil, err
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// statements returns the statements before the first syntax error in a text, which bash would
// run.
func statements(text string) (stmts []*syntax.Stmt) {
	var err error
	defer recovered(&err)
	if bounded(text) != nil {
		return nil
	}
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			break
		}
		stmts = append(stmts, s)
	}
	return stmts
}

// bounded returns the limit that a text exceeds.
func bounded(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("%w: longer than %d bytes", errBound, maxText)
	}
	depth := 0
	for _, b := range []byte(text) {
		switch b {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxDepth {
			return fmt.Errorf("%w: more than %d open brackets", errBound, maxDepth)
		}
	}
	return nil
}

// recovered turns a panic of the parser, which some texts cause, into an error about the text.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the parser gives up: %v", r)
	}
}

// IsIncomplete reports whether a shell would ask for more lines.
func IsIncomplete(command string) bool {
	if strings.HasSuffix(command, `\`) && !strings.HasSuffix(command, `\\`) {
		return true
	}
	_, err := ParseShell(command)
	// The parser does not report an open here-document as incomplete.
	return err != nil && (syntax.IsIncomplete(err) || strings.Contains(err.Error(), "here-document"))
}

// ShellWords returns the words without quotes. An expansion becomes "$NAME", or "$()" for
// anything but a plain variable.
func ShellWords(words []*syntax.Word) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = WordText(word.Parts)
	}
	return texts
}

// WordText returns the text of the parts of a word, as in ShellWords.
func WordText(parts []syntax.WordPart) string {
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(unescape(part.Value))
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			text.WriteString(WordText(part.Parts))
		case *syntax.ParamExp:
			if part.Param != nil && part.Exp == nil && part.Slice == nil && part.Repl == nil && part.Index == nil && !part.Length && !part.Excl {
				text.WriteString("$" + part.Param.Value)
			} else {
				text.WriteString("$()")
			}
		default:
			text.WriteString("$()")
		}
	}
	return text.String()
}

// unescape returns the text of an unquoted literal without its backslashes.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return strings.NewReplacer(`\\`, `\`, "\\\n", "", `\`, "").Replace(text)
}

// StrictScript makes a script end wherever a statement fails. A shell with -e goes on after `!
// a`, and after `a && b` if a fails, unless it is the last statement: these become `! a ||
// exit` and `a || exit; b`. Conditions (including `a && exit 1`), alternatives (||), function
// bodies and scripts with set +e stay, and so does what does not parse.
func StrictScript(script string) string {
	file, err := ParseShell(script)
	if err != nil || len(file.Stmts) == 0 || goesOn(file) {
		return script
	}
	last := len(file.Stmts) - 1 // its exit code is the script's
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

// edit replaces script[from:to] by a text.
type edit struct {
	from, to int
	text     string
}

// goesOn reports whether a script itself continues after failures.
func goesOn(file *syntax.File) (found bool) {
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 1 {
			words := ShellWords(call.Args)
			off := strings.HasPrefix(words[1], "+") && strings.ContainsAny(words[1], "eo") // +o errexit
			found = found || words[0] == "set" && off
		}
		return !found
	})
	return found
}

// leave ends a script with the exit code of the previous command, as a failure does.
const leave = "(exit $?)"

// excused returns the edits of statements whose failure a shell with -e ignores.
func excused(list []*syntax.Stmt) (edits []edit) {
	for _, s := range list {
		if s.Background {
			continue
		}
		and, both := s.Cmd.(*syntax.BinaryCmd)
		switch {
		case s.Negated:
			edits = append(edits, edit{end(s), end(s), " || " + leave})
		case both && and.Op == syntax.AndStmt && !steers(and.Y):
			at := int(and.OpPos.Offset())
			edits = append(edits, edit{at, at + len("&&"), "|| " + leave + ";"})
			edits = append(edits, excused([]*syntax.Stmt{and.Y})...)
		default:
			edits = append(edits, within(s)...)
		}
	}
	return edits
}

// steering are builtins that continue a script, or prepare what follows: what precedes them and
// && is a condition.
var steering = []string{"exit", "return", "break", "continue", "cd", "pushd", "popd", "source", ".", "set", "unset", "shift", "shopt", "trap", "umask", "alias", "exec", "wait"}

// steers reports whether a statement ends with one of these, or with an assignment.
func steers(s *syntax.Stmt) bool {
	switch node := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(node.Args) == 0 || slices.Contains(steering, WordText(node.Args[0].Parts))
	case *syntax.DeclClause:
		return true
	case *syntax.Block:
		return len(node.Stmts) > 0 && steers(node.Stmts[len(node.Stmts)-1])
	case *syntax.BinaryCmd:
		return node.Op != syntax.Pipe && steers(node.Y)
	}
	return false
}

// within is excused for the parts of a statement.
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

// branches is excused for the branches of an if.
func branches(clause *syntax.IfClause) (edits []edit) {
	for ; clause != nil; clause = clause.Else {
		edits = append(edits, excused(clause.Then)...)
	}
	return edits
}

// end returns the end of a statement, before a semicolon, a comment or a here-document.
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

// Command is a simple command of a text, or redirections without one.
type Command struct {
	Words  []string // as from ShellWords
	Writes []string // files that its redirections write
	Dir    string   // its directory, relative to where the text began; "" there, or if only running can tell
	Judged bool     // by its output, which another command takes
}

// Commands lists the simple commands of a text in order, including those in substitutions,
// function bodies and the text of sh -c, up to the first syntax error. It does not interpret
// the arguments of other programs.
func Commands(text string) (list []Command) {
	type level struct {
		node   syntax.Node
		dir    string // before it
		judged bool
	}
	var open []level
	dir := ""
	visit := func(node syntax.Node) bool {
		if node == nil { // the last one ends here
			last := open[len(open)-1]
			open = open[:len(open)-1]
			switch last.node.(type) {
			case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.FuncDecl:
				dir = last.dir // changes in a subshell, or later, do not last
			}
			return true
		}
		outer := level{}
		if len(open) > 0 {
			outer = open[len(open)-1]
		}
		open = append(open, level{node, dir, outer.judged || isTaken(outer.node, node)})
		s, ok := node.(*syntax.Stmt)
		if !ok {
			return true
		}
		c := Command{Dir: known(dir), Judged: open[len(open)-1].judged}
		for _, r := range s.Redirs {
			if op := r.Op.String(); r.Word != nil && strings.Contains(op, ">") {
				c.Writes = append(c.Writes, WordText(r.Word.Parts))
			}
		}
		if call, ok := s.Cmd.(*syntax.CallExpr); ok {
			c.Words = ShellWords(call.Args)
		}
		if len(c.Words)+len(c.Writes) > 0 {
			list = append(list, c)
		}
		for _, inner := range Commands(shellScript(c.Words)) {
			inner.Dir, inner.Judged = known(place(dir, inner.Dir)), inner.Judged || c.Judged
			list = append(list, inner)
		}
		dir = changed(dir, c.Words)
		return true
	}
	for _, s := range statements(text) {
		syntax.Walk(s, visit)
	}
	return list
}

// isTaken reports whether a node takes the output of one in it: a substitution, or a pipe into
// more than a display.
func isTaken(outer, node syntax.Node) bool {
	switch outer := outer.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst:
		return true
	case *syntax.BinaryCmd:
		if outer.Op != syntax.Pipe && outer.Op != syntax.PipeAll || node != outer.X {
			return false
		}
		call, ok := outer.Y.Cmd.(*syntax.CallExpr)
		return !ok || len(call.Args) == 0 || !slices.Contains([]string{"tee", "cat", "tail", "head"}, call.Args[0].Lit())
	}
	return false
}

// known is a directory unless only running can tell which it is.
func known(dir string) string {
	if strings.Contains(dir, "$") {
		return ""
	}
	return dir
}

// shellScript returns the text given to a shell by -c, as assistants start it (bash -lc TEXT);
// "" for none.
func shellScript(words []string) string {
	if len(words) > 2 && process.IsShell(path.Base(words[0])) && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2]
	}
	return ""
}

// changed returns the directory after a command. cd - and popd are assumed to return to the
// start.
func changed(dir string, words []string) string {
	if len(words) == 0 || words[0] != "cd" && words[0] != "pushd" && words[0] != "popd" {
		return dir
	}
	to := words[len(words)-1]
	if len(words) == 1 || strings.HasPrefix(to, "-") {
		return ""
	}
	return place(dir, to)
}

// Place returns a file relative to where the text began; the directory of the command for "".
func (c Command) Place(file string) string { return place(c.Dir, file) }

func place(dir, file string) string {
	if dir == "" || file == "" || filepath.IsAbs(file) || strings.ContainsAny(file[:1], "/~$") {
		return cmp.Or(file, dir)
	}
	return dir + "/" + file
}
