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

// What people alone decide, and how a run of a worker is known: by its environment, and by the
// processes above, whatever its environment says and whichever store it names.

// ByPerson reports whether an actor of this run is a person: neither the session of an
// assistant nor what a worker loop started.
func (a *Run) ByPerson(name string) bool { return a.Assistant(name) == "" && !a.isInRun() }

// ForPeople refuses (fault.Found) what people alone decide, in a run of a worker.
func (a *Run) ForPeople(what string) error {
	if !a.isInRun() {
		return nil
	}
	return &fault.Error{Code: fault.Found, Reason: what + ": a run of a worker may not; a person can, outside of it",
		Hint: "ask one: stig escalate ID --message TEXT"}
}

func (a *Run) isInRun() bool {
	_, in := a.InRun()
	return in
}

// InRun gives the run of a worker whose command started this process; in is false outside of
// runs, and where that cannot be seen.
func (a *Run) InRun() (r clone.Run, in bool) {
	if r, in = a.notedRun(); in {
		return r, true
	}
	// The program is recorded a moment after it started, its loop before that.
	return a.recordedRun(func(r clone.Run) bool { return r.Ended.IsZero() && a.isBelow(r) })
}

// notedRun is InRun without the records of all runs, which may be long: as NoteRun has it, else
// as the environment says.
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

// isBelow reports whether the command of a run started this process.
func (a *Run) isBelow(r clone.Run) bool {
	return slices.ContainsFunc(a.Above(), func(id process.ID) bool {
		return r.Loop.PID != 0 && r.Loop.Same(id) || r.Program.PID != 0 && r.Program.Same(id)
	})
}

// recordedRun is the first run of the store's records that is meant.
func (a *Run) recordedRun(is func(clone.Run) bool) (r clone.Run, ok bool) {
	store, err := a.Discover()
	if err != nil {
		return r, false
	}
	place, err := a.Live(store.Place())
	if err != nil {
		return r, false
	}
	runs, _, _ := place.Runs(time.Time{}) // whatever the clock is set to
	if i := slices.IndexFunc(runs, is); i >= 0 {
		return runs[i], true
	}
	return r, false
}

// RunBound is how much of something one run of a worker may make.
type RunBound struct {
	Did, What string                   // as the refusal says: left, traces; What is the key of the actor's file
	Hint      string                   // what to do instead
	Most      func(*clone.Profile) int // as the actor's file says
	Counts    func(clone.Change) bool  // reports whether a change made one
}

// BoundRun refuses (fault.Conflict) more of something in one run of a worker than its bound: with
// what the journal has of the run, under whatever name it was made.
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
			Reason: fmt.Sprintf("%s %s %d %s in this run, and %d more are above the limit of %d", run.Actor, b.Did, made, b.What, more, most),
			Hint:   b.Hint + "; " + b.What + ": in the actor's file is the limit"}
	}
	return nil
}

// NoteRun keeps, for all repositories of the machine, that the command of a run works, until
// forget: its record is in the store that the run is about, and a command may name another.
// Where it cannot be kept, that record and the environment tell.
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

// runsDir is where NoteRun keeps runs, below the user's directory of state.
const runsDir = "runs"

// notedRuns are those of NoteRun, but for those of which nothing runs any more.
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
