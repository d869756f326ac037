package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// script is a shell text and its simple commands.
type script struct {
	text      string
	file      *syntax.File
	commands  [][]string      // words of each simple command, as from ShellWords
	words     int             // words and assignments of all of them
	compares  bool            // contains [[ … ]] or (( … ))
	formula   bool            // compares like a formula: "n <= m"
	functions map[string]bool // defined in it
}

// parse parses a text as bash. The error says why it is invalid.
func parse(text string) (*script, error) {
	file, err := ParseShell(text)
	if err != nil {
		return nil, fmt.Errorf("does not parse as shell: %w", err)
	}
	s := &script{text: text, file: file, functions: map[string]bool{}}
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
			s.commands = append(s.commands, ShellWords(node.Args))
		}
	case *syntax.DeclClause:
		s.words += 1 + len(node.Args)
		s.commands = append(s.commands, []string{node.Variant.Value})
	case *syntax.LetClause:
		s.commands = append(s.commands, []string{"let"})
	case *syntax.Stmt:
		s.formula = s.formula || slices.ContainsFunc(node.Redirs, func(r *syntax.Redirect) bool { return isArrow(node, r) })
	case *syntax.TestClause, *syntax.ArithmCmd:
		s.words += 3
		s.compares = true
	case *syntax.FuncDecl:
		if node.Name != nil { // the parser takes ()cmd for a function without a name
			s.functions[node.Name.Value] = true
		}
	}
}

// isArrow reports whether a redirection is part of "->", "<-", "<=" or ">=".
func isArrow(statement *syntax.Stmt, r *syntax.Redirect) bool {
	call, ok := statement.Cmd.(*syntax.CallExpr)
	return r.Word != nil && strings.Trim(WordText(r.Word.Parts), "=>-") == "" ||
		ok && slices.ContainsFunc(call.Args, func(w *syntax.Word) bool { return w.Lit() == "-" && w.End() == r.OpPos })
}

// last is the last simple command of a script.
func (s *script) last() []string {
	if len(s.commands) == 0 {
		return nil
	}
	return s.commands[len(s.commands)-1]
}

// reading is what the text around a piece of code says about its words.
type reading struct {
	claimed bool // the text claims something about it, or says that it should run
	run     bool // the text says "run" before it
	asked   bool // the text asks for it in some way
}

// noCommand returns why a script cannot be a check; "" if it may be one.
func (s *script) noCommand(r reading) string {
	prepares := !s.compares
	for _, words := range s.commands {
		if why := s.unlikely(words, r); why != "" {
			return why
		}
		can, builtin := builtins[words[0]]
		prepares = prepares && builtin && !can && !(r.asked && listed("speaking", words[0]))
	}
	switch {
	case s.formula:
		return "it compares like a formula"
	case len(s.commands) == 0 && !s.compares:
		return "it contains no command"
	case prepares:
		return "it checks nothing by itself"
	case s.words == 1 && !s.standsAlone(r):
		return "one word, and not a known program"
	}
	return s.placeholder()
}

// unlikely returns why the words of a simple command may be something else.
func (s *script) unlikely(words []string, r reading) string {
	program := words[0]
	_, builtin := builtins[program]
	ordinary, known := programs()[program]
	for i, word := range words {
		if symbolic(word) && program != "test" && program != "[" && (i == 0 || !known && !builtin || strings.Trim(word, "=") == "" || !isASCII(word)) {
			return citing(word) + " is not a word of a shell"
		}
	}
	plain := func(w string) bool { return !strings.HasPrefix(w, "-") && !symbolic(w) }
	if program == "test" && !slices.ContainsFunc(words[1:], func(w string) bool { return !plain(w) }) {
		return citing(program) + " with plain words only may be English"
	}
	if len(words) > 1 && (listed("english", strings.TrimRight(words[1], ",:")) || versions(words[1:]) && !listed("counting", program)) {
		return citing(program+" "+words[1]) + " may be English"
	}
	if rest := slices.IndexFunc(words[1:], func(w string) bool { return programLike(w) && !argument(w) && w[0] > '9' }); rest >= 0 && IsRunner(program) && !builtin {
		if s.unlikely(words[1+rest:], r) == "" {
			return ""
		}
	}
	switch {
	case builtin, known && !ordinary, s.functions[program]:
		return ""
	case strings.HasPrefix(program, "./") && !strings.HasSuffix(program, "/") && programLike(program):
		return ""
	case !programLike(program) || listed("language", program) || listed("subcommands", program) && !ordinary:
		return citing(program) + " is not a known program"
	case ordinary && known && len(words) > 1 && listed("subcommands", words[1]):
		return ""
	case slices.ContainsFunc(words[1:], argument), strings.Contains(program, "/") && r.run:
		return ""
	case len(words) > 1 && r.claimed && !strings.Contains(program, "_"), len(words) > 1 && strings.Contains(program, "/"):
		return ""
	}
	return citing(program) + " is not a known program"
}

