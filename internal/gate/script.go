package gate

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// script is a shell text and what its simple commands are.
type script struct {
	file      *syntax.File
	commands  [][]string      // words of each simple command as ShellWords gives them
	words     int             // words and assignments of all of them
	program   bool            // one word, which other code gives an option
	redirects bool            // reads from or writes to a file
	checks    bool            // holds [[ … ]] or (( … ))
	functions map[string]bool // defined in it
	variables map[string]bool // assigned in it
	moves     bool            // changes directory
}

// parse reads a text as bash. The error says why it is not.
func parse(text string) (*script, error) {
	file, err := ParseShell(text)
	if err != nil {
		return nil, err
	}
	s := &script{file: file, functions: map[string]bool{}, variables: map[string]bool{}}
	syntax.Walk(file, func(node syntax.Node) bool {
		s.note(node)
		return true
	})
	return s, nil
}

func (s *script) note(node syntax.Node) {
	switch node := node.(type) {
	case *syntax.CallExpr:
		s.words += len(node.Args) + len(node.Assigns)
		if len(node.Args) > 0 {
			s.call(ShellWords(node.Args))
		}
	case *syntax.DeclClause:
		s.words += 1 + len(node.Args)
		s.commands = append(s.commands, []string{node.Variant.Value})
	case *syntax.LetClause:
		s.words += 1 + len(node.Exprs)
		s.commands = append(s.commands, []string{"let"})
	case *syntax.Redirect:
		s.redirects = true
	case *syntax.TimeClause:
		s.words++
	case *syntax.TestClause, *syntax.ArithmCmd:
		s.words += 3
		s.checks = true
	case *syntax.FuncDecl:
		if node.Name != nil { // the parser takes ()cmd for a function without a name
			s.functions[node.Name.Value] = true
		}
	case *syntax.Assign:
		if node.Name != nil {
			s.variables[node.Name.Value] = true
		}
	case *syntax.WordIter:
		s.variables[node.Name.Value] = true
	}
}

func (s *script) call(words []string) {
	s.commands = append(s.commands, words)
	switch words[0] {
	case "cd", "pushd":
		s.moves = true
	case "read", "mapfile", "readarray", "getopts":
		for _, name := range words[1:] {
			s.variables[name] = true
		}
	}
}

// resolve resolves the first word of every simple command. missing is
// the first well-known program that is not here; unknown the first word that
// is no program at all, or that only running can tell ("$NAME").
func (s *script) resolve(look lookup) (missing, unknown string, resolved bool) {
	resolved = true
	for _, words := range s.commands {
		word := words[0]
		_, builtin := builtins[word]
		switch {
		case builtin, s.functions[word], !strings.HasPrefix(word, "$") && look.finds(word):
		case s.moves && strings.Contains(word, "/"):
			// Relative to a directory that only running can tell.
		case wellKnown(word):
			missing = cmp.Or(missing, word)
		case resolved:
			unknown, resolved = word, false
		}
	}
	return missing, unknown, resolved
}

// scriptSuffixes are the ends of the names of scripts.
var scriptSuffixes = []string{".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".js", ".mjs", ".ts", ".ps1"}

// absent reports whether all that is no program here is a path in the repository,
// as of scripts that are not there.
func (s *script) absent(look lookup) bool {
	for _, words := range s.commands {
		word := words[0]
		_, builtin := builtins[word]
		if builtin || s.functions[word] || wellKnown(word) || look.finds(word) {
			continue
		}
		script := strings.Contains(word, "/") && slices.Contains(scriptSuffixes, path.Ext(word))
		if !script && (!strings.HasPrefix(word, "./") || strings.HasSuffix(word, "/")) {
			return false
		}
	}
	return true
}

// programName is how programs are called. With an underscore, columns and fields are.
var programName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:[\w.-]+/)+[a-z][a-z0-9]*(?:[-_]?[a-z0-9]+)+|[a-z][a-z0-9]*(?:-?[a-z0-9]+)+)(?:\.(?:sh|bash|py|rb|pl|js|mjs|ts))?$`)
})

// utilityClasses finds the classes of style sheets, of which several make one text too.
var utilityClasses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:bg|text|font|[mp][xytrbl]?|[wh]|min-[wh]|max-[wh]|flex|grid|gap|space-[xy]|items|justify|rounded|border|shadow|ring|opacity|z)-\S+ [a-z:]+-`)
})

