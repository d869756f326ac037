package guard

import (
	"encoding/base64"
	"path"
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// outputs is what statements print, as far as the line itself tells.
func (w *analyzer) outputs(stmts []*syntax.Stmt) string {
	var text strings.Builder
	for _, s := range stmts {
		text.WriteString(w.output(s))
	}
	return text.String()
}

// output is what one statement prints.
func (w *analyzer) output(s *syntax.Stmt) string {
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
func (w *analyzer) prints(argv []string) string {
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
		if text, ok := w.content(words[0]); ok {
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
