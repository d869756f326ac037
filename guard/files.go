package guard

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// keepPrinted keeps what a statement prints to a file, for when the line runs
// or reads that.
func (w *analyzer) keepPrinted(r *syntax.Redirect, s *syntax.Stmt) {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
	default:
		return
	}
	if r.Word == nil || r.N != nil && r.N.Value != "1" {
		return
	}
	text := w.output(s)
	for _, file := range w.texts(r.Word.Parts) {
		if r.Op == syntax.AppOut || r.Op == syntax.AppAll {
			text = w.files[w.fileName(file)] + text
		}
		w.keep(file, text)
	}
}

// keep notes the text of a file.
func (w *analyzer) keep(file, text string) {
	if len(text) <= maxText {
		w.files[w.fileName(file)] = text
	}
}

// kept is the text of a file that the line wrote.
func (w *analyzer) kept(file string) (text string, ok bool) {
	text, ok = w.files[w.fileName(file)]
	return text, ok
}

func (w *analyzer) fileName(file string) string { return path.Clean(w.place(file)) }

// content is the text of a file that the line wrote, or writes beside the command
// that reads it.
func (w *analyzer) content(file string) (text string, ok bool) {
	if stream, ok := strings.CutPrefix(file, piped); ok {
		return stream, true
	}
	return w.kept(file)
}

// handed is what a program reads that takes a file, or else standard input.
func (w *analyzer) handed(files []string) string {
	if len(files) == 0 || files[0] == "-" {
		return w.input
	}
	if text, ok := w.content(files[0]); ok {
		return text
	}
	return unknown
}
