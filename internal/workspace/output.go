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

// What a front end shows of a service: messages beside its result, the result as data,
// and the error with its exit code.

// lineLimit is the longest line in bytes that every bd command reads.
const lineLimit = 60 << 10

// WarnOfEdit warns of what an edit leaves to look at. The warnings are about one
// issue, or name theirs when id is "".
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
			a.Warn("%s: its line is %d bytes long; some versions of bd read at most 65536 of a line", c.ID, len(c.After))
		}
	}
}

// What stig says is lower case, begins with the place and has no full stop; a
// hint says what to type. Data goes to the output stream, all else to the
// error stream. A message is one line, which grep finds; it is not wrapped, and
// short data leaves it within 100 columns.

// Level is what a message is beside a result.
type Level int

const (
	Warning Level = iota
	aside         // what happened; left out with --quiet
	Advice        // what to type; left out with --quiet
)

func (a *Run) Warn(format string, args ...any) { a.Say(Warning, fmt.Sprintf(format, args...)) }

func (a *Run) Note(format string, args ...any) { a.Say(aside, fmt.Sprintf(format, args...)) }

// Hint says what to type, and nothing for "".
func (a *Run) Hint(text string) {
	if text != "" {
		a.Say(Advice, text)
	}
}

// Visible is a text as people and assistants are shown it.
func Visible(text string) string { return visible.Text(text) }

// WarnOfStore names the places that cannot be read: reading goes on without them.
func (a *Run) WarnOfStore(f *beads.Snapshot) {
	if f.Place().Mode == beads.Export {
		a.Warn("%s: an export of a Dolt database, where the issues may have changed since", f.Place().Name())
	}
	problems := f.Problems()
	const shown = 3
	for i, p := range problems {
		if i == shown {
			a.Warn("%s: %d more places; type stig vet to see them all", f.Place().Name(), len(problems)-shown)
			break
		}
		a.Warn("%s:%d: %s", f.Place().Name(), p.Line, p.Message)
	}
}

// Output is a result as data: the object that a command prints with --json and
// that a tool of the MCP server gives.
type Output struct {
	Kind   string // schemas/stig/output.cue has the keys of each
	Bodies []any  // each encodes as an object, whose keys become those of the output
}

func NewOutput(kind string, bodies ...any) Output { return Output{Kind: kind, Bodies: bodies} }

// EditOutput is the output of an edit: its own keys, the issues that it touched,
// whether it was a dry run, and the diff of one.
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

// JSON is the output as one object on one line: schema_version and kind first, then
// the keys of each body.
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

// encoded is an object of JSON on one line, without hidden characters.
func encoded(body any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, err
	}
	line := bytes.TrimSpace(text.Bytes())
	if line[0] != '{' {
		return nil, fmt.Errorf("%T: must be an object of JSON; found %.20q", body, line)
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

// WriteArray writes an array of JSON objects, each on a line.
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

// inert is JSON that says the same without hidden characters.
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
	ExitFound       = 1 // a check found something, or the gate said no
	ExitUsage       = 2
	exitStore       = 3 // the store cannot be read or must not be written
	ExitNoIssue     = 4
	ExitConflict    = 5   // changed meanwhile, or held by another
	ExitWaits       = 6   // waits on a person
	exitNotMerged   = 129 // stig merge wrote nothing; git takes less than 129 for conflicts
	ExitInterrupted = 130
)

// ExitCodes are the exit codes with their meaning, as help lists them.
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

// Usage is a command line that cannot be carried out as it stands.
func Usage(message, hint string) error {
	return &fault.Error{Code: fault.Usage, Reason: message, Hint: hint}
}

// Ended ends a command whose output says already what there is to say, with an exit code.
type Ended struct{ Code int }

func (e Ended) Error() string { return "ended with exit code " + strconv.Itoa(e.Code) }

// Found ends a command that printed what it found.
func Found() error { return Ended{ExitFound} }

// NotMerged ends a merge that wrote nothing. git takes a lower exit code for a merge with
// conflicts, and ours for its result.
func NotMerged(err error) error {
	return &fault.Error{Code: fault.NotMerged, Reason: err.Error(), Err: err}
}

// Failure is an error as it is shown: what happened, what to type, the exit code.
type Failure struct {
	Code    int    `json:"code"`
	Hint    string `json:"hint"`
	Message string `json:"message"`
}

// For is the failure of a command: a request that cannot be carried out and has no
// hint of its own is referred to the help of that command.
func (f Failure) For(command string) Failure {
	if f.Code == ExitUsage && f.Hint == "" {
		f.Hint = "type " + command + " --help"
	}
	return f
}

// Output is the failure as data.
func (f Failure) Output() Output { return NewOutput("error", f) }

// codes are the exit codes of faults.
var codes = map[fault.Code]int{
	fault.Usage: ExitUsage, fault.Found: ExitFound, fault.Store: exitStore, fault.Refused: exitStore, fault.NotFound: ExitNoIssue,
	fault.NoRevision: ExitUsage, fault.NotMerged: exitNotMerged, fault.Conflict: ExitConflict, fault.Changed: ExitConflict, fault.Waits: ExitWaits,
}

// Classify maps an error to what is shown of it. One that nobody promised is
// taken for a store that cannot be used. Of the errors that one wraps the outermost counts.
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
	default: // what is given is wrong, not what is written: the help of the command says more
		f.Code = ExitUsage
		if fix := e.Findings[0].Fix; fix != "" {
			f.Hint = "did you mean " + fix + "?"
		}
	}
	return f
}

// hintFor names the issue in the hint of a table that does not know whose it is.
func hintFor(err error, invalid *signals.InvalidError) string {
	if of, ok := errors.AsType[*checkpoint.IssueError](err); ok {
		return strings.ReplaceAll(invalid.Hint(), " ID", " "+of.ID)
	}
	return invalid.Hint()
}
