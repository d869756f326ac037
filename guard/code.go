package guard

import (
	"regexp"
	"strings"
	"sync"

	"stig/shell"
)

// language goes through code in other languages: the programs that it starts
// and the files that it writes, where it names them plainly, and SQL that closes.
func (w *analyzer) language(program string, words []string) {
	name := shell.Unversioned(program)
	switch name {
	case "sqlite", "dolt", "mysql":
		w.sql(program, words)
	case "awk", "gawk", "mawk":
		w.awk(program, words)
	}
	if shell.IsInterpreter(program) {
		for _, code := range w.codes(words) {
			w.code(name, code)
		}
	}
}

func (w *analyzer) awk(program string, words []string) {
	code, _ := cutFirst(takeApart(words, valued("v F f i")).operands)
	w.calls(code)
	for _, found := range awkWrite().FindAllStringSubmatch(code, maxVariants) {
		w.overwrites(program+" >", found[1:])
	}
}

// codes lists the code that a program of another language is given: by an option,
// on standard input, or in a file that the line wrote.
func (w *analyzer) codes(words []string) []string {
	l := takeApart(words, valued("c e E eval p print r"))
	list := append(l.values("c", "e", "E", "eval", "p", "print", "r"), w.input)
	file, rest := cutFirst(l.operands)
	if file == "eval" && len(rest) > 0 { // deno eval CODE
		list = append(list, rest[0])
	}
	if text, ok := w.kept(file); ok {
		list = append(list, text)
	}
	return list
}

// code goes through code of a language.
func (w *analyzer) code(language, code string) {
	w.overwrites(language, codeWrites(code))
	w.calls(code)
	w.sql(language, []string{code})
	if language == "perl" || language == "ruby" || language == "php" {
		for _, found := range backticked().FindAllStringSubmatch(code, maxVariants) {
			w.read(found[1])
		}
	}
}

var (
	awkWrite   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`>\s*"([^"]*)"`) })
	backticked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`([^`]*)`") })
)

// calls goes through the programs that code starts, by calls whose arguments are
// texts: one for a shell, or the words of a command.
func (w *analyzer) calls(code string) {
	if !trackerName().MatchString(code) {
		return
	}
	for _, call := range callText().FindAllStringIndex(code, maxVariants) {
		switch words := arguments(code[call[1]:]); {
		case len(words) == 0:
		case len(words) == 1 || strings.Contains(words[0], " "):
			w.read(strings.Join(words, " "))
		case words[0] == words[1]: // a file to run and what it is to be called
			w.run(words[1:])
		default:
			w.run(words)
		}
	}
}

// callText is what begins a call that starts a program, as far as its first
// argument.
var callText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:system|popen\w*|Popen|run|call|check_call|check_output|getoutput|getstatusoutput|` +
		`(?:exec|spawn)\w*|Command|shell_exec|passthru|create_subprocess_\w+)\b[ \t]*`)
})

// arguments lists the texts that begin the arguments of a call, as one list
// though some stand in a list of their own; what is no text is unknown.
func arguments(code string) (words []string) {
	for len(words) < maxVariants {
		code = strings.TrimLeft(code, " \t\n([,")
		if text, rest, ok := quoted(code); ok {
			code = strings.TrimLeft(rest, " \t")
			if code != "" && strings.ContainsRune("+%.", rune(code[0])) { // what is added to it
				text, code = text+unknown, code[skipped(code):]
			}
			words = append(words, text)
			continue
		}
		n := skipped(code)
		if n == 0 || len(words) == 0 || strings.Contains(code[:n], "=") { // the end, no text, or an option
			return words
		}
		words, code = append(words, unknown), code[n:]
	}
	return words
}

// skipped is how many bytes stand before the end of an argument.
func skipped(code string) int {
	if n := strings.IndexAny(code, ",)];\n"); n >= 0 {
		return n
	}
	return len(code)
}

