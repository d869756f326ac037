package guard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"stig/shell"
)

// analyzer goes through a command line as a shell would run it: statements (here)
// make words (words.go), of which the first is a program (run.go).
// It is known by what it does with the others: it closes issues (tracker.go),
// runs something else (programs.go, code.go), writes files
// (writes.go) or prints what others read (output.go).
type analyzer struct {
	found     []Attempt
	variables map[string][]string // every text that the line gives them
	arrays    map[string][]string
	functions map[string]*shellFunction
	declared  []string // names of functions, in order
	aliases   map[string]string
	params    []string          // of the function that runs; nil outside of one
	files     map[string]string // the texts that the line writes to files, by their names from where it began
	dir       string            // where the line changed to, from where it began
	input     string            // what standard input holds
	steps     int               // taken so far
	depth     int               // of shells in shells
}

// Limits of one line. Beyond them all is unknown.
const (
	maxSteps    = 4000
	maxDepth    = 12
	maxVariants = 32      // of one command, by the values that its variables may have
	maxText     = 1 << 20 // bytes of one text
	stepText    = 1 << 12 // bytes of a text whose reading is a step
)

// shellFunction is a function that the line declares.
type shellFunction struct {
	body   *syntax.Stmt
	called bool
}

// spent counts a step, and reports whether there were too many.
func (w *analyzer) spent() bool {
	w.steps++
	return w.steps > maxSteps
}

// read goes through a text that a shell would run.
func (w *analyzer) read(text string) {
	w.steps += len(text) / stepText
	if w.depth >= maxDepth || len(text) > maxText || w.spent() {
		w.steps = maxSteps + 1
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	for _, language := range []syntax.LangVariant{syntax.LangBash, syntax.LangZsh} {
		stmts, err := shell.Statements(text, language)
		w.all(stmts)
		if err == nil {
			return
		}
	}
}

func (w *analyzer) all(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		w.stmt(s)
	}
}

// aside goes through what runs in a shell of its own.
func (w *analyzer) aside(stmts []*syntax.Stmt) {
	dir := w.dir
	w.all(stmts)
	w.dir = dir
}

// stmt goes through a statement: what it redirects, then its command.
func (w *analyzer) stmt(s *syntax.Stmt) {
	if s == nil || w.spent() {
		return
	}
	for _, r := range s.Redirs {
		w.redirect(r)
	}
	before := w.input
	w.input = w.fed(s, before)
	w.command(s.Cmd)
	w.input = before
	for _, r := range s.Redirs {
		w.keepPrinted(r, s)
	}
}

func (w *analyzer) command(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		w.call(c)
	case *syntax.BinaryCmd:
		w.stmt(c.X)
		before := w.input
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			w.input = w.output(c.X)
		}
		w.stmt(c.Y)
		w.input = before
	case *syntax.Subshell:
		w.aside(c.Stmts)
	case *syntax.Block:
		w.all(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.all(c.Cond)
			w.all(c.Then)
		}
	case *syntax.WhileClause:
		w.all(c.Cond)
		w.all(c.Do)
	case *syntax.ForClause:
		w.loop(c.Loop)
		w.all(c.Do)
	case *syntax.CaseClause:
		w.inside(c.Word)
		for _, item := range c.Items {
			for _, pattern := range item.Patterns {
				w.inside(pattern)
			}
			w.all(item.Stmts)
		}
	case *syntax.TimeClause:
		w.stmt(c.Stmt)
	case *syntax.CoprocClause:
		w.stmt(c.Stmt)
	case *syntax.FuncDecl:
		w.declare(c)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			w.assign(a)
		}
	case *syntax.LetClause, *syntax.ArithmCmd, *syntax.TestClause:
		w.inside(c)
	}
}

// inside goes through the substitutions in a node that runs nothing itself.
func (w *analyzer) inside(node syntax.Node) {
	if word, ok := node.(*syntax.Word); ok && word == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.aside(n.Stmts)
			return false
		case *syntax.ProcSubst:
			w.aside(n.Stmts)
			return false
		}
		return true
	})
}

