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

// SignOfLife records that an actor is there, in this process: what the loop does at its
// start, with each run, and every 20 seconds. change, which may be nil, edits what else
// is known of it; it is called under a lock.
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

// Start is SignOfLife, unless change gives false for what is known of the actor: then
// nothing is recorded. Of machines that start at once each sees who was before it.
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

// sign records a sign of life, without a process where change sets none: that of a
// person's command is gone at once. Where change gives false nothing is recorded.
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
		prune(a, place, now) // where they become more, old ones go
	}
	return err
}

// Watching records that whoever acts is there, now and every 20 seconds until stop is called:
// waiting for something leaves no other sign. What cannot be recorded is not.
func Watching(ctx context.Context, a *workspace.Run) (stop func()) {
	name, err := a.ActorName(ctx)
	if err != nil || name == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		again := time.NewTicker(watchSign)
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

const watchSign = 20 * time.Second

// prune forgets actors without a file that nobody saw for long. What cannot be removed
// now is tried again when the next one comes.
func prune(a *workspace.Run, place clone.Place, now time.Time) {
	root, err := Root(a)
	if err != nil {
		return
	}
	names, err := clone.ProfileNames(root)
	if err != nil {
		return // who has a file cannot be known: all stay
	}
	_ = place.PrunePresences(now, func(name string) bool { return slices.Contains(names, name) })
}

// placeOf is where the live state of the store is kept.
func placeOf(a *workspace.Run) (clone.Place, error) {
	store, err := jsonl.Discover(a.Where())
	if err != nil {
		return clone.Place{}, err
	}
	return a.Live(store)
}

// Root is the directory that holds the store's: profiles lie below it.
func Root(a *workspace.Run) (string, error) {
	store, err := jsonl.Discover(a.Where())
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(store.Dir)
	return filepath.Dir(dir), err
}
