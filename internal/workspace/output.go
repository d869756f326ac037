package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// What front ends show of a service: messages besides the result, the result as data, and
// errors with exit codes.

// lineLimit is the maximum length of a line, in bytes, that every bd command reads.
const lineLimit = 60 << 10

// WarnOfEdit prints the warnings of an edit. They are about one issue, or name theirs if id is
// "".
func (a *Run) WarnOfEdit(id string, warnings []string, changes []beads.Change) {
	if id != "" {
		id += ": "
	}
	for _, w := range warnings {
		a.Warn("%s%s", id, w)
	}
	a.WarnOfLines(changes)
}

// WarnOfLines warns of lines that some bd commands cannot read.
func (a *Run) WarnOfLines(changes []beads.Change) {
	for _, c := range changes {
		if len(c.After) > lineLimit {
			a.Warn("%s: its line has %d bytes; some versions of bd read at most 65536 bytes per line", c.ID, len(c.After))
		}
	}
}

// Messages are lower case, start with the place and have no full stop; a hint says what to
// type. Data goes to standard output, everything else to standard error. A message is one line,
// for grep; it is not wrapped, and within 100 columns if its data is short.

// Level is the kind of a message.
type Level int

const (
	Warning Level = iota
	aside         // what happened; omitted with --quiet
	Advice        // what to type; omitted with --quiet
)

func (a *Run) Warn(format string, args ...any) { a.Say(Warning, fmt.Sprintf(format, args...)) }

func (a *Run) Note(format string, args ...any) { a.Say(aside, fmt.Sprintf(format, args...)) }

// Hint prints what to type, unless text is "".
func (a *Run) Hint(text string) {
	if text != "" {
		a.Say(Advice, text)
	}
}

// Visible returns a text with hidden characters made visible.
func Visible(text string) string { return visible.Text(text) }

// WarnOfStore names the places that cannot be read; reading continues without them.
func (a *Run) WarnOfStore(f *beads.Snapshot) {
	if f.Place().Mode == beads.Export {
		a.Warn("%s: an export of a Dolt database, which may have newer issues", f.Place().Name())
	}
	problems := f.Problems()
	if len(problems) > 0 {
		a.damage = fmt.Sprintf("%s:%d: %s", f.Place().Name(), problems[0].Line, problems[0].Message)
		if more := len(problems) - 1; more > 0 {
			a.damage += fmt.Sprintf("; and %d more", more)
		}
	}
	const shown = 3
	for i, p := range problems {
		if i == shown {
			a.Warn("%s: %d more places; type stig vet to see them all", f.Place().Name(), len(problems)-shown)
			break
		}
		a.Warn("%s:%d: %s", f.Place().Name(), p.Line, p.Message)
	}
}

// Output is a result as data: the object that a command prints with --json and a tool of the
// MCP server returns.
type Output struct {
	Kind   string // schemas/stig/output.cue lists the keys of each
	Bodies []any  // each encodes as an object; Output has the keys of all
}

func NewOutput(kind string, bodies ...any) Output { return Output{Kind: kind, Bodies: bodies} }

// EditOutput returns the output of an edit: its own keys, the edited issues, whether it was a
// dry run, and the diff of a dry run.
func EditOutput(kind string, body any, changes []beads.Change, dryRun bool) (Output, error) {
	own := struct {
		Issues []string `json:"issues"`
		DryRun bool     `json:"dry_run"`
		Diff   *string  `json:"diff,omitempty"`
	}{Issues: []string{}, DryRun: dryRun}
	for _, c := range changes {
		own.Issues = append(own.Issues, c.ID)
	}
	if dryRun {
		text, err := DiffText(changes)
		if err != nil {
			return Output{}, err
		}
		own.Diff = &text
	}
	return NewOutput(kind, body, own), nil
}

// JSON returns the output as one object on one line: schema_version and kind first, then the
// keys of each body.
func (o Output) JSON() (json.RawMessage, error) {
	head := struct {
		SchemaVersion int    `json:"schema_version"`
		Kind          string `json:"kind"`
	}{1, o.Kind}
	line, err := encoded(head)
	for _, body := range o.Bodies {
		if err != nil {
			return nil, err
		}
		var object []byte
		if object, err = encoded(body); len(object) > len("{}") {
			line = append(append(line[:len(line)-1], ','), object[1:]...)
		}
	}
	return line, err
}

// encoded returns a JSON object on one line, without hidden characters.
func encoded(body any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, err
	}
	line := bytes.TrimSpace(text.Bytes())
	if line[0] != '{' {
		return nil, fmt.Errorf("%T: must be a JSON object; found %.20q", body, line)
	}
	return inert(line), nil
}

