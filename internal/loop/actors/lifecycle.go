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

// endGrace is how long the loop of a worker may take to end its command and itself. The
// unit has it as TimeoutStopSec.
const endGrace = 60 * time.Second

// WorkerRequest changes the life of a worker.
type WorkerRequest struct {
	Name   string
	Why    string
	For    time.Duration // Pause: after which it goes on; 0 for never
	File   bool          // Remove: its file too
	DryRun bool
}

// Worker is what is known of the life of a worker.
type Worker struct {
	Name    string      `json:"name"`
	State   clone.State `json:"state"`          // as it was told to be; "" where nobody said
	Shown   string      `json:"shown"`          // the state that List gives it
	By      string      `json:"by"`             // who did, "" for stig
	Why     string      `json:"why"`            //
	Until   time.Time   `json:"until,omitzero"` // the state ends by itself
	Running bool        `json:"running"`        // its loop is, as far as it can be seen from here
	Process int         `json:"process"`        // of the loop, 0 for none
	Issue   string      `json:"issue"`          // in hand
	Run     string      `json:"run"`            // and the run for it
	Boots   int         `json:"boots"`          // how often its loop was started
	Version string      `json:"version"`        // of the stig that runs it
	Seen    time.Time   `json:"seen,omitzero"`  // the last sign of life
	File    string      `json:"file"`           // "" where it has none
	Command string      `json:"command"`        // that its loop runs
	Trusted bool        `json:"trusted"`        // what its file runs may run here
	Units   []string    `json:"units"`          // that stig worker install wrote, by path
	Dreamt  time.Time   `json:"dreamt,omitzero"`
	Said    string      `json:"said"` // what came of the last dream
	DryRun  bool        `json:"dry_run"`
	Diff    string      `json:"diff,omitempty"` // of a dry run

	Probation bool `json:"probation"` // it failed three issues in a row that others closed: it takes no fresh one while others run
}

// Pause has a worker take no work until Resume, or for a time. Its loop goes on, and so
// does a run that was begun.
func Pause(ctx context.Context, a *workspace.Run, r WorkerRequest) (*Worker, error) {
	return tell(ctx, a, r, clone.Paused)
}

// Drain has a worker end what it has in hand and take no more.
func Drain(ctx context.Context, a *workspace.Run, r WorkerRequest) (*Worker, error) {
	return tell(ctx, a, r, clone.Draining)
}

// Resume has a worker take work again, whatever it was told before. It says that a
// person agrees to what its file runs as it is now: the session of an assistant may not
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
		return nil, err // nobody can agree to what cannot be read
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

// Kill marks a worker as dead, so that it does not start again, and ends its loop and
// what that runs.
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

// isShared reports whether the process of a loop runs others too.
func isShared(place clone.Place, one clone.Presence) bool {
	all, _ := place.Presences() // of one that cannot be read the loop is not known
	return slices.ContainsFunc(all, func(other clone.Presence) bool {
		return other.Name != one.Name && other.Process.Same(one.Process)
	})
}

// awaitEnd waits until a loop, which looks itself how it is to be, has ended.
func awaitEnd(ctx context.Context, place clone.Place, one clone.Presence) error {
	ctx, cancel := context.WithTimeout(ctx, endGrace)
	defer cancel()
	for {
		now, _ := place.Presence(one.Name)
		if !now.Process.Same(one.Process) || !isThere(one.Process) {
			return nil
		}
		if err := pause(ctx, followEvery); err != nil {
			return fmt.Errorf("process %d runs other loops too, and does not end this one: %w", one.Process.PID, err)
		}
	}
}

func stillThere(name string, err error) error {
	return &fault.Error{Code: fault.Conflict, ID: name, Err: err, Reason: "marked as dead, and still running: " + err.Error(), Hint: "end that process, then type stig worker status " + name}
}

// endRuns ends the programs of runs whose loop was killed before it could.
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

// tell records how a worker is to be.
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
	ended := func(is clone.State) bool { // a pause of one that was ended would let it go on afterwards
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
		if ended(p.State) { // by another process meanwhile
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

// Status gives what is known of a worker: of one that has a file, or whose loop gave a
// sign of life here. Such a loop can be told to end whatever became of its file.
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

// now takes what the live state says of the worker.
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

// setPresence takes how the worker was setPresence to be.
func (w *Worker) setPresence(one clone.Presence, now time.Time) {
	w.State, w.By, w.Why, w.Until = one.State, one.By, one.Why, one.Until
	if !one.Until.IsZero() && !one.Until.After(now) { // it ended by itself
		w.State, w.By, w.Why, w.Until = clone.Healthy, "", "", time.Time{}
	}
}

// Remove forgets what the clone knows of a worker, and with File removes its file. While
// its loop runs, and while units start that, it is refused (fault.Conflict).
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

// removeFile removes the file of the worker.
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

// Words say how a worker was told to be, on one line.
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
