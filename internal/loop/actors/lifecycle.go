package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// endGrace is how long the loop of a worker may take to end its command and itself.
// TimeoutStopSec of the unit has the same value.
const endGrace = 60 * time.Second

// WorkerRequest is the input of the functions that change a worker.
type WorkerRequest struct {
	Name   string
	Why    string
	For    time.Duration // Pause: until it resumes by itself; 0 for never
	File   bool          // Remove: delete its file too
	DryRun bool
}

// Worker is the state of a worker.
type Worker struct {
	Name    string      `json:"name"`
	State   clone.State `json:"state"` // as set; "" if never set
	Shown   string      `json:"shown"` // the state that List shows
	By      string      `json:"by"`    // who set it, "" for stig
	Why     string      `json:"why"`
	Until   time.Time   `json:"until,omitzero"` // when the state expires
	Running bool        `json:"running"`        // its loop is known to be running
	Process int         `json:"process"`        // PID of the loop, 0 for none
	Issue   string      `json:"issue"`          // in hand
	Run     string      `json:"run"`            // run on that issue
	Boots   int         `json:"boots"`          // number of starts of its loop
	Version string      `json:"version"`        // of stig
	Seen    time.Time   `json:"seen,omitzero"`  // last sign of life
	File    string      `json:"file"`           // "" if it has none
	Command string      `json:"command"`        // run by its loop
	Trusted bool        `json:"trusted"`        // the commands in its file may run here
	Units   []string    `json:"units"`          // paths of units written by stig worker install
	Dreamt  time.Time   `json:"dreamt,omitzero"`
	Said    string      `json:"said"` // result of the last dream
	DryRun  bool        `json:"dry_run"`
	Diff    string      `json:"diff,omitempty"` // if DryRun

	Probation bool `json:"probation"` // it failed three consecutive issues that others closed, so it takes no new one while others run
}

// Pause makes a worker take no work until Resume, or for a time. Its loop and a run in progress
// continue.
func Pause(ctx context.Context, a *workspace.Run, r WorkerRequest) (*Worker, error) {
	return tell(ctx, a, r, clone.Paused)
}

// Drain makes a worker finish the issue in hand and take no more.
func Drain(ctx context.Context, a *workspace.Run, r WorkerRequest) (*Worker, error) {
	return tell(ctx, a, r, clone.Draining)
}

// Resume makes a worker take work again, whatever its state was. It also records that a person
// agrees to the commands now in its file, so an assistant's session may not call it
// (fault.Found).
func Resume(ctx context.Context, a *workspace.Run, r WorkerRequest) (*Worker, error) {
	if _, err := byPerson(ctx, a, "resume "+r.Name); err != nil {
		return nil, err
	}
	root, err := Root(a)
	if err != nil {
		return nil, err
	}
	p, err := clone.LoadProfile(root, r.Name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // an unreadable file cannot be agreed to
	}
	if err == nil && !r.DryRun {
		trust, err := a.TrustsActor(ctx, p)
		if err == nil {
			err = trust.AgreeToActor(p)
		}
		if err != nil {
			return nil, err
		}
	}
	return tell(ctx, a, r, clone.Healthy)
}

// Kill marks a worker as dead so that it does not start again, and ends its loop and the
// programs of its runs.
func Kill(ctx context.Context, a *workspace.Run, r WorkerRequest) (*Worker, error) {
	w, err := tell(ctx, a, r, clone.Dead)
	if err != nil || r.DryRun {
		return w, err
	}
	place, err := placeOf(a)
	if err != nil {
		return nil, err
	}
	if one, ok := place.Presence(r.Name); ok && isThere(one.Process) { // a loop on another machine ends by itself
		end := func() error { return process.Stop(one.Process, endGrace) }
		if isShared(place, one) {
			end = func() error { return awaitEnd(ctx, place, one) }
		}
		if err := end(); err != nil {
			return nil, stillThere(r.Name, err)
		}
	}
	if err := endRuns(a, place, r.Name); err != nil {
		return nil, stillThere(r.Name, err)
	}
	return w, w.now(a, place)
}

