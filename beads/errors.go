package beads

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// NotFoundError says that no issue has the id: Snapshot.Find, Tx.Record and Tx.Set
// give it. Near holds up to three ids that may have been meant; Error leaves
// them to the caller's hint.
type NotFoundError struct {
	ID   string
	Near []string
}

func (e *NotFoundError) Error() string {
	id := e.ID
	if strings.TrimSpace(id) == "" { // such as that of a variable which is not set
		id = strconv.Quote(id)
	}
	return id + ": no such issue"
}

// RefusedError says that the store or the issue must not be written: Edit,
// Tx.Record and Tx.Set give it, and the file is untouched.
type RefusedError struct {
	Path   string
	Line   int // 1-based; 0 when it is about the whole store
	Reason string
	Hint   string
}

func (e *RefusedError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Reason)
}

// ConflictError says that somebody else changed or holds the store: Edit and
// Issue.Record give it.
type ConflictError struct{ Path, Reason, Hint string }

func (e *ConflictError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }

// LostError is a ConflictError about what was written already: another program
// wrote over it, or does not take it up and will. Store.Edit gives it once it has
// tried again.
type LostError struct{ ConflictError }

func (e *LostError) Unwrap() error { return &e.ConflictError }

// StoreError says that there is no store or that it cannot be read or
// written: Discover, Read, Issue.Record and Edit give it.
type StoreError struct {
	Path, Reason, Hint string
	Err                error // what the operating system said, or nil

	Absent bool // nothing is there, and a store can be made
}

func (e *StoreError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: %s", e.Path, e.Reason)
	}
	// The path stands in front already; only the cause is wanted.
	cause := e.Err
	if p, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = p.Err
	}
	return fmt.Sprintf("%s: %s: %v", e.Path, e.Reason, cause)
}

func (e *StoreError) Unwrap() error { return e.Err }

// Unreadable turns an error of opening or reading path into a StoreError with
// something to do about it.
func Unreadable(path string, err error) *StoreError {
	e := &StoreError{Path: path, Reason: "cannot be read", Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "see that the file is there, or name another with --store FILE"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "give yourself the right to read it: chmod u+r " + path
	case errors.Is(err, fs.ErrClosed):
		e.Hint = "read the store again"
	default:
		e.Hint = "see that the disk works and that the path is a plain file"
	}
	return e
}

// RevisionError says that there is no such revision, or no store in it: History gives it.
// The hint says what to type where no other revision would help, else it is "".
type RevisionError struct {
	Reason, Hint string
	None         bool // at that revision there was no store yet, nor any commit
}

func (e *RevisionError) Error() string { return e.Reason }
