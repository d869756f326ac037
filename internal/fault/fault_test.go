package fault_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"stig/internal/fault"
)

func TestError(t *testing.T) {
	err := fmt.Errorf("claim: %w", &fault.Error{Code: fault.Conflict, ID: "pier-1", Reason: "is claimed by ann", Err: io.EOF})
	if got := err.Error(); got != "claim: pier-1: is claimed by ann" {
		t.Error(got)
	}
	if !fault.Is(err, fault.Conflict) || fault.Is(err, fault.Usage) || fault.Is(io.EOF, fault.Conflict) || !errors.Is(err, io.EOF) {
		t.Error("the code or what it wraps is lost")
	}
	if got := (&fault.Error{Reason: "nothing to write"}).Error(); got != "nothing to write" {
		t.Error(got)
	}
}

// An error begins with its place and ends with the system's message, without repeating the
// path.
func TestPlace(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "/a/b", Err: fs.ErrNotExist}
	for want, e := range map[string]*fault.Error{
		"b: is cut short":                                {Path: "b", Reason: "is cut short"},
		"b:3: is cut short":                              {Path: "b", Line: 3, Reason: "is cut short"},
		"pier-1: b: is cut short":                        {ID: "pier-1", Path: "b", Reason: "is cut short"},
		"/a/b: cannot be read: file does not exist":      {Path: "/a/b", Reason: "cannot be read", Cause: missing},
		"cannot be read: open /a/b: file does not exist": {Reason: "cannot be read", Cause: missing},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if errors.Is(e, fs.ErrNotExist) != (e.Cause != nil) {
			t.Errorf("%s: the cause is lost", want)
		}
	}
}

// The first error of a code is found among several, at any depth.
func TestAs(t *testing.T) {
	inner := &fault.Error{Code: fault.Changed, Reason: "inner", Err: io.EOF}
	outer := &fault.Error{Code: fault.Found, Reason: "outer", Cause: errors.Join(io.ErrClosedPipe, fmt.Errorf("more: %w", inner))}
	for code, want := range map[fault.Code]*fault.Error{fault.Found: outer, fault.Changed: inner, fault.Usage: nil} {
		if got, ok := fault.As(fmt.Errorf("run: %w", outer), code); got != want || ok != (want != nil) || fault.Is(outer, code) != ok {
			t.Errorf("%d: %v", code, got)
		}
	}
	if !errors.Is(outer, io.EOF) {
		t.Error("what the inner one wraps is lost")
	}
}
