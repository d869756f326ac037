package workspace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/process"
)

// Decisions for people only, and how a worker's run is recognized: by its environment, and by
// the parent processes, whatever the environment says and whichever store it names.

// ByPerson reports whether an actor of this run is a person: neither an assistant's session nor
// started by a worker loop.
func (a *Run) ByPerson(name string) bool { return a.Assistant(name) == "" && !a.isInRun() }

// ForPeople returns an error (fault.Found) in a worker's run, for decisions that only people
// make.
func (a *Run) ForPeople(what string) error {
	if !a.isInRun() {
		return nil
	}
	return &fault.Error{Code: fault.Found, Reason: what + ": not allowed in a run of a worker; a person can do it outside of one",
		Hint: "ask a person: stig escalate ID --message TEXT"}
}

func (a *Run) isInRun() bool {
	_, in := a.InRun()
	return in
}

// InRun returns the worker's run that started this process. in is false outside of runs, and if
// that cannot be seen.
func (a *Run) InRun() (r clone.Run, in bool) {
	if r, in = a.notedRun(); in {
		return r, true
	}
	// The program is recorded shortly after its start, its loop before.
	return a.recordedRun(func(r clone.Run) bool { return r.Ended.IsZero() && a.isBelow(r) })
}

// notedRun is InRun without reading all run records, which may be many: it uses NoteRun's files
// and the environment.
func (a *Run) notedRun() (r clone.Run, in bool) {
	defer func() { a.run = r.ID }()
	id, noted := a.Getenv("STIG_RUN"), a.notedRuns()
	for _, is := range []func(clone.Run) bool{a.isBelow, func(r clone.Run) bool { return r.ID == id }} {
		if i := slices.IndexFunc(noted, is); i >= 0 {
			return noted[i], true
		}
	}
	if id == "" {
		return r, false
	}
	if r, in = a.recordedRun(func(r clone.Run) bool { return r.ID == id }); in {
		return r, true
	}
	return clone.Run{ID: id, Actor: a.Getenv("STIG_ACTOR"), Issue: a.Getenv("STIG_ISSUE")}, true
}

// isBelow reports whether a run started this process.
func (a *Run) isBelow(r clone.Run) bool {
	return slices.ContainsFunc(a.Above(), func(id process.ID) bool {
		return r.Loop.PID != 0 && r.Loop.Same(id) || r.Program.PID != 0 && r.Program.Same(id)
	})
}

// recordedRun returns the first matching run in the records of the store.
func (a *Run) recordedRun(is func(clone.Run) bool) (r clone.Run, ok bool) {
	store, err := a.Discover()
	if err != nil {
		return r, false
	}
	place, err := a.Live(store.Place())
	if err != nil {
		return r, false
	}
	runs, _, _ := place.Runs(time.Time{}) // all, whatever STIG_NOW says
	if i := slices.IndexFunc(runs, is); i >= 0 {
		return runs[i], true
	}
	return r, false
}

// RunBound limits what a worker's run may create.
type RunBound struct {
	Did, What string                   // for the message: left, traces; What is also the key in the actor's file
	Hint      string                   // what to do instead
	Most      func(*clone.Profile) int // the limit, from the actor's file
	Counts    func(clone.Change) bool  // reports whether a change counts
}

// BoundRun returns an error (fault.Conflict) if a worker's run would exceed a limit. It counts
// what the journal has of the run, under any actor's name.
func (a *Run) BoundRun(store beads.Place, b RunBound, more int) error {
	run, in := a.notedRun()
	place, err := a.Live(store)
	if !in || err != nil || run.Started.IsZero() {
		return nil // without a record there is nothing to count from
	}
	own := clone.DefaultProfile(run.Actor)
	if dir, err := filepath.Abs(store.Dir); err == nil {
		if p, err := clone.LoadProfile(filepath.Dir(dir), run.Actor); err == nil {
			own = p
		}
	}
	made := 0
	journal, _ := place.Lately(run.Started)
	for _, r := range journal.Records {
		for _, c := range r.Changes {
			if r.Run == run.ID && r.Result != clone.Failed && b.Counts(c) {
				made++
			}
		}
	}
	if most := b.Most(own); made+more > most {
		return &fault.Error{Code: fault.Conflict,
			Reason: fmt.Sprintf("%s %s %d %s in this run; %d more would exceed the limit of %d", run.Actor, b.Did, made, b.What, more, most),
			Hint:   b.Hint + "; the limit is " + b.What + " in the actor's file"}
	}
	return nil
}

// NoteRun records for all repositories of this machine that a run is active, until forget is
// called: the run's own record is in its store, but its command may name another store. If the
// note cannot be written, that record and the environment are used.
func (a *Run) NoteRun(r clone.Run) (forget func()) {
	state := a.StateDir()
	if state == "" {
		return func() {}
	}
	path := filepath.Join(state, runsDir, r.ID+".json")
	text, err := json.Marshal(clone.Run{ID: r.ID, Actor: r.Actor, Task: r.Task, Issue: r.Issue, Loop: r.Loop, Program: r.Program, Started: r.Started})
	if err == nil && file.MkdirPrivate(filepath.Dir(path)) == nil {
		_ = file.Replace(path, text)
	}
	return func() { _ = os.Remove(path) }
}

// runsDir is the directory of NoteRun's files, below StateDir.
const runsDir = "runs"

// notedRuns returns the runs of NoteRun that are still active.
func (a *Run) notedRuns() (runs []clone.Run) {
	state := a.StateDir()
	if state == "" {
		return nil
	}
	paths, _ := filepath.Glob(filepath.Join(state, runsDir, "*.json"))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		var r clone.Run
		if err != nil || json.Unmarshal(text, &r) != nil {
			continue // its run ended meanwhile
		}
		isGone := func(id process.ID) bool {
			running, known := process.Running(id)
			return id.PID == 0 || known && !running
		}
		if isGone(r.Loop) && isGone(r.Program) {
			_ = os.Remove(path) // its loop was killed
			continue
		}
		runs = append(runs, r)
	}
	return runs
}
