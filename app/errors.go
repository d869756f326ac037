package app

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"stig/checkpoint"
	"stig/fault"
	"stig/notes"
	"stig/signals"
)

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

// failure is an error as it is shown: what happened, what to type, the exit code.
type failure struct {
	Code    int    `json:"code"`
	Hint    string `json:"hint"`
	Message string `json:"message"`
}

// For is the failure of a command: a request that cannot be carried out and has no
// hint of its own is referred to the help of that command.
func (f failure) For(command string) failure {
	if f.Code == ExitUsage && f.Hint == "" {
		f.Hint = "type " + command + " --help"
	}
	return f
}

// Output is the failure as data.
func (f failure) Output() Output { return output("error", f) }

// codes are the exit codes of faults.
var codes = map[fault.Code]int{
	fault.Usage: ExitUsage, fault.Found: ExitFound, fault.Store: exitStore, fault.Refused: exitStore, fault.NotFound: ExitNoIssue,
	fault.NoRevision: ExitUsage, fault.NotMerged: exitNotMerged, fault.Conflict: ExitConflict, fault.Changed: ExitConflict, fault.Waits: ExitWaits,
}

// Classify maps an error to what is shown of it. One that nobody promised is
// taken for a store that cannot be used. Of the errors that one wraps the outermost counts.
func Classify(err error) failure {
	f := failure{Code: exitStore, Message: err.Error()}
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
	var of *checkpoint.IssueError
	if !errors.As(err, &of) {
		return invalid.Hint()
	}
	return strings.ReplaceAll(invalid.Hint(), " ID", " "+of.ID)
}