// notPrograms are words with which lines of other languages begin.
const notPrograms = " all any dark each every first hello last light max min my next no our some this today tomorrow user yesterday your async await class const def elif else enum extends fn for foreach from func function if implements import impl " +
	"in int interface is let match mod mut namespace new not null of or package private protected pub public raise return select " +
	"static string struct super switch throw trait type typeof union use using val var void when where while with yield " +
	"insert update delete create alter drop begin commit rollback "

// likely reports whether what is no program here reads like one that is meant to
// be there: a name in small letters with an argument that no sentence has.
func (s *script) likely(look lookup) bool {
	for _, words := range s.commands {
		word := words[0]
		_, builtin := builtins[word]
		if builtin || s.functions[word] || wellKnown(word) || look.finds(word) {
			continue
		}
		if utilityClasses().MatchString(strings.Join(words, " ")) || len(words) < 2 && !s.filtered() || !programName().MatchString(word) || listed(notPrograms, word) || listed(subcommands, word) ||
			len(words) > 1 && (slices.Contains(operators, words[1]) || listed(functionWords, words[1]) || strings.HasSuffix(words[1], ":")) {
			return false
		}
	}
	return true
}

// filters are programs that work on what another prints.
var filters = []string{"head", "tail", "grep", "rg", "wc", "jq", "yq", "less", "more", "cat", "sort", "uniq", "tee", "xargs", "cut", "tr", "awk", "sed"}

// filtered reports whether what a script prints goes through a filter.
func (s *script) filtered() bool {
	return len(s.commands) > 1 && slices.Contains(filters, s.last()[0])
}

// own reports whether a script is one word that is a program and nothing else: a
// well-known one whose name is no ordinary word, or an executable in the repository.
func (s *script) own(look lookup) bool {
	if len(s.commands) != 1 || len(s.commands[0]) != 1 {
		return false
	}
	word := s.commands[0][0]
	ordinary, known := programs()[word]
	return known && !ordinary || strings.Contains(word, "/") && (look.finds(word) || slices.Contains(shellSuffixes, path.Ext(word)))
}

// shellSuffixes are the ends of the names of what is a script and nothing else: of
// other files, what the text says may be said of what is in them.
var shellSuffixes = []string{".sh", ".bash", ".zsh"}

// idle reports whether a script only prepares or prints, so that its passing
// would say nothing.
func (s *script) idle() bool {
	for _, words := range s.commands {
		if can, builtin := builtins[words[0]]; !builtin || can {
			return false
		}
	}
	return !s.checks
}

// placeholder finds what a person is meant to fill in, and says what it is.
func (s *script) placeholder(look lookup) (found string) {
	syntax.Walk(s.file, func(node syntax.Node) bool {
		if found != "" {
			return false
		}
		switch node := node.(type) {
		case *syntax.BinaryCmd:
			found = choice(node)
		case *syntax.SglQuoted:
			found = inQuotes().FindString(node.Value)
		case *syntax.Lit:
			found = inWord(node.Value)
			if found == "" && strings.HasSuffix(node.Value, "/...") && !strings.HasPrefix(node.Value, "./") && !s.patterned() {
				found = "..."
			}
		case *syntax.ParamExp:
			found = s.unset(node, look)
		case *syntax.Stmt:
			found = fillIn(node)
		}
		return true
	})
	if found == "" {
		found = s.usage()
	}
	return found
}

