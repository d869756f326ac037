// Package actors manages the actors of a clone: the registry, actor files, the life cycle of
// workers from add to rm, what they learn, and the units with which a service manager starts
// them.
//
// Package clone parses actor files and package loop runs the loop; this package does neither.
//
//	added, err := actors.Add(ctx, a, actors.AddRequest{Name: "netty"})
package actors

import (
	"context"
	"slices"

	"stig/internal/clone"
	"stig/internal/workspace"
)

// Change is a function that changes the state of one worker: Pause, Resume, Drain, Kill.
type Change func(context.Context, *workspace.Run, WorkerRequest) (*Worker, error)

// workers returns the sorted names of this clone's workers: those whose file has a command, and
// those whose loop was started here.
func workers(a *workspace.Run) ([]string, error) {
	root, err := Root(a)
	if err != nil {
		return nil, err
	}
	place, err := placeOf(a)
	if err != nil {
		return nil, err
	}
	files, err := clone.ProfileNames(root)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range files {
		if p, err := clone.LoadProfile(root, name); err != nil || p.Command != "" { // its loop may still be running
			list = append(list, name)
		}
	}
	presences, err := place.Presences()
	for _, one := range presences {
		if one.Boots > 0 {
			list = append(list, one.Name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), err
}

// ChangeAll applies change to all workers of this clone and does not stop at an error. It
// returns the first error and prints the others as warnings.
func ChangeAll(ctx context.Context, a *workspace.Run, r WorkerRequest, change Change) (list []*Worker, err error) {
	names, err := workers(a)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		r.Name = name
		w, failed := change(ctx, a, r)
		switch {
		case failed == nil:
			list = append(list, w)
		case err == nil:
			err = failed
		default:
			a.Warn("%v", failed)
		}
	}
	return list, err
}

// ResumePaused resumes a worker that a person paused. A dead worker, and one that is paused
// because the commands in its file changed, stay as they are: they have to be resumed by name.
func ResumePaused(ctx context.Context, a *workspace.Run, r WorkerRequest) (*Worker, error) {
	place, err := placeOf(a)
	if err != nil {
		return nil, err
	}
	if one, ok := place.Presence(r.Name); !ok || one.State != clone.Paused || one.By == "" {
		return Status(ctx, a, r.Name)
	}
	return Resume(ctx, a, r)
}