// isShared reports whether the process of a loop also runs other loops.
func isShared(place clone.Place, one clone.Presence) bool {
	all, _ := place.Presences() // if the presence file is unreadable, its loop is unknown
	return slices.ContainsFunc(all, func(other clone.Presence) bool {
		return other.Name != one.Name && other.Process.Same(one.Process)
	})
}

// awaitEnd waits until a loop has seen its new state and ended by itself.
func awaitEnd(ctx context.Context, place clone.Place, one clone.Presence) error {
	ctx, cancel := context.WithTimeout(ctx, endGrace)
	defer cancel()
	for {
		now, _ := place.Presence(one.Name)
		if !now.Process.Same(one.Process) || !isThere(one.Process) {
			return nil
		}
		if err := pause(ctx, followEvery); err != nil {
			return fmt.Errorf("process %d also runs other loops and did not end this one: %w", one.Process.PID, err)
		}
	}
}

func stillThere(name string, err error) error {
	return &fault.Error{Code: fault.Conflict, ID: name, Err: err, Reason: "marked as dead, but still running: " + err.Error(), Hint: "end that process, then type stig worker status " + name}
}

// endRuns ends the programs of runs whose loop was killed before it could end them.
func endRuns(a *workspace.Run, place clone.Place, name string) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	runs, _, err := place.Runs(now.Add(-longestRun))
	for _, r := range runs {
		running, _ := process.Running(r.Program)
		if r.Actor == name && r.Ended.IsZero() && running {
			err = errors.Join(err, process.EndID(r.Program, time.Second))
		}
	}
	return err
}

// tell sets the state of a worker.
func tell(ctx context.Context, a *workspace.Run, r WorkerRequest, state clone.State) (*Worker, error) {
	by, err := a.MustActor(ctx)
	if err != nil {
		return nil, err
	}
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	w, err := Status(ctx, a, r.Name)
	if err == nil {
		w.DryRun = r.DryRun
	}
	ended := func(is clone.State) bool { // pausing a dead worker would let it start again
		return is == clone.Dead && (state == clone.Paused || state == clone.Draining)
	}
	if err != nil || ended(w.State) {
		return w, err
	}
	place, err := placeOf(a)
	if err != nil {
		return nil, err
	}
	change := func(p *clone.Presence) bool {
		if ended(p.State) { // changed by another process meanwhile
			return false
		}
		if p.First.IsZero() {
			p.First = now
		}
		p.State, p.By, p.Why, p.Until = state, by, strings.TrimSpace(r.Why), time.Time{}
		if r.For > 0 {
			p.Until = now.Add(r.For)
		}
		return true
	}
	if !r.DryRun {
		if err := place.ChangePresence(r.Name, change); err != nil {
			return nil, err
		}
		return w, w.now(a, place)
	}
	w.State, w.By, w.Why = state, by, strings.TrimSpace(r.Why)
	if w.Until = (time.Time{}); r.For > 0 {
		w.Until = now.Add(r.For)
	}
	return w, nil
}

