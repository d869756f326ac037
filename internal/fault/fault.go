// Package fault defines the error of a request that cannot be carried out: what is wrong,
// where, what to type, and how the run ends. It knows neither exit codes nor issues; a front
// end maps the code to its own.
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
	Usage      Code = iota + 1 // the request is invalid as written
	Found                      // a check found something, or the gate did not pass
	Store                      // the store, or another file, cannot be read or written
	Refused                    // the store, or the target of the request, must not be written in its current state
	NotFound                   // no issue has the id
	NoRevision                 // the store's history has no such revision, or the revision has no store
	NotMerged                  // a merge wrote nothing
	Conflict                   // another worker has claimed or decided it
	Changed                    // the store or another file changed meanwhile, or another program locks it
	Waits                      // waits for a person
)

// Error is a refused request. Callers branch on the code, or on what it wraps. Nothing was
// written unless Reason says so.
type Error struct {
	Code   Code
	ID     string // the issue it is about, "" for none
	Path   string // the file or store with the problem, "" for none
	Line   int    // line of Path, from 1; 0 for the whole file
	Reason string // lower case, no full stop
	Cause  error  // what the system said, which Error appends to the reason, or nil
	Hint   string // what to type, "" if the caller knows better
	Err    error  // an error it wraps without naming it, or nil
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

// cause is the cause without its path, which Error prints first.
func (e *Error) cause() error {
	if at, ok := errors.AsType[*fs.PathError](e.Cause); ok && e.Path != "" {
		return at.Err
	}
	return e.Cause
}

// Unwrap returns the cause and the other wrapped error.
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

// As returns the first Error of that code that err is or wraps.
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