// standsAlone reports whether a one-word script is a command: a known program, or a path to a
// script. File names and identifiers are not.
func (s *script) standsAlone(r reading) bool {
	word := s.commands[0][0]
	if ordinary, known := programs()[word]; known {
		return !ordinary
	}
	file := slices.Contains([]string{"", ".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".js", ".mjs", ".ts", ".ps1"}, path.Ext(word))
	return strings.Contains(word, "/") && !strings.HasSuffix(word, "/") && file && (strings.HasPrefix(word, "./") || r.run)
}

// programLike reports whether a word has the form of a program's name.
func programLike(word string) bool {
	name := strings.TrimLeft(word, "./~")
	if name == "" || !('a' <= name[0] && name[0] <= 'z' || '0' <= name[0] && name[0] <= '9' && strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz") || strings.Contains(word, "/") && isLetter(name[0])) {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !(r < unicode.MaxASCII && isLetter(byte(r)) || '0' <= r && r <= '9' || strings.ContainsRune("-_./+", r))
	}) && !strings.Contains(name, "://")
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// argument reports whether a word is an option or a path, which sentences do not contain.
func argument(word string) bool {
	if rest := strings.TrimLeft(word, "-"); rest != word {
		return rest != "" && (isLetter(rest[0]) || '0' <= rest[0] && rest[0] <= '9') && len(word)-len(rest) <= 2
	}
	_, suffix, dotted := strings.Cut(strings.TrimLeft(word, "."), ".")
	return strings.Contains(word, "/") && strings.Trim(word, "/") != "" && isASCII(word) ||
		word == "." || dotted && suffix != "" && isLetter(suffix[0]) && !strings.HasSuffix(word, ".")
}

// symbolic reports whether a word has only symbols, as in formulas and rarely in commands.
func symbolic(word string) bool {
	switch word {
	case "", "-", "--", ".", "..", "...", "{}", "/", "//...", "./...", "!", "$()", ":", "[", "]", "\\(", "\\)":
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("./$\"' \n", r)
	})
}

// versions reports whether all words are versions, as in "node 20".
func versions(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		digits := strings.TrimLeft(w, "v^~<>=")
		return digits == "" || strings.Trim(digits, "0123456789.x+") != "" || digits[0] < '0' || digits[0] > '9'
	})
}

// placeholder names what a person should fill in; "" for nothing.
func (s *script) placeholder() (found string) {
	patterns := slices.ContainsFunc(s.commands, func(words []string) bool { return listed("patterns", words[0]) })
	syntax.Walk(s.file, func(node syntax.Node) bool {
		if found != "" {
			return false
		}
		switch node := node.(type) {
		case *syntax.BinaryCmd:
			found = choice(node)
		case *syntax.SglQuoted:
			if strings.Contains(node.Value, "…") || strings.Trim(node.Value, ".") == "" && len(node.Value) == 3 {
				found = node.Value
			}
		case *syntax.Lit:
			found = blank(node.Value, patterns)
		case *syntax.Stmt:
			found = fillIn(node)
		}
		return true
	})
	for _, words := range s.commands {
		for _, word := range words[1:] {
			_, value, _ := strings.Cut(word, "=")
			manual := strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]") && strings.TrimLeft(word, "[-") != ""
			if choices := strings.Split(word, "/"); len(choices) > 1 && !slices.ContainsFunc(choices, func(w string) bool { return !listed("subcommands", w) }) {
				found = word
			}
			if found == "" && !patterns && words[0] != "[" && words[0] != "test" && (listed("blanks", word) || listed("blanks", value) || manual && !strings.ContainsAny(word, "*?")) {
				found = word
			}
		}
	}
	if found != "" {
		return "placeholder " + citing(found)
	}
	return ""
}

