package gate

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"stig/internal/process"
	"stig/internal/visible"
)

// Failed is the command of a script at which a check failed.
type Failed struct {
	Line    int    `json:"line,omitempty"` // 1-based line of the script, or of File; 0 where bash does not tell
	Command string `json:"command"`        // in one line
	File    string `json:"file,omitempty"` // the file that the script sources, in which the command stands; "" for the script

	strict bool // bash alone would have gone on after it; see StrictScript
}

// Named formats a failed check and the place of its failure: "test -f a … at line 3: test -f
// b".
func (o Outcome) Named() string {
	if at := o.Fault(); strings.HasPrefix(at, "line ") {
		return visible.FirstLine(o.Text) + " at " + at
	}
	return o.Fault()
}

// Fault describes where a check failed, in one line: its text if that is enough, else line and
// command.
func (o Outcome) Fault() string {
	text := strings.TrimSpace(o.Text)
	several := strings.Contains(text, "\n")
	f := o.Failed
	switch {
	case f == nil, f.File == "" && !several && f.Command == visible.OneLine(text):
		return visible.FirstLine(text)
	case f.File != "":
		return fmt.Sprintf("%s: %s, line %d: %s", visible.FirstLine(text), visible.Text(f.File), f.Line, f.Command)
	case !several:
		return visible.FirstLine(text) + ": " + f.Command
	case f.Line == 0:
		return f.Command
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.Command)
}

// tracing is the file in which bash records failed commands while a script runs.
type tracing struct{ path string }

// traced creates the file for a script; remove deletes it.
func traced() (t tracing, remove func(), err error) {
	f, err := os.CreateTemp("", "stig-failed-")
	if err != nil {
		return t, nil, err
	}
	t.path = f.Name()
	return t, func() { _ = os.Remove(t.path) }, f.Close()
}

// before is a line of bash to run before a script: traps that record each failed command with
// its line. If the file cannot be written, as in a sandbox, the record is in the output.
func (t tracing) before() string {
	path := visible.InQuotes(t.path)
	var traps strings.Builder
	for _, on := range []string{"ERR", "EXIT"} {
		note := `{ printf "%s\0" ` + on + ` "$?" "$LINENO" `
		rest := ` "$BASH_SUBSHELL" "${BASH_SOURCE[0]-}" "$BASH_COMMAND" >>` + path + `; } 2>/dev/null || echo "failed: $BASH_COMMAND" >&2`
		// between them is the line of the traps, from which bash counts
		traps.WriteString("trap " + visible.InQuotes(note) + `"$LINENO"` + visible.InQuotes(rest) + " " + on + "; ")
	}
	return traps.String() + "\n"
}

// trapped is a failed command as bash recorded it.
type trapped struct {
	Failed
	exit  int
	depth int  // its subshell depth
	last  bool // it was the last that the shell ran, whatever its exit code
}

// read returns bash's records, in order.
func (t tracing) read() (all []trapped) {
	text, err := os.ReadFile(t.path)
	if err != nil {
		return nil // nothing is known in that case
	}
	fields := strings.Split(string(text), "\x00")
	for ; len(fields) > 7; fields = fields[7:] {
		n := trapped{Failed: Failed{Command: fields[6], File: fields[5]}, last: fields[0] == "EXIT"}
		if n.File == "environment" { // a function in the script
			n.File = ""
		}
		base := 0
		for at, number := range map[int]*int{1: &n.exit, 2: &n.Line, 3: &base, 4: &n.depth} {
			*number, _ = strconv.Atoi(fields[at])
		}
		if n.File == "" {
			n.Line -= base
		}
		all = append(all, n)
	}
	return all
}

// failedAt finds where a script that ended with an exit code failed, from bash's records; nil
// if there is none.
func failedAt(script string, all []trapped, exit int) *Failed {
	file, _ := ParseShell(script)
	var found *trapped
	for i := range all {
		n := &all[i]
		switch {
		case n.exit != exit, n.last && found != nil && !strings.HasPrefix(n.Command, "exit"):
		case found == nil, n.depth >= found.depth, !covers(file, n.Line, found.Line):
			found = n
		}
	}
	if found == nil {
		return nil
	}
	f := found.Failed
	if first, _, here := strings.Cut(f.Command, "\n"); here && strings.Contains(first, "<<") { // what follows is not a command
		f.Command = first
	}
	if f.File == "" && file != nil {
		f.locate(file, script, found.last)
	}
	f.Command = visible.Clipped(visible.Text(visible.OneLine(f.Command)), maxFailed)
	return &f
}

// maxFailed limits how many characters of a failed command are shown.
const maxFailed = 160

// covers reports whether a statement of a script spans both lines.
func covers(file *syntax.File, outer, inner int) bool {
	return file != nil && slices.ContainsFunc(file.Stmts, func(s *syntax.Stmt) bool { return spans(s, outer) && spans(s, inner) })
}

func spans(s *syntax.Stmt, line int) bool {
	return int(s.Pos().Line()) <= line && line <= int(s.End().Line())
}

// locate finds the command in its script: its line, where bash gave none or that of a
// substitution, and the pipeline or list that contains it, since any part of that may have
// failed.
func (f *Failed) locate(file *syntax.File, script string, anywhere bool) {
	source := func(s *syntax.Stmt) string { return visible.OneLine(script[s.Pos().Offset():end(s)]) }
	said := visible.OneLine(f.Command)
	f.strict = said == "( exit $? )"
	var within, found []*syntax.Stmt // the statements around one, and the candidates
	syntax.Walk(file, func(node syntax.Node) bool {
		s, ok := node.(*syntax.Stmt)
		if !ok {
			return true
		}
		within = slices.DeleteFunc(within, func(outer *syntax.Stmt) bool { return outer.End().Offset() < s.End().Offset() })
		within = append(within, s)
		if f.strict && spans(s, f.Line) && (s.Negated || joins(s, syntax.AndStmt)) {
			found = []*syntax.Stmt{s}
		} else if source(s) == said {
			if pipe := slices.IndexFunc(within, func(outer *syntax.Stmt) bool { return joins(outer, syntax.Pipe, syntax.PipeAll) }); pipe >= 0 {
				s = within[pipe]
			}
			found = append(found, s)
		}
		return true
	})
	if len(found) > 1 && !anywhere {
		found = slices.DeleteFunc(found, func(s *syntax.Stmt) bool { return !spans(s, f.Line) })
	}
	if len(found) != 1 {
		if anywhere {
			f.Line = 0
		}
		return
	}
	f.Command = source(found[0])
	if first := int(found[0].Pos().Line()); anywhere || !spans(found[0], f.Line) {
		f.Line = first
	}
}

// joins reports whether a statement consists of two joined by one of these operators.
func joins(s *syntax.Stmt, by ...syntax.BinCmdOperator) bool {
	both, ok := s.Cmd.(*syntax.BinaryCmd)
	return ok && slices.Contains(by, both.Op)
}

// absent is the program that a command of a script lacks in the current state of the directory;
// "" if it exists or only running can tell.
func (f *Failed) absent(dir string) (program string) {
	there := process.Finder(dir, func(string) string { return "" })
	for _, s := range statements(f.Command) {
		syntax.Walk(s, func(node syntax.Node) bool {
			call, ok := node.(*syntax.CallExpr)
			if ok && len(call.Args) > 0 && program == "" {
				word := WordText(call.Args[0].Parts)
				if _, builtin := builtins[word]; !builtin && !strings.Contains(word, "$") && !there(word) {
					program = word
				}
			}
			return true
		})
	}
	return program
}
