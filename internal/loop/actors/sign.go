package actors

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"stig/internal/clone"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// SignOfLife records that an actor is alive in this process. The loop calls it at its start,
// with each run, and every clone.Place.SignEvery. change may be nil; it edits the rest of the
// presence under a lock.
func SignOfLife(a *workspace.Run, name string, change func(*clone.Presence)) error {
	self, _ := process.Self()
	return sign(a, name, func(p *clone.Presence) bool {
		p.Process = self.ID
		if change != nil {
			change(p)
		}
		return true
	})
}

// Start is like SignOfLife, but records nothing if change returns false for the current
// presence. If several machines start at once, each sees the ones before it.
func Start(a *workspace.Run, name string, change func(*clone.Presence) bool) error {
	self, _ := process.Self()
	return sign(a, name, func(p *clone.Presence) bool {
		if !change(p) {
			return false
		}
		p.Process = self.ID
		return true
	})
}

// sign records a sign of life, without a process unless change sets one: a command of a person
// ends at once. If change returns false, nothing is recorded.
func sign(a *workspace.Run, name string, change func(*clone.Presence) bool) error {
	place, err := placeOf(a)
	if err != nil {
		return err
	}
	now, err := a.Clock()
	if err != nil {
		return err
	}
	isNew := false
	self, _ := process.Self()
	err = place.ChangePresence(name, func(p *clone.Presence) bool {
		if isNew = p.First.IsZero(); isNew {
			p.First = now
		}
		p.Seen = now
		p.Signs++
		p.Host = self.Host
		return change(p)
	})
	if err == nil && isNew {
		prune(a, place, now) // only a new actor makes the list longer
	}
	return err
}

// Watching records that the current actor is alive, now and every clone.Place.SignEvery until
// stop is called, since waiting leaves no other sign of life. Errors are ignored.
func Watching(ctx context.Context, a *workspace.Run) (stop func()) {
	name, err := a.ActorName(ctx)
	if err != nil || name == "" {
		return func() {}
	}
	place, err := placeOf(a)
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		again := time.NewTicker(place.SignEvery())
		defer again.Stop()
		for {
			_ = sign(a, name, func(*clone.Presence) bool { return true })
			select {
			case <-ctx.Done():
				return
			case <-again.C:
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// prune removes actors without a file that were not seen for long. What fails is tried again
// with the next new actor.
func prune(a *workspace.Run, place clone.Place, now time.Time) {
	root, err := Root(a)
	if err != nil {
		return
	}
	names, err := clone.ProfileNames(root)
	if err != nil {
		return // unknown who has a file: keep all
	}
	_ = place.PrunePresences(now, func(name string) bool { return slices.Contains(names, name) })
}

// placeOf returns the place of the store's live state.
func placeOf(a *workspace.Run) (clone.Place, error) {
	store, err := jsonl.Discover(a.Where())
	if err != nil {
		return clone.Place{}, err
	}
	return a.Live(store)
}

// Root returns the parent of the store's directory. Profiles are stored below it.
func Root(a *workspace.Run) (string, error) {
	store, err := jsonl.Discover(a.Where())
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(store.Dir)
	return filepath.Dir(dir), err
}
