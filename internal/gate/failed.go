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

	strict bool // it is a part of the script after which bash alone would go on; see StrictScript
}

// Named names a check that failed, and where it did: "test -f a … at line 3: test -f b".
func (o Outcome) Named() string {
	if at := o.Fault(); strings.HasPrefix(at, "line ") {
		return visible.FirstLine(o.Text) + " at " + at
	}
	return o.Fault()
}

// Fault says where a check failed, in one line: its text where that is all there is to say,
// else the line and the command of it.
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

// tracing is the file in which bash notes the commands that failed, while a script runs.
type tracing struct{ path string }

// traced makes the file of a script, which remove deletes.
func traced() (t tracing, remove func(), err error) {
	f, err := os.CreateTemp("", "stig-failed-")
	if err != nil {
		return t, nil, err
	}
	t.path = f.Name()
	return t, func() { _ = os.Remove(t.path) }, f.Close()
}

// before is what bash is to run before a script, on a line of its own: traps that note each
// command that fails, with its line. Where the file cannot be written, as in a sandbox, that
// stands in the output.
func (t tracing) before() string {
	path := visible.InQuotes(t.path)
	var traps strings.Builder
	for _, on := range []string{"ERR", "EXIT"} {
		note := `{ printf "%s\0" ` + on + ` "$?" "$LINENO" `
		rest := ` "$BASH_SUBSHELL" "${BASH_SOURCE[0]-}" "$BASH_COMMAND" >>` + path + `; } 2>/dev/null || echo "failed: $BASH_COMMAND" >&2`
		// between them stands the line of the traps themselves, from which bash counts
		traps.WriteString("trap " + visible.InQuotes(note) + `"$LINENO"` + visible.InQuotes(rest) + " " + on + "; ")
	}
	return traps.String() + "\n"
}

// trapped is a command that failed, as bash notes it.
type trapped struct {
	Failed
	exit  int
	depth int  // how many subshells it is within
	last  bool // it was the last that the shell ran, whatever its exit code
}

// read gives what bash noted, in order.
func (t tracing) read() (all []trapped) {
	text, err := os.ReadFile(t.path)
	if err != nil {
		return nil // then nothing is known of it
	}
	fields := strings.Split(string(text), "\x00")
	for ; len(fields) > 7; fields = fields[7:] {
		n := trapped{Failed: Failed{Command: fields[6], File: fields[5]}, last: fields[0] == "EXIT"}
		if n.File == "environment" { // a function of the script itself
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

// failedAt finds where a script failed that ended with an exit code, in what bash noted of
// it; nil where it noted nothing of that.
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
	if first, _, here := strings.Cut(f.Command, "\n"); here && strings.Contains(first, "<<") { // what follows is no command
		f.Command = first
	}
	if f.File == "" && file != nil {
		f.locate(file, script, found.last)
	}
	f.Command = visible.Clipped(visible.Text(visible.OneLine(f.Command)), maxFailed)
	return &f
}

// maxFailed is how many characters of a command that failed are shown.
const maxFailed = 160

// covers reports whether a statement of a script has both lines.
func covers(file *syntax.File, outer, inner int) bool {
	return file != nil && slices.ContainsFunc(file.Stmts, func(s *syntax.Stmt) bool { return spans(s, outer) && spans(s, inner) })
}

func spans(s *syntax.Stmt, line int) bool {
	return int(s.Pos().Line()) <= line && line <= int(s.End().Line())
}

// locate finds the command in its script: its line, where bash did not tell, or told that of
// a substitution, and the pipe or the list that it is part of, since any part of that may
// have failed.
func (f *Failed) locate(file *syntax.File, script string, anywhere bool) {
	source := func(s *syntax.Stmt) string { return visible.OneLine(script[s.Pos().Offset():end(s)]) }
	said := visible.OneLine(f.Command)
	f.strict = said == "( exit $? )"
	var within, found []*syntax.Stmt // the statements around one, and those that it may be
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

// joins reports whether a statement consists of two that are joined by one of these.
func joins(s *syntax.Stmt, by ...syntax.BinCmdOperator) bool {
	both, ok := s.Cmd.(*syntax.BinaryCmd)
	return ok && slices.Contains(by, both.Op)
}

// absent is the program that a command of a script lacks, as the directory is now; "" where
// it is there, or only running can tell which it is.
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