// WriteJSON writes an output and a newline.
func WriteJSON(w io.Writer, kind string, bodies ...any) error {
	line, err := NewOutput(kind, bodies...).JSON()
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// WriteArray writes an array of JSON objects, one per line.
func WriteArray(w io.Writer, list []json.RawMessage) error {
	text := []byte{'['}
	for i, object := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '\n'), inert(object)...)
	}
	if len(list) > 0 {
		text = append(text, '\n')
	}
	_, err := w.Write(append(text, "]\n"...))
	return err
}

// inert returns equivalent JSON with hidden characters escaped.
func inert(text []byte) []byte {
	if !bytes.ContainsFunc(text, visible.Hidden) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch high, low := utf16.EncodeRune(r); {
		case !visible.Hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// Exit codes.
const (
	ExitDone        = 0
	ExitFound       = 1 // problems found, or the gate failed
	ExitUsage       = 2
	exitStore       = 3 // the store cannot be read or must not be written
	ExitNoIssue     = 4
	ExitConflict    = 5   // changed meanwhile, or held by another actor
	ExitWaits       = 6   // waits for a person
	exitNotMerged   = 129 // stig merge wrote nothing; git uses codes below 129 for conflicts
	ExitInterrupted = 130
)

// ExitCodes lists the exit codes with their meaning, for help.
var ExitCodes = [][2]string{
	{"0", "done"},
	{"1", "problems found, or a check failed"},
	{"2", "wrong usage: unknown command, flag or value"},
	{"3", "the store cannot be read, or must not be written"},
	{"4", "no such issue"},
	{"5", "conflict: claimed, changed, asked or answered by somebody else"},
	{"6", "waiting: no answer from a person yet, or stig watch timed out"},
	{"129", "stig merge wrote nothing (git uses lower codes for conflicts); else the terminal was closed"},
	{"130, 143", "interrupted, terminated (SIGTERM)"},
}

// Usage returns the error of an invalid request.
func Usage(message, hint string) error {
	return &fault.Error{Code: fault.Usage, Reason: message, Hint: hint}
}

// Ended ends a command with an exit code and no message, since its output says everything.
type Ended struct{ Code int }

func (e Ended) Error() string { return "ended with exit code " + strconv.Itoa(e.Code) }

// Found returns the error of a command that printed what it found.
func Found() error { return Ended{ExitFound} }

// NotMerged returns the error of a merge that wrote nothing. Its exit code is above those by
// which git reports conflicts.
func NotMerged(err error) error {
	return &fault.Error{Code: fault.NotMerged, Reason: err.Error(), Err: err}
}

// Failure is an error for display: the message, what to type, and the exit code.
type Failure struct {
	Code    int    `json:"code"`
	Hint    string `json:"hint"`
	Message string `json:"message"`
}

// For returns the failure of a command: an invalid request without a hint refers to the help of
// the command.
func (f Failure) For(command string) Failure {
	if f.Code == ExitUsage && f.Hint == "" {
		f.Hint = "type " + command + " --help"
	}
	return f
}

// Output returns the failure as data.
func (f Failure) Output() Output { return NewOutput("error", f) }

// codes maps faults to exit codes.
var codes = map[fault.Code]int{
	fault.Usage: ExitUsage, fault.Found: ExitFound, fault.Store: exitStore, fault.Refused: exitStore, fault.NotFound: ExitNoIssue,
	fault.NoRevision: ExitUsage, fault.NotMerged: exitNotMerged, fault.Conflict: ExitConflict, fault.Changed: ExitConflict, fault.Waits: ExitWaits,
}

// Classify returns an error for display. The outermost fault in the chain decides; an unknown
// error counts as an unusable store.
func Classify(err error) Failure {
	f := Failure{Code: exitStore, Message: err.Error()}
	if e, ok := errors.AsType[Ended](err); ok {
		f.Code = e.Code
		return f
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		f.Code, f.Hint = cmp.Or(codes[e.Code], exitStore), e.Hint
		return f
	}
	if _, ok := errors.AsType[*notes.Error](err); ok {
		f.Hint = "fix the delimiters in the notes by hand, then try again"
		return f
	}
	e, ok := errors.AsType[*signals.InvalidError](err)
	switch {
	case !ok:
	case e.InNotes():
		f.Hint = hintFor(err, e)
	default: // the arguments are invalid, not the store: the help of the command says more
		f.Code = ExitUsage
		if fix := e.Findings[0].Fix; fix != "" {
			f.Hint = "did you mean " + fix + "?"
		}
	}
	return f
}

// hintFor returns the hint of an invalid table with the issue filled in.
func hintFor(err error, invalid *signals.InvalidError) string {
	if of, ok := errors.AsType[*checkpoint.IssueError](err); ok {
		return strings.ReplaceAll(invalid.Hint(), " ID", " "+of.ID)
	}
	return invalid.Hint()
}
