package beads

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"stig/internal/fault"
)

// ErrAbsent is wrapped when no store exists and one can be made.
var ErrAbsent = errors.New("there is no store")

// ErrLost is wrapped by a fault.Changed about something already written: another program
// overwrote it, or has not taken it over yet. Store.Edit returns it after it has retried.
var ErrLost = errors.New("written and lost")

// ErrBefore is wrapped by a fault.NoRevision for a revision before the store or the first
// commit existed.
var ErrBefore = errors.New("there was no store yet")

// NotFound reports an unknown id; Snapshot.Find, Tx.Record and Tx.Set return it. near lists ids
// that may have been meant.
func NotFound(id string, near ...string) *fault.Error {
	if strings.TrimSpace(id) == "" { // such as from an unset variable
		id = strconv.Quote(id)
	}
	hint := "type stig ready to see what there is"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return &fault.Error{Code: fault.NotFound, ID: id, Reason: "no such issue", Hint: hint}
}

// AlreadyThere refuses to make a store where one exists.
func AlreadyThere(path string) *fault.Error {
	return &fault.Error{Code: fault.Refused, Path: path, Reason: "there is a store already", Hint: "type stig create TITLE to add an issue to it"}
}

// Unreadable turns an error from opening or reading path into a fault.Store with a hint.
func Unreadable(path string, err error) *fault.Error {
	e := &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be read", Cause: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "check that the file is there, or name another with --store FILE"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "make it readable: chmod u+r " + path
	case errors.Is(err, fs.ErrClosed):
		e.Hint = "read the store again"
	default:
		e.Hint = "check that the disk works and that the path is a regular file"
	}
	return e
}