var (
	// inWords and inQuotes are marks of placeholders: <x>, {x}, YYYY, an
	// ellipsis that is neither Go's ./... pattern nor git's a...b range, but not
	// git's @{upstream}. Single quotes mostly hold other languages, to which
	// braces and angles belong.
	inWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(<[A-Za-z][^<>]*>|YYYY|…)|(?:^|[^@])(\{[A-Za-z_][A-Za-z0-9_-]*\})|(?:^|[^/.])(\.\.\.)(?:$|[^A-Za-z0-9.])`)
	})
	inQuotes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`YYYY|…|^<[A-Za-z][^<>]*>$|^\.\.\.$`)
	})
)

// fillIn finds <x> and <x y>, where a shell would read from x and write to what
// follows: no blank stands inside the angles.
func fillIn(statement *syntax.Stmt) string {
	for i := 1; i < len(statement.Redirs); i++ {
		in, out := statement.Redirs[i-1], statement.Redirs[i]
		if in.Op != syntax.RdrIn || out.Op != syntax.RdrOut || in.N != nil || out.N != nil {
			continue
		}
		closed := in.Word.End() == out.OpPos
		if call, ok := statement.Cmd.(*syntax.CallExpr); ok {
			closed = closed || slices.ContainsFunc(call.Args, func(w *syntax.Word) bool { return w.End() == out.OpPos })
		}
		if closed && in.OpPos.Offset()+1 == in.Word.Pos().Offset() {
			return "<" + WordText(in.Word.Parts) + ">"
		}
	}
	return ""
}

// choice finds one of several words, as in "completions bash|zsh", where a shell
// would pipe the one into the other.
func choice(pipe *syntax.BinaryCmd) string {
	if pipe.Op != syntax.Pipe || pipe.X.End() != pipe.OpPos || pipe.OpPos.Offset()+1 != pipe.Y.Pos().Offset() {
		return ""
	}
	one, isCall := pipe.X.Cmd.(*syntax.CallExpr)
	other, too := pipe.Y.Cmd.(*syntax.CallExpr)
	if !isCall || !too || len(one.Args) < 2 || len(other.Args) != 1 {
		return ""
	}
	return WordText(one.Args[len(one.Args)-1].Parts) + "|" + WordText(other.Args[0].Parts)
}

// patterned reports whether a program of the script takes x/... for all below x.
func (s *script) patterned() bool {
	return slices.ContainsFunc(s.commands, func(words []string) bool {
		return slices.Contains([]string{"go", "bazel", "bazelisk", "buck", "buck2"}, words[0])
	})
}

func inWord(text string) string {
	if match := inWords().FindStringSubmatch(text); match != nil {
		return match[1] + match[2] + match[3]
	}
	return ""
}

// unset is the name of a variable that nothing sets: neither the script, nor
// a default in the expansion, nor the environment.
func (s *script) unset(node *syntax.ParamExp, look lookup) string {
	if node.Param == nil || !syntax.ValidName(node.Param.Value) {
		return ""
	}
	name := node.Param.Value
	if s.variables[name] || shellVariables[name] || look.finds("$"+name) {
		return ""
	}
	if node.Exp != nil {
		switch node.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
			syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			return ""
		}
	}
	return "$" + name
}

// shellVariables are what bash sets itself.
var shellVariables = map[string]bool{
	"PWD": true, "OLDPWD": true, "RANDOM": true, "SECONDS": true, "LINENO": true, "UID": true, "EUID": true,
	"PPID": true, "BASHPID": true, "BASH": true, "BASH_SOURCE": true, "BASH_VERSION": true, "HOSTNAME": true,
	"OSTYPE": true, "PIPESTATUS": true, "REPLY": true, "OPTARG": true, "OPTIND": true, "FUNCNAME": true,
	"IFS": true, "EPOCHSECONDS": true,
}

// syntaxReason says in one line why a text is not shell.
func syntaxReason(err error) string {
	return fmt.Sprintf("does not parse as shell: %v", err)
}
