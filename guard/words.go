package guard

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"stig/shell"
)

// elsewhere is what mktemp gives: somewhere that is no store.
const elsewhere = "/mktemp"

// variants gives the words of a command as the shell would make them: one list
// for each way in which its variables may come out.
func (w *analyzer) variants(words []*syntax.Word) [][]string {
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
func (w *analyzer) fields(word *syntax.Word) (lists [][]string) {
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
func (w *analyzer) whole(word *syntax.Word) (list []string, ok bool) {
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
func (w *analyzer) texts(parts []syntax.WordPart) []string {
	return w.join(parts, shell.Unescape)
}

// text joins the texts that a word may come out as, one to a line.
func (w *analyzer) text(word *syntax.Word) string { return strings.Join(w.texts(word.Parts), "\n") }

// quotedTexts is texts within double quotes.
func (w *analyzer) quotedTexts(parts []syntax.WordPart) []string {
	unescape := strings.NewReplacer(`\\`, `\`, `\$`, `$`, "\\`", "`", `\"`, `"`, "\\\n", "")
	return w.join(parts, unescape.Replace)
}

func (w *analyzer) join(parts []syntax.WordPart, literal func(string) string) []string {
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
				longer = append(longer, joined(before, text))
			}
		}
		texts = longer
	}
	return texts
}

// joined is one text with another behind it, unless that is too long.
func joined(first, second string) string {
	if len(first)+len(second) > maxText {
		return unknown
	}
	return first + second
}

// variable gives the texts that a variable may have.
func (w *analyzer) variable(p *syntax.ParamExp) []string {
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
func (w *analyzer) named(name string) []string {
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
