package gate

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"stig/internal/process"
)

// Command is a simple command of a text, or redirections without one.
type Command struct {
	Words  []string // as ShellWords gives them
	Writes []string // the files that its redirections write
	Dir    string   // where it runs, from where the text began; "" there, or where only running tells
}

// Commands lists the simple commands of a text in order, those in substitutions, in
// bodies of functions and in the text of sh -c too, up to the first mistake. What other
// programs make of their arguments is not read.
func Commands(text string) (list []Command) {
	type level struct {
		node syntax.Node
		dir  string // before it
	}
	var open []level
	dir := ""
	visit := func(node syntax.Node) bool {
		if node == nil { // the last one ends
			last := open[len(open)-1]
			open = open[:len(open)-1]
			switch last.node.(type) {
			case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.FuncDecl:
				dir = last.dir // what changed in a shell of its own, or later, does not last
			}
			return true
		}
		open = append(open, level{node, dir})
		s, ok := node.(*syntax.Stmt)
		if !ok {
			return true
		}
		c := Command{Dir: known(dir)}
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
			inner.Dir = known(place(dir, inner.Dir))
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

// known is a directory unless only running tells which it is.
func known(dir string) string {
	if strings.Contains(dir, "$") {
		return ""
	}
	return dir
}

// shellScript is the text that a shell is given by -c, as hosts of assistants start it (bash
// -lc TEXT); "" for none.
func shellScript(words []string) string {
	if len(words) > 2 && process.IsShell(path.Base(words[0])) && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2]
	}
	return ""
}

// changed is where a text goes on after a command. Behind cd - and popd that is taken to
// be where it began.
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

// Place names a file as it is seen from where the text began; the directory of the
// command for "".
func (c Command) Place(file string) string { return place(c.Dir, file) }

func place(dir, file string) string {
	if dir == "" || file == "" || filepath.IsAbs(file) || strings.ContainsAny(file[:1], "/~$") {
		return cmp.Or(file, dir)
	}
	return dir + "/" + file
}