// blank finds <x>, {x}, YYYY and an ellipsis in a word, other than Go's ./... and git's a...b.
func blank(word string, patterns bool) string {
	for _, mark := range []string{"…", "YYYY"} {
		if strings.Contains(word, mark) {
			return mark
		}
	}
	if word == "..." || strings.HasPrefix(word, "...") || strings.HasSuffix(word, "...") && !strings.HasSuffix(word, "/...") {
		return "..."
	}
	for i, open := range word {
		closing, isOpen := map[rune]string{'<': ">", '{': "}"}[open]
		if !isOpen || patterns || i > 0 && (word[i-1] == '@' || word[i-1] == '$') {
			continue
		}
		inside, _, closed := strings.Cut(word[i+1:], closing)
		if closed && inside != "" && isLetter(inside[0]) && !strings.ContainsAny(inside, ",<{") {
			return word[i : i+1+len(inside)+1]
		}
	}
	return ""
}

// fillIn finds <x>, where a shell would read from x and write to what follows.
func fillIn(statement *syntax.Stmt) string {
	for i := 1; i < len(statement.Redirs); i++ {
		in, out := statement.Redirs[i-1], statement.Redirs[i]
		if in.Op == syntax.RdrIn && out.Op == syntax.RdrOut && in.N == nil && out.N == nil && in.OpPos.Offset()+1 == in.Word.Pos().Offset() {
			return "<" + WordText(in.Word.Parts) + ">"
		}
	}
	return ""
}

// choice finds alternatives, as in "completions bash|zsh", where a shell would build a pipe.
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

func citing(words string) string { return `"` + words + `"` }

// serves names a command of the script that does not end by itself; "" for none. What runs in
// the background or with a timeout ends with the script.
func (s *script) serves() (found string) {
	syntax.Walk(s.file, func(node syntax.Node) bool {
		if statement, ok := node.(*syntax.Stmt); ok && statement.Background {
			return false
		}
		if call, ok := node.(*syntax.CallExpr); ok && found == "" {
			words := ShellWords(call.Args)
			detached := slices.Contains(words, "-d") || slices.Contains(words, "--detach")
			if serves(words) && !(detached && !slices.Equal(words, s.last())) {
				found = strings.Join(words, " ")
			}
		}
		return found == ""
	})
	return found
}

// serves reports whether a simple command serves or watches until it is stopped, or leaves
// containers running.
func serves(words []string) bool {
	for len(words) > 1 && listed("handing", words[0]) {
		words = words[1:]
	}
	if len(words) < 2 || slices.ContainsFunc(words, func(w string) bool { return listed("ending", w) }) {
		return false
	}
	program, rest := words[0], words[1:]
	if listed("composers", program) {
		return slices.Contains(words, "up") || strings.HasSuffix(program, "compose") && slices.Contains(words, "run")
	}
	for n, word := range rest[:min(3, len(rest))] {
		kind, what, isTask := strings.Cut(word, ":")
		if listed("servers", program+" "+word) || n == 0 && listed("serving", word) ||
			listed("runners", program) && (listed("serving", word) || isTask && (listed("serving", kind) && !listed("subtasks", what) || listed("serving", what))) {
			return true
		}
	}
	return listed("servers", program) || slices.Contains(rest, "--watch") || program == "kubectl" && slices.Contains(rest, "-w") || rest[len(rest)-1] == "serve"
}
