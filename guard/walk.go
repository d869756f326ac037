package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"stig/shell"
)

// analyzer walks a command line.
type analyzer struct {
	found []Attempt
	dir   string // where the line changed to, from where it began
	depth int    // of shells in shells
	steps int    // commands and texts so far
}

// Limits of one line. Beyond them a line that names a tracker may close anything.
const (
	maxDepth    = 12
	maxSteps    = 4000
	stepText    = 1 << 10 // bytes of a text whose reading is a step
	stepWords   = 1 << 6  // words of a command that are another
	maxAttempts = 100
)

// spent counts steps, and reports whether there were too many.
func (w *analyzer) spent(steps int) bool {
	w.steps += steps
	return w.steps > maxSteps
}

// read walks a text that a shell would run.
func (w *analyzer) read(text string) {
	if w.spent(1+len(text)/stepText) || w.depth >= maxDepth {
		w.steps = maxSteps + 1
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	for _, language := range []syntax.LangVariant{syntax.LangBash, syntax.LangZsh} {
		stmts, err := shell.Statements(text, language)
		w.walk(stmts)
		if err == nil {
			return
		}
	}
}

// trackerName finds what may be the name of bd or br.
var trackerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:bd|br)\b`) })

// walk visits every statement in order, those in substitutions and in bodies of
// functions too.
func (w *analyzer) walk(stmts []*syntax.Stmt) {
	left := map[*syntax.Stmt]*syntax.Stmt{} // sides of pipes, by the right one
	for _, s := range stmts {
		syntax.Walk(s, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.Subshell:
				w.aside(n.Stmts)
				return false
			case *syntax.CmdSubst:
				w.aside(n.Stmts)
				return false
			case *syntax.ProcSubst:
				w.aside(n.Stmts)
				return false
			case *syntax.FuncDecl:
				w.aside([]*syntax.Stmt{n.Body})
				return false
			case *syntax.BinaryCmd:
				if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
					left[n.Y] = n.X
				}
			case *syntax.Stmt:
				w.stmt(n, left[n])
			}
			return true
		})
	}
}

// aside walks what runs in a shell of its own, or later: a change of directory in it
// does not last.
func (w *analyzer) aside(stmts []*syntax.Stmt) {
	dir := w.dir
	w.walk(stmts)
	w.dir = dir
}

// stmt judges the command of a statement and what the shell itself writes for it.
// left is what is piped into it, if any.
func (w *analyzer) stmt(s, left *syntax.Stmt) {
	for _, r := range s.Redirs {
		if op := r.Op.String(); r.Word != nil && strings.Contains(op, ">") {
			w.overwrites(op, shell.Text(r.Word.Parts))
		}
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		w.run(shell.Words(call.Args), func() string { return handed(s) + printed(left) })
	}
}

// handed is the text of the here-documents of a statement.
func handed(s *syntax.Stmt) string {
	var text strings.Builder
	for _, r := range s.Redirs {
		switch {
		case r.Op == syntax.WordHdoc:
			text.WriteString(shell.Text(r.Word.Parts) + "\n")
		case r.Hdoc != nil:
			text.WriteString(shell.Text(r.Hdoc.Parts))
		}
	}
	return text.String()
}

// printed is what the left side of a pipe prints, as far as its own words say: those
// of echo and printf, here-documents, and a close in the words of another program
// that makes commands.
func printed(left *syntax.Stmt) string {
	if left == nil {
		return ""
	}
	var text strings.Builder
	syntax.Walk(left, func(node syntax.Node) bool {
		s, ok := node.(*syntax.Stmt)
		if !ok {
			return true
		}
		text.WriteString(handed(s))
		call, ok := s.Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		argv := shell.Words(call.Args)
		said := strings.Join(argv[1:], " ")
		switch name := path.Base(argv[0]); {
		case name == "echo" || name == "printf":
			said = strings.TrimPrefix(strings.TrimPrefix(said, "-e "), "-n ")
			text.WriteString(strings.ReplaceAll(said, `\n`, "\n") + "\n")
		case closeText().MatchString(said):
			text.WriteString(closeText().FindStringSubmatch(said)[1] + " close $ID\n")
		}
		return true
	})
	return text.String()
}

// closeText is a close in a text that makes commands.
var closeText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(bd|br)["',\s]+(?:close|done|update\b.*\bclosed)\b`)
})

// run judges one command. input gives what it reads on standard input, as far as that
// stands in the line.
func (w *analyzer) run(argv []string, input func() string) {
	if len(argv) == 0 || w.spent(1+len(argv)/stepWords) {
		return
	}
	program, words := programName(argv[0]), argv[1:]
	runner, isRunner := shell.RunnerOf(program)
	switch {
	case program == "cd" || program == "pushd" || program == "popd":
		w.changeDir(words)
	case program == "eval":
		w.read(strings.Join(words, " "))
	case slices.Contains(trackers, program):
		w.tracker(program, words, input)
	case shell.IsShell(program):
		w.shell(words, input)
	case isRunner:
		w.start(runner, words, input)
	case program == "xargs":
		words = skipOptions(words, "I J L n P s a d E R S max-args max-procs delimiter arg-file")
		w.run(append(slices.Clip(words), "$()"), input)
	case program == "parallel": // whose words are a text for a shell
		w.read(strings.Join(until(skipOptions(words, "j jobs a arg-file"), ":::"), " ") + " $ARGUMENTS")
	case program == "find" || program == "fd":
		for i, word := range words {
			if slices.Contains([]string{"-exec", "-execdir", "-ok", "-x", "--exec", "-X"}, word) {
				w.run(until(words[i+1:], ";", "+"), input)
			}
		}
	default:
		if !w.launches(program, words, input) {
			verb, files := writes(program, words, input)
			w.overwrites(verb, files...)
		}
	}
}

// programName is the name of a program in a word that starts it: at the end of a
// path, before the version of a package, after the flake that has it.
func programName(word string) string {
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
	if _, in, ok := strings.Cut(name, "#"); ok {
		name = in
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	return name
}

// changeDir notes where the line goes on. Behind cd - and popd that is taken to be
// where it began.
func (w *analyzer) changeDir(words []string) {
	words = skipOptions(words, "")
	if len(words) == 0 || words[0] == "-" {
		w.dir = ""
		return
	}
	w.dir = w.place(words[0])
}