func (w *analyzer) loop(loop syntax.Loop) {
	w.inside(loop)
	words, ok := loop.(*syntax.WordIter)
	if !ok || words.Name == nil {
		return
	}
	name := words.Name.Value
	for _, argv := range w.variants(words.Items) {
		for _, text := range argv {
			w.set(name, text)
		}
	}
	if len(words.Items) == 0 {
		w.set(name, unknown)
	}
}

// declare keeps a function until it is called.
func (w *analyzer) declare(c *syntax.FuncDecl) {
	names := c.Names
	if c.Name != nil {
		names = append(names, c.Name)
	}
	if len(names) == 0 { // zsh runs it at once
		w.stmt(c.Body)
	}
	for _, name := range names {
		w.functions[name.Value] = &shellFunction{body: c.Body}
		if !slices.Contains(w.declared, name.Value) {
			w.declared = append(w.declared, name.Value)
		}
	}
}

// enter goes through a function that was called with these words.
func (w *analyzer) enter(f *shellFunction, argv []string) {
	f.called = true
	if w.depth >= maxDepth { // a function that calls itself does nothing new
		return
	}
	w.depth++
	before := w.params
	w.params = argv[1:]
	w.stmt(f.body)
	w.params = before
	w.depth--
}

func (w *analyzer) assign(a *syntax.Assign) {
	if a.Value != nil {
		w.inside(a.Value)
	}
	if a.Array != nil {
		w.inside(a.Array)
	}
	if a.Index != nil {
		w.inside(a.Index)
	}
	switch {
	case a.Name == nil:
	case a.Value != nil:
		w.assignText(a.Name.Value, w.texts(a.Value.Parts), a.Append)
	case a.Array != nil:
		w.assignArray(a)
	case !a.Naked:
		w.set(a.Name.Value, unknown)
	}
}

func (w *analyzer) assignText(name string, texts []string, appended bool) {
	before := []string{""}
	if known := w.variables[name]; appended && len(known) > 0 {
		before = slices.Clone(known)
	}
	for _, first := range before {
		for _, text := range texts {
			w.set(name, joined(first, text))
		}
	}
}

func (w *analyzer) assignArray(a *syntax.Assign) {
	var words []*syntax.Word
	for _, element := range a.Array.Elems {
		if element.Value != nil {
			words = append(words, element.Value)
		}
	}
	var before []string
	if a.Append {
		before = w.arrays[a.Name.Value]
	}
	for _, list := range w.variants(words) {
		w.arrays[a.Name.Value] = append(before[:len(before):len(before)], list...)
		for _, text := range list {
			w.set(a.Name.Value, text)
		}
	}
}

// set notes a text that a variable may have. Mostly it is empty only until it
// gets its text in a way that is not seen.
func (w *analyzer) set(name, text string) {
	if text == "" {
		return
	}
	known := w.variables[name]
	if len(known) >= maxVariants {
		known, text = nil, unknown
	}
	if !slices.Contains(known, text) {
		w.variables[name] = append(known, text)
	}
}

func (w *analyzer) call(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		w.assign(a)
	}
	for _, word := range c.Args {
		w.inside(word)
	}
	for _, argv := range w.variants(c.Args) {
		w.run(argv)
	}
}

// redirect notes a file that the shell itself writes.
func (w *analyzer) redirect(r *syntax.Redirect) {
	w.inside(r.Word)
	w.inside(r.Hdoc)
	if op := r.Op.String(); r.Word != nil && strings.Contains(op, ">") {
		for _, text := range w.texts(r.Word.Parts) {
			w.overwrites(op, []string{text})
		}
	}
}

// fed is what standard input holds after the redirections of a statement.
func (w *analyzer) fed(s *syntax.Stmt, before string) string {
	input := before
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			input = ""
			if r.Hdoc != nil {
				input = strings.Join(w.join(r.Hdoc.Parts, strings.Clone), "\n")
			}
		case syntax.WordHdoc:
			input = strings.TrimPrefix(w.text(r.Word), piped)
		case syntax.RdrIn:
			known, ok := w.content(w.text(r.Word))
			if input = known; !ok {
				input = unknown
			}
		}
	}
	return input
}
