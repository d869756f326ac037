package service

import (
	"fmt"
	"time"

	"stig/internal/clone"
	"stig/internal/workspace"
)

// LogRequest says which edits of the journal to list.
type LogRequest struct {
	IDs   []string // of these issues; none means all
	Actor string   // by this actor; "" for any
	Since time.Time
	Limit int // the last ones; 0 for all
}

// Logged is an edit in the journal, with the requested changes only.
type Logged struct {
	At       time.Time      `json:"at"`
	Actor    string         `json:"actor"`
	Command  string         `json:"command"`
	Worktree string         `json:"worktree"`
	Branch   string         `json:"branch"`
	Head     string         `json:"head"`
	Result   clone.Result   `json:"result"` // "unfinished", "written" or "failed"
	Issues   []string       `json:"issues"`
	Changes  []clone.Change `json:"changes"`
}

// Log lists edits that stig made in this clone, oldest first. It refuses (fault.NotFound) ids
// that are neither in the store nor in the journal.
func Log(a *workspace.Run, r LogRequest) ([]Logged, error) {
	if r.Limit < 0 {
		return nil, workspace.Usage(fmt.Sprintf("--limit: must not be negative; found %d", r.Limit), "")
	}
	_, journal, err := a.ReadJournal()
	if err != nil {
		return nil, err
	}
	a.WarnOfJournal(journal)
	store, err := a.Discover()
	if err == nil {
		err = unknown(store, journal, r.IDs)
	}
	if err != nil {
		return nil, err
	}
	edits := []Logged{}
	for _, record := range journal.Records {
		if record.At.Before(r.Since) || r.Actor != "" && record.Actor != r.Actor {
			continue
		}
		if e := loggedOf(record, r.IDs); len(e.Changes) > 0 {
			edits = append(edits, e)
		}
	}
	if r.Limit > 0 {
		edits = edits[max(0, len(edits)-r.Limit):]
	}
	return edits, nil
}

// ForgetLog removes the journal's records of the given issues, or of all if none are given, and
// returns the number of edits.
func ForgetLog(a *workspace.Run, ids []string) (count int, err error) {
	place, journal, err := a.ReadJournal()
	if err != nil {
		return 0, err
	}
	var issues []string
	for _, r := range journal.Records {
		for _, c := range r.Changes {
			if len(ids) > 0 && isNamed(ids, c.Issue) {
				issues = append(issues, c.Issue)
			}
		}
	}
	if len(ids) > 0 && len(issues) == 0 {
		return 0, nil
	}
	return place.Forget(issues...)
}

// loggedOf returns a record with its changes of the given issues, or of all if none are given.
// An id may lack its prefix.
func loggedOf(r clone.Record, ids []string) Logged {
	e := Logged{At: r.At, Actor: r.Actor, Command: r.Command, Worktree: r.Worktree, Branch: r.Branch, Head: r.Head,
		Result: r.Result, Issues: []string{}, Changes: []clone.Change{}}
	if r.Result == clone.Unfinished {
		e.Result = "unfinished"
	}
	for _, c := range r.Changes {
		if !isNamed(ids, c.Issue) {
			continue
		}
		e.Changes = append(e.Changes, c)
		if n := len(e.Issues); n == 0 || e.Issues[n-1] != c.Issue {
			e.Issues = append(e.Issues, c.Issue)
		}
	}
	return e
}
