// Package actors holds the services about who works on a clone: the registry, the
// files of actors, their life from add to rm, the units that start them, and what they
// learn. Package clone knows the form of a file; package loop starts the loops.
//
//	added, err := actors.Add(ctx, a, actors.AddRequest{Name: "netty"})
package actors

import (
	"context"
	"slices"

	"stig/internal/clone"
	"stig/internal/workspace"
)

// Change is what changes the life of one worker: Pause, Resume, Drain, Kill.
type Change func(context.Context, *workspace.Run, WorkerRequest) (*Worker, error)

// workers lists the workers of this clone, in order: those whose file names a command,
// and those whose loop was started here.
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
		if p, err := clone.LoadProfile(root, name); err != nil || p.Command != "" { // one with a mistake may run on
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

// ChangeAll changes the life of all workers of this clone, and goes on to the next where
// one cannot be changed; the first of these errors is given, the others are warnings.
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

// ResumePaused is Resume of a worker that a person paused. One that was ended, and one
// that is paused since what its file runs changed, stays as it is: ask for it by name.
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
