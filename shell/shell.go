// Package shell reads the text of shell commands: its simple commands, the words of
// a command, and which programs run the command that follows them.
//
// Two packages judge commands that have not run: criteria asks what running
// them would destroy, guard what they would close or overwrite. What both must
// know of a shell stands here once; criteria walks the syntax tree by itself.
//
// The package does not know what a command means to issues, or what is on this
// machine. It runs nothing.
//
//	file, err := shell.Parse("sudo -u ann git push")
//	if err == nil {
//		call := file.Stmts[0].Cmd.(*syntax.CallExpr)
//		words := shell.Words(call.Args) // sudo -u ann git push
//		runs := shell.IsRunner(words[0]) // true
//	}
package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of a text that is read. No program can be given a longer one by a shell's -c on
// Linux, and the parser needs a stack for each level.
const (
	maxText  = 64 << 10 // bytes
	maxDepth = 500      // brackets that stand open
)

// Parse reads a text as bash. The error says why it is not.
func Parse(text string) (file *syntax.File, err error) {
	defer recovered(&err)
	if err := bounded(text); err != nil {
		return nil, err
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// statements gives the statements before the first mistake in a text, which bash would run.
func statements(text string) (stmts []*syntax.Stmt) {
	var err error
	defer recovered(&err)
	if bounded(text) != nil {
		return nil
	}
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			break
		}
		stmts = append(stmts, s)
	}
	return stmts
}

// bounded says which limit a text is beyond.
func bounded(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("longer than %d bytes", maxText)
	}
	depth := 0
	for _, b := range []byte(text) {
		switch b {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxDepth {
			return fmt.Errorf("more than %d brackets stand open", maxDepth)
		}
	}
	return nil
}

// recovered turns a panic of the parser, which some texts cause, into an error:
// it is a mistake in the text too, for whoever is to run it.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the parser gives up: %v", r)
	}
}

// IsIncomplete reports whether a shell would ask for more lines.
func IsIncomplete(command string) bool {
	if strings.HasSuffix(command, `\`) && !strings.HasSuffix(command, `\\`) {
		return true
	}
	_, err := Parse(command)
	// The parser does not count an open here-document as incomplete.
	return err != nil && (syntax.IsIncomplete(err) || strings.Contains(err.Error(), "here-document"))
}

// Words gives the words as they stand, quotes removed. Of an expansion it
// shows "$NAME", or "$()" for anything but a plain variable.
func Words(words []*syntax.Word) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = Text(word.Parts)
	}
	return texts
}

// Text is the text of the parts of a word, as Words gives it.
func Text(parts []syntax.WordPart) string {
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(unescape(part.Value))
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			text.WriteString(Text(part.Parts))
		case *syntax.ParamExp:
			if part.Param != nil && part.Exp == nil && part.Slice == nil && part.Repl == nil && part.Index == nil && !part.Length && !part.Excl {
				text.WriteString("$" + part.Param.Value)
			} else {
				text.WriteString("$()")
			}
		default:
			text.WriteString("$()")
		}
	}
	return text.String()
}

// unescape is the text of a literal outside of quotes, without its backslashes.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return strings.NewReplacer(`\\`, `\`, "\\\n", "", `\`, "").Replace(text)
}

// Quoted is a word as somebody types it: in quotes where it needs them.
func Quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plain are the characters that need no quotes.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:+,%"
