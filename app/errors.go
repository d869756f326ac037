package app

import (
	"cmp"
	"errors"
	"strings"

	"stig/beads"
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

// FoundError ends a command whose output already says what was found.
type FoundError struct{}

func (FoundError) Error() string { return "problems found" }

// EndedError is FoundError of a command whose findings have exit codes of
// their own: the worst.
type EndedError struct{ Code int }

func (*EndedError) Error() string { return "some issues failed" }

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

// ending says how a command ends with an error of one type, if it is one.
type ending func(error) (failure, bool)

// with is the ending with errors of type E.
func with[E error](code int, hint func(E) string) ending {
	return func(err error) (failure, bool) {
		e, ok := errors.AsType[E](err)
		if !ok {
			return failure{}, false
		}
		return failure{Code: code, Message: err.Error(), Hint: hint(e)}, true
	}
}

// endings are those of the errors that packages promise. Of the types that an
// error wraps the first listed counts.
func endings() []ending {
	return []ending{
		with(ExitFound, func(FoundError) string { return "" }),
		with(exitNotMerged, func(*MergeError) string { return "" }),
		refused,
		with(ExitNoIssue, func(e *beads.NotFoundError) string { return nearHint(e.Near) }),
		with(ExitConflict, func(e *beads.ConflictError) string { return e.Hint }),
		with(exitStore, func(e *beads.RefusedError) string { return e.Hint }),
		with(exitStore, func(e *beads.StoreError) string { return e.Hint }),
		with(exitStore, func(*notes.Error) string { return "fix the delimiters in the notes by hand, then try again" }),
	}
}

// refused is the ending with a fault.
func refused(err error) (failure, bool) {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return failure{}, false
	}
	codes := map[fault.Code]int{
		fault.Usage: ExitUsage, fault.Found: ExitFound, fault.Store: exitStore, fault.Conflict: ExitConflict, fault.Waits: ExitWaits,
	}
	return failure{Code: cmp.Or(codes[e.Code], exitStore), Message: err.Error(), Hint: e.Hint}, true
}

// Classify maps an error to what is shown of it. One that nobody promised is
// taken for a store that cannot be used.
func Classify(err error) failure {
	if e, ok := errors.AsType[*EndedError](err); ok {
		return failure{Code: e.Code, Message: err.Error()}
	}
	for _, ending := range endings() {
		if f, ok := ending(err); ok {
			return f
		}
	}
	if e, ok := errors.AsType[*signals.InvalidError](err); ok {
		f := failure{Code: ExitUsage, Message: err.Error(), Hint: hintFor(err, e)}
		switch {
		case e.InNotes():
			f.Code = exitStore
		case e.Findings[0].Fix != "":
			f.Hint = "did you mean " + e.Findings[0].Fix + "?"
		default:
			f.Hint = "" // what is given is wrong, not what is written: the help of the command says more
		}
		return f
	}
	return failure{Code: exitStore, Message: err.Error()}
}

// hintFor names the issue in the hint of a table that does not know whose it is.
func hintFor(err error, invalid *signals.InvalidError) string {
	var of *checkpoint.IssueError
	if !errors.As(err, &of) {
		return invalid.Hint()
	}
	return strings.ReplaceAll(invalid.Hint(), " ID", " "+of.ID)
}

func nearHint(near []string) string {
	if len(near) == 0 {
		return "type stig orient to see what is there"
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}
