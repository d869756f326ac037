// Package fault is the error of a request that cannot be carried out as it stands:
// what is wrong, what to type, and how the run ends. It knows no exit code and no
// issue; a front end turns the code into its own.
//
//	return &fault.Error{Code: fault.Conflict, ID: "pier-1", Reason: "is claimed by ann", Hint: "type stig ready"}
package fault

import "errors"

// Code says how a run ends.
type Code int

const (
	Usage    Code = iota + 1 // the request cannot be carried out as it is written
	Found                    // a check found something, or the gate did not pass
	Store                    // the store cannot be read or must not be written
	Conflict                 // changed meanwhile, or held by another
	Waits                    // waits for a person
)

// Error is a request that was refused. Callers branch on the code, or on what it
// wraps. Nothing was written unless Reason says so.
type Error struct {
	Code   Code
	ID     string // of the issue it is about, "" for none
	Reason string // lower case, no full stop
	Hint   string // what to type, "" where the caller knows better
	Err    error  // what it wraps, or nil
}

func (e *Error) Error() string {
	if e.ID == "" {
		return e.Reason
	}
	return e.ID + ": " + e.Reason
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether err is, or wraps, an Error of that code.
func Is(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
