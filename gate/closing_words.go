package gate

import (
	"encoding/base64"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// variants gives the words of a command as the shell would make them: one list
// for each way in which its variables may come out.
func (w *watch) variants(words []*syntax.Word) [][]string {
	lists := [][]string{nil}
	for _, whole := range words {
		for _, word := range braces(whole) {
			texts := w.fields(word)
			if len(lists)*len(texts) > maxVariants {
				texts = [][]string{{unknown}}
			}
			var longer [][]string
			for _, list := range lists {
				for _, fields := range texts {
					longer = append(longer, append(list[:len(list):len(list)], fields...))
				}
			}
			lists = longer
		}
	}
	return lists
}

// braces gives the words that a{b,c} stands for. The word stays as it is: it
// may be gone through again.
func braces(word *syntax.Word) []*syntax.Word {
	word = &syntax.Word{Parts: slices.Clone(word.Parts)}
	syntax.SplitBraces(word)
	done, open := []*syntax.Word(nil), []*syntax.Word{word}
	for len(open) > 0 && len(done)+len(open) < maxVariants {
		next := open[0]
		open = open[1:]
		i, brace := firstBrace(next)
		if brace == nil {
			done = append(done, next)
			continue
		}
		var expanded []*syntax.Word
		for _, parts := range choices(brace) {
			parts = append(append(next.Parts[:i:i], parts...), next.Parts[i+1:]...)
			expanded = append(expanded, &syntax.Word{Parts: parts})
		}
		open = append(expanded, open...)
	}
	return append(done, open...)
}

func firstBrace(word *syntax.Word) (int, *syntax.BraceExp) {
	for i, part := range word.Parts {
		if brace, ok := part.(*syntax.BraceExp); ok {
			return i, brace
		}
	}
	return 0, nil
}

// choices gives what may stand in the place of a brace expression. Of a
// sequence of numbers those are they, unless there are many.
func choices(brace *syntax.BraceExp) (list [][]syntax.WordPart) {
	if !brace.Sequence {
		for _, word := range brace.Elems {
			list = append(list, word.Parts)
		}
		return list
	}
	from, err := strconv.Atoi(brace.Elems[0].Lit())
	to, err2 := strconv.Atoi(brace.Elems[1].Lit())
	if err != nil || err2 != nil || to < from || to-from >= maxVariants || len(brace.Elems) > 2 {
		return [][]syntax.WordPart{{&syntax.Lit{Value: unknown}}}
	}
	for n := from; n <= to; n++ {
		list = append(list, []syntax.WordPart{&syntax.Lit{Value: strconv.Itoa(n)}})
	}
	return list
}

// fields gives the words that one word becomes, for each way it may come out.
func (w *watch) fields(word *syntax.Word) (lists [][]string) {
	if list, ok := w.whole(word); ok {
		return [][]string{list}
	}
	splits := false
	for _, part := range word.Parts {
		switch part.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			splits = true
		}
	}
	for _, text := range w.texts(word.Parts) {
		if splits {
			lists = append(lists, strings.Fields(text))
		} else {
			lists = append(lists, []string{text})
		}
	}
	return lists
}

// whole gives the words that a word alone stands for: all parameters of a
// function ("$@"), or all of an array.
func (w *watch) whole(word *syntax.Word) (list []string, ok bool) {
	if len(word.Parts) != 1 {
		return nil, false
	}
	part := word.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Slice != nil || p.Length {
		return nil, false
	}
	if name := p.Param.Value; name == "@" || name == "*" {
		return w.params, w.params != nil
	}
	if index, ok := p.Index.(*syntax.Word); !ok || index.Lit() != "@" && index.Lit() != "*" {
		return nil, false
	}
	list, ok = w.arrays[p.Param.Value]
	return list, ok
}

// texts gives the texts that parts of a word may come out as, at least one.
func (w *watch) texts(parts []syntax.WordPart) []string {
	return w.join(parts, func(lit string) string { return unquoted(lit) })
}

