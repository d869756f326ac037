// Package fault is the error of a request that cannot be carried out: what is wrong,
// where, what to type, and how the run ends. It knows no exit code and no issue; a
// front end turns the code into its own.
//
//	return &fault.Error{Code: fault.Conflict, ID: "pier-1", Reason: "is claimed by ann", Hint: "type stig ready"}
package fault

import (
	"errors"
	"io/fs"
	"strconv"
)

// Code says how a run ends.
type Code int

const (
	Usage      Code = iota + 1 // the request cannot be carried out as it is written
	Found                      // a check found something, or the gate did not pass
	Store                      // the store, or another file, cannot be read or written
	Refused                    // the store, or what the request is about, must not be written as it stands
	NotFound                   // no issue has the id
	NoRevision                 // the past of a store has no such revision, or no store in it
	NotMerged                  // a merge wrote nothing
	Conflict                   // another worker has it, or decided it
	Changed                    // the store, or another file, was changed meanwhile, or another program holds it
	Waits                      // waits for a person
)

// Error is a request that was refused. Callers branch on the code, or on what it
// wraps. Nothing was written unless Reason says so.
type Error struct {
	Code   Code
	ID     string // of the issue it is about, "" for none
	Path   string // of the file or store where it is wrong, "" for none
	Line   int    // of Path, from 1 on; 0 for all of it
	Reason string // lower case, no full stop
	Cause  error  // what the system said, which Error adds to the reason, or nil
	Hint   string // what to type, "" where the caller knows better
	Err    error  // what it wraps and does not name, or nil
}

func (e *Error) Error() string {
	text := e.Reason
	if e.Cause != nil {
		text += ": " + e.cause().Error()
	}
	if at := e.place(); at != "" {
		text = at + ": " + text
	}
	if e.ID != "" {
		text = e.ID + ": " + text
	}
	return text
}

func (e *Error) place() string {
	if e.Line == 0 {
		return e.Path
	}
	return e.Path + ":" + strconv.Itoa(e.Line)
}

// cause is the cause without its path, which stands in front already.
func (e *Error) cause() error {
	if at, ok := errors.AsType[*fs.PathError](e.Cause); ok && e.Path != "" {
		return at.Err
	}
	return e.Cause
}

// Unwrap gives the cause and what else it wraps.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Cause, e.Err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// Is reports whether err is, or wraps, an Error of that code.
func Is(err error, code Code) bool {
	_, ok := As(err, code)
	return ok
}

// As gives the first Error of that code that err is or wraps.
func As(err error, code Code) (*Error, bool) {
	if e, ok := err.(*Error); ok && e.Code == code {
		return e, true
	}
	var inner []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inner = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = e.Unwrap()
	}
	for _, one := range inner {
		if e, ok := As(one, code); ok {
			return e, true
		}
	}
	return nil, false
}