// Status returns what is known of a worker. The worker must have a file, or its loop must have
// given a sign of life here, so that a loop can be ended even if its file is gone.
func Status(ctx context.Context, a *workspace.Run, name string) (*Worker, error) {
	p, place, err := actorHere(a, name)
	w := &Worker{Name: name, Units: []string{}}
	if p == nil {
		here, err2 := placeOf(a)
		known, ok := clone.Presence{}, false
		if err2 == nil {
			known, ok = here.Presence(name)
		}
		if !ok {
			return nil, err
		}
		p, place = clone.DefaultProfile(known.Name), here
		if !errors.Is(err, fs.ErrNotExist) {
			a.Warn("%v", err)
			if root, err := Root(a); err == nil {
				w.File = workspace.Shortest(clone.ProfilePath(root, name))
			}
		}
	}
	w.Command = p.Command
	if p.Path != "" {
		w.File = workspace.Shortest(p.Path)
		trust, err := a.TrustsActor(ctx, p)
		if err != nil {
			return nil, err
		}
		w.Trusted = trust.Agreed
	}
	if err := w.now(a, place); err != nil {
		return nil, err
	}
	w.Units = append(w.Units, installed(a, p)...)
	dreamt := place.Dreamt(name)
	w.Dreamt, w.Said = dreamt.At, dreamt.Said
	s, err := look(a)
	if err != nil {
		return nil, err
	}
	listed := s.actor(name)
	w.Shown, w.Issue = listed.State, listed.Issue
	return w, nil
}

// now updates the worker from the live state.
func (w *Worker) now(a *workspace.Run, place clone.Place) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	one, _ := place.Presence(w.Name)
	w.setPresence(one, now)
	w.Boots, w.Version, w.Seen = one.Boots, one.Version, one.Seen
	if w.Running, _ = one.Runs(); w.Running {
		w.Process, w.Issue, w.Run = one.Process.PID, one.Issue, one.Run
	}
	runs, _, err := place.Runs(now.Add(-24 * time.Hour))
	w.Probation = clone.OnProbation(runs, w.Name)
	return err
}

// setPresence sets the worker's state from its presence.
func (w *Worker) setPresence(one clone.Presence, now time.Time) {
	w.State, w.By, w.Why, w.Until = one.State, one.By, one.Why, one.Until
	if !one.Until.IsZero() && !one.Until.After(now) { // it has expired
		w.State, w.By, w.Why, w.Until = clone.Healthy, "", "", time.Time{}
	}
}

// Remove deletes the clone's data about a worker, and with File its file too. It is an error
// (fault.Conflict) if the loop is running or units start it.
func Remove(ctx context.Context, a *workspace.Run, r WorkerRequest) (*Worker, error) {
	w, err := Status(ctx, a, r.Name)
	switch {
	case err != nil:
		return nil, err
	case w.Running:
		return nil, &fault.Error{Code: fault.Conflict, ID: r.Name, Reason: "its loop is running", Hint: "type stig worker kill " + r.Name + " first"}
	case len(w.Units) > 0:
		return nil, &fault.Error{Code: fault.Conflict, ID: r.Name, Reason: "units start its loop: " + strings.Join(w.Units, ", "),
			Hint: "type stig worker install " + r.Name + " --remove first"}
	}
	w.DryRun = r.DryRun
	if r.File && w.File != "" {
		if err := w.removeFile(a, r); err != nil {
			return nil, err
		}
	}
	if r.DryRun {
		return w, nil
	}
	place, err := placeOf(a)
	if err != nil {
		return nil, err
	}
	return w, errors.Join(place.ForgetPresence(r.Name), place.ForgetDreams(r.Name))
}

// removeFile deletes the file of the worker.
func (w *Worker) removeFile(a *workspace.Run, r WorkerRequest) error {
	root, err := Root(a)
	if err != nil {
		return err
	}
	file := workspace.HostFile{Path: clone.ProfilePath(root, r.Name), Root: root}
	text, err := file.Read()
	if err != nil {
		return err
	}
	for _, step := range file.Change(text, nil) {
		if w.Diff = step.Diff; r.DryRun {
			continue
		}
		if err := step.Do(); err != nil {
			return err
		}
		w.File = ""
	}
	return nil
}

// Words returns the state of the worker on one line: who set it, why, and until when.
func (w *Worker) Words() string {
	words := string(cmp.Or(w.State, "not started"))
	if !w.Until.IsZero() {
		words += " until " + visible.Moment(w.Until)
	}
	if w.By != "" {
		words += ", by " + w.By
	}
	if w.Why != "" {
		words += ": " + w.Why
	}
	return visible.OneLine(words)
}