// quoted reads a text in quotes, as most languages write it, at the beginning of
// code. What is put into it when it runs is unknown.
func quoted(code string) (text, rest string, ok bool) {
	at := strings.IndexAny(code, "\"'`")
	if at < 0 || at > 2 || strings.Trim(code[:at], "rbfuRBFU") != "" {
		return "", "", false
	}
	prefix, mark := strings.ToLower(code[:at]), code[at:at+1]
	if triple := strings.Repeat(mark, 3); strings.HasPrefix(code[at:], triple) {
		mark = triple
	}
	rest = code[at+len(mark):]
	var b strings.Builder
	for rest != "" && !strings.HasPrefix(rest, mark) {
		if rest[0] == '\\' && len(rest) > 1 {
			rest = rest[1:]
		}
		b.WriteByte(rest[0])
		rest = rest[1:]
	}
	text = b.String()
	if strings.Contains(prefix, "f") {
		text = strings.ReplaceAll(text, "{", "${")
	}
	return putIn().ReplaceAllString(text, unknown), strings.TrimPrefix(rest, mark), true
}

// putIn is what a text in quotes has put into it: {x} after f, ${x}, #{x}.
var putIn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[$#]+\{[^{}]*\}`) })

// codeWrites lists the stores that code writes, as far as its own text tells: a
// call that opens for writing, with the path itself or a variable that has it.
func codeWrites(code string) (files []string) {
	code = joinedPath().ReplaceAllString(code, "$1.beads/")
	temporary := temporaryDirectory().MatchString(code)
	for _, found := range storeText().FindAllStringSubmatch(code, maxVariants) {
		name, under, mark, file := found[1], found[2], found[3], found[4]
		if strings.ContainsAny(under, ",/") && temporary {
			continue
		}
		if written, ok := strings.CutPrefix(file, ">"); ok { // perl
			files = append(files, strings.TrimLeft(written, "> "))
			continue
		}
		as := beforePath + regexp.QuoteMeta(mark+file+mark) + `\)*`
		if name != "" {
			as = `(?:` + as + `|\b` + regexp.QuoteMeta(name) + `\b)`
		}
		if writing, err := regexp.Compile(writingOf(as)); err == nil && writing.MatchString(code) {
			files = append(files, leadingPutIn().ReplaceAllString(file, unknown))
		}
	}
	return files
}

// writingOf is how code writes a file that it calls so.
func writingOf(as string) string {
	return `open\(\s*(?:file\s*=\s*)?` + as + `\s*,\s*(?:mode\s*=\s*)?["'][^"']*[wax+]` +
		`|` + as + `\)?\s*\.\s*(?:write_|open\(\s*["'][^"']*[wax+]|rename|replace|unlink)` +
		`|(?:[wW]rite|append|truncate|unlink|remove|put_contents)\w*\(\s*` + as +
		`|(?:rename|copy|move|copyfile|replace)\w*\([^()]*,\s*` + as +
		`|input\(\s*` + as + `[^()]*\binplace\s*=\s*(?:True|1)` +
		`|open\s*\(?[^;]*,\s*["']\s*>+[^;]*` + as
}

// beforePath is what may stand between a variable and the end of the path that
// it is given: calls that make paths, and directories that are joined.
const beforePath = `(?:[\w.]*(?:Path|join|path|resolve)\(\s*)*(?:[\w.()]+\s*[,/]\s*)*`

var (
	// storeText is a quoted path of a store in code, and the variable that it is
	// given to, if any.
	storeText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\b(\w+)\s*=\s*)?(` + beforePath + `)[rbuf]?(["'\x60])([^"'\x60\n]*\.jsonl)["'\x60]`)
	})
	// joinedPath is what stands between a directory and the name of a store when
	// code joins them.
	joinedPath = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`["']\.beads/?["']\s*\)?\s*[,/]\s*(["'])`)
	})
	temporaryDirectory = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`mkdtemp|TemporaryDirectory|tmpdir\(|tmp_path`) })
	leadingPutIn       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[$#]?\{[^{}]*\}`) })
)