// quotedTexts is texts within double quotes.
func (w *watch) quotedTexts(parts []syntax.WordPart) []string {
	unescape := strings.NewReplacer(`\\`, `\`, `\$`, `$`, "\\`", "`", `\"`, `"`, "\\\n", "")
	return w.join(parts, unescape.Replace)
}

func (w *watch) join(parts []syntax.WordPart, literal func(string) string) []string {
	texts := []string{""}
	for _, part := range parts {
		var next []string
		switch part := part.(type) {
		case *syntax.Lit:
			next = []string{literal(part.Value)}
		case *syntax.SglQuoted:
			next = []string{part.Value}
			if part.Dollar {
				next = []string{escaped(part.Value)}
			}
		case *syntax.DblQuoted:
			next = w.quotedTexts(part.Parts)
		case *syntax.ParamExp:
			next = w.variable(part)
		case *syntax.CmdSubst:
			next = []string{strings.TrimRight(w.outputs(part.Stmts), "\n")}
		case *syntax.ProcSubst:
			next = []string{piped + w.outputs(part.Stmts)}
		default:
			next = []string{unknown}
		}
		if len(texts)*len(next) > maxVariants {
			next = []string{unknown}
		}
		var longer []string
		for _, before := range texts {
			for _, text := range next {
				if len(before)+len(text) > maxText {
					text = unknown
				}
				longer = append(longer, before+text)
			}
		}
		texts = longer
	}
	return texts
}

// variable gives the texts that a variable may have.
func (w *watch) variable(p *syntax.ParamExp) []string {
	if p.Param == nil || p.Excl || p.Length || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return []string{unknown}
	}
	if p.Exp != nil && p.Exp.Word != nil && w.variables[p.Param.Value] == nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			return w.texts(p.Exp.Word.Parts)
		}
	}
	return w.named(p.Param.Value)
}

// named gives the texts of a variable by its name. Of some that the line does
// not set the name tells enough.
func (w *watch) named(name string) []string {
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= len(w.params) {
		return []string{w.params[n-1]}
	}
	if known := w.variables[name]; len(known) > 0 {
		return known
	}
	switch name {
	case "BD", "BR":
		return []string{strings.ToLower(name)}
	case "HOME":
		return []string{"~"}
	case "SHELL", "BASH":
		return []string{"sh"}
	case "IFS":
		return []string{" "}
	case "PWD":
		return []string{"."}
	case "TMPDIR":
		return []string{elsewhere}
	case "BEADS_DIR":
		return []string{unknown + "/.beads"}
	}
	return []string{unknown}
}

// escaped is the text of $'…'.
func escaped(text string) string {
	var b strings.Builder
	for text != "" {
		if strings.HasPrefix(text, `\0`) && (len(text) == 2 || text[2] < '0' || text[2] > '7') {
			b.WriteByte(0)
			text = text[2:]
			continue
		}
		r, _, rest, err := strconv.UnquoteChar(text, '\'')
		if err != nil { // such as a lone backslash, or a quote
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		b.WriteRune(r)
		text = rest
	}
	return b.String()
}

// outputs is what statements print, as far as the line itself tells.
func (w *watch) outputs(stmts []*syntax.Stmt) string {
	var text strings.Builder
	for _, s := range stmts {
		text.WriteString(w.output(s))
	}
	return text.String()
}

// output is what one statement prints.
func (w *watch) output(s *syntax.Stmt) string {
	if s == nil || w.spent() {
		return unknown
	}
	before := w.input
	defer func() { w.input = before }()
	w.input = w.fed(s, before)
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		var text strings.Builder
		for _, argv := range w.variants(c.Args) {
			text.WriteString(w.prints(argv))
		}
		return text.String()
	case *syntax.BinaryCmd:
		first := w.output(c.X)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			w.input = first
			return w.output(c.Y)
		}
		return first + w.output(c.Y)
	case *syntax.Block:
		return w.outputs(c.Stmts)
	case *syntax.Subshell:
		return w.outputs(c.Stmts)
	case *syntax.ForClause:
		w.loop(c.Loop)
		return w.outputs(c.Do)
	}
	return unknown
}

// prints is what a command prints.
func (w *watch) prints(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	words := argv[1:]
	last := argv[len(argv)-1]
	switch path.Base(argv[0]) {
	case "echo":
		return echoed(words)
	case "printf":
		return formatted(words)
	case "cat", "tee":
		if len(words) == 0 || words[0] == "-" || path.Base(argv[0]) == "tee" {
			return w.input
		}
		if stream, ok := strings.CutPrefix(words[0], piped); ok {
			return stream
		}
		if text, ok := w.kept(words[0]); ok {
			return text
		}
	case "head", "tail", "sort", "uniq", "tac", "grep", "rg": // some of the lines, as they are
		if w.input != "" {
			return w.input
		}
		if l := takeApart(words, valued("e f A B C m")); l.has("l", "files-with-matches") && len(l.operands) > 1 {
			return strings.Join(withBelow(l.operands[1:]), "\n") + "\n"
		}
	case "find":
		return whatFound(words) + "\n"
	case "ls":
		if files := fileWords(words); len(files) > 0 {
			return strings.Join(files, "\n") + "\n"
		}
	case "base64":
		if text, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(w.input), "")); err == nil && len(words) > 0 {
			return string(text)
		}
	case "which", "whence", "type", "command":
		return path.Base(last) + "\n"
	case "mktemp":
		return elsewhere + "\n"
	case "pwd":
		return "."
	}
	return filtered(argv)
}

// filtered is what a filter prints, of which nothing is known but that it may
// be a close that stands in its own words.
func filtered(argv []string) string {
	said := strings.Join(argv, " ")
	text := unknown
	if name := closeText().FindStringSubmatch(said); name != nil {
		text += "\n" + name[1] + " close " + unknown + "\n"
	}
	if closedText().MatchString(said) {
		text += "\n" + `"status":"closed"` + "\n"
	}
	return text
}

// closeText is a close in a text that makes commands, and closedText a status in
// one that makes issues.
var (
	closeText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(bd|br)["',\s]+(?:close|done|update\b.*\bclosed)\b`)
	})
	closedText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`status["'\]]*\s*\|?[=:]\s*\\?["']?closed|open["']*/["']*closed`)
	})
)

func echoed(words []string) string {
	end, escapes := "\n", false
	for len(words) > 0 && len(words[0]) > 1 && strings.Trim(words[0], "neE") == "-" {
		if strings.Contains(words[0], "n") {
			end = ""
		}
		escapes = escapes || strings.Contains(words[0], "e")
		words = words[1:]
	}
	text := strings.Join(words, " ")
	if escapes {
		text = escaped(text)
	}
	return text + end
}

// formatted is what printf prints: the format once for each round of words.
func formatted(words []string) string {
	if len(words) > 1 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	format, words := escaped(words[0]), words[1:]
	var b strings.Builder
	for {
		used := 0
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			if format[i] == '%' {
				b.WriteByte('%')
				continue
			}
			if used < len(words) {
				b.WriteString(words[used])
			}
			used++
		}
		if used == 0 || used >= len(words) || b.Len() > maxText {
			return b.String()
		}
		words = words[used:]
	}
}
