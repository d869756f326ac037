package beads

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"stig/internal/fault"
)

// ErrAbsent is what an error wraps where nothing is there and a store can be made.
var ErrAbsent = errors.New("no store is there")

// ErrLost is what a fault.Changed wraps that is about what was written already: another
// program wrote over it, or does not take it up and will. Store.Edit gives it once it has
// tried again.
var ErrLost = errors.New("written and lost")

// ErrBefore is what a fault.NoRevision wraps where there was no store yet, nor any commit.
var ErrBefore = errors.New("there was no store yet")

// NotFound says that no issue has the id: Snapshot.Find, Tx.Record and Tx.Set give it. near are
// ids that may have been meant.
func NotFound(id string, near ...string) *fault.Error {
	if strings.TrimSpace(id) == "" { // such as that of a variable which is not set
		id = strconv.Quote(id)
	}
	hint := "type stig orient to see what is there"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return &fault.Error{Code: fault.NotFound, ID: id, Reason: "no such issue", Hint: hint}
}

// AlreadyThere refuses to make a store where there is one.
func AlreadyThere(path string) *fault.Error {
	return &fault.Error{Code: fault.Refused, Path: path, Reason: "there is a store already", Hint: "type stig create TITLE to add an issue to it"}
}

// Unreadable turns an error of opening or reading path into a fault.Store with
// something to do about it.
func Unreadable(path string, err error) *fault.Error {
	e := &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be read", Cause: err}
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
