package live

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/process"
)

// Run is one start of a worker's command by its loop. What became of the issue is
// decided apart from it.
type Run struct {
	ID       string     `json:"id"` // unlike that of every other run
	Store    string     `json:"store"`
	Actor    string     `json:"actor"`
	Task     string     `json:"task"`            // what it was started for: issue, answer, heartbeat, dream
	Issue    string     `json:"issue,omitempty"` // "" where it is about none
	Attempt  int        `json:"attempt,omitempty"`
	Loop     process.ID `json:"loop,omitzero"`    // the process that started it
	Program  process.ID `json:"program,omitzero"` // and that which it started
	Started  time.Time  `json:"started"`
	Ended    time.Time  `json:"ended,omitzero"` // zero while it runs, and where its loop was killed
	Exit     int        `json:"exit,omitempty"`
	Outcome  string     `json:"outcome,omitempty"` // as package work names it; "" while it runs
	Why      string     `json:"why,omitempty"`     // one line
	Bytes    int64      `json:"bytes,omitempty"`   // of output
	Cost     float64    `json:"cost,omitempty"`    // as the program printed it
	Currency string     `json:"currency,omitempty"`
	Log      string     `json:"log,omitempty"` // path of the output
	Worktree string     `json:"worktree,omitempty"`
	Branch   string     `json:"branch,omitempty"` // the work is on
	Base     string     `json:"base,omitempty"`   // commit that the branch was begun at
	Commit   string     `json:"commit,omitempty"` // the last of the branch at the end

	// What the loop goes on from when it was killed.
	Step     string `json:"step,omitempty"`     // the last that was done: claimed, started, ended, landed
	Criteria string `json:"criteria,omitempty"` // hash of the criteria when it was claimed
	Tree     string `json:"tree,omitempty"`     // what its directory held before the command started
	Notes    string `json:"notes,omitempty"`    // hash of its notes then
	Comments int    `json:"comments,omitempty"` // how many it had then
	TimedOut bool   `json:"timed_out,omitempty"`
	Cause    string `json:"cause,omitempty"` // why the loop ended the command: lost, stopped; "" where it ended by itself

	Heard bool   `json:"heard,omitempty"` // somebody said something on the issue before, which is acknowledged at its end
	Said  string `json:"said,omitempty"`  // the last line of the output, shortened
	Asked bool   `json:"asked,omitempty"` // the loop asked a person at its end: what was before counts no more
}

// RecordRun puts a run into the records, at its start and again, with the same ID, at
// each step until its end; the last of them counts. It is on disk when this returns.
func (p Place) RecordRun(r Run, now time.Time) error {
	r.Store = p.Store
	return p.inDir(func(dir string) error { return runs.append(dir, r, now, true) })
}

// NewRunID names a run.
func NewRunID() string { return "r-" + newSeq()[:10] }

// Runs lists the runs of the store that started at that time or later, by their start;
// damaged names lines that cannot be read.
func (p Place) Runs(since time.Time) (all []Run, damaged []string, err error) {
	at := map[string]int{}
	for _, dir := range p.dirs() {
		files, e := runs.segments(dir)
		err = errors.Join(err, e)
		for i, s := range files {
			if i+1 < len(files) && files[i+1].day.Before(since.Add(-runAge)) {
				continue // what began after the time is in later ones
			}
			text, e := os.ReadFile(filepath.Join(dir, s.name()))
			if errors.Is(e, os.ErrNotExist) {
				continue // dropped since it was listed
			}
			err = errors.Join(err, e)
			for line := range strings.Lines(string(text)) {
				body, ok := textOf(strings.TrimSuffix(line, torn))
				var r Run
				if !ok || json.Unmarshal([]byte(body), &r) != nil {
					if strings.HasSuffix(line, "\n") && !strings.HasSuffix(line, torn) {
						damaged = append(damaged, filepath.Join(dir, s.name()))
					}
					continue
				}
				if known, again := at[r.ID]; again {
					all[known] = r
				} else if r.Store == p.Store && !r.Started.Before(since) {
					at[r.ID] = len(all)
					all = append(all, r)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Run) int { return a.Started.Compare(b.Started) })
	return all, slices.Compact(damaged), err
}

// runAge is how long a run may take, with room: its last record is in the segment of
// its end.
const runAge = 48 * time.Hour
