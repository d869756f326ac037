package inboxes

import (
	"context"
	"runtime/debug"
	"time"

	"stig/app"
	"stig/dag"
)

// Wait gives the inbox as soon as something is in it. It ends with the cause of ctx
// when that ends first. The store is looked at when it changes, and no more often.
func Wait(ctx context.Context, a *app.App, r Request) (*Inbox, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	changes, stop := a.At(store.Place()).Watch()
	defer stop()
	in, err := Look(ctx, a, r) // says what of the store is unreadable
	if err != nil {
		return nil, err
	}
	var since time.Time // when it could not be read first
	for len(in.Items) == 0 {
		if !wait(ctx, changes, !since.IsZero()) {
			return nil, context.Cause(ctx)
		}
		again, err := look(ctx, a, r)
		switch {
		case err == nil:
			in, since = again, time.Time{}
		case since.IsZero():
			since = a.Now() // another program may be in the middle of writing
		case a.Now().Sub(since) > unreadable:
			return nil, err
		}
	}
	return in, nil
}

const (
	unreadable = 2 * time.Second       // how long a store may not be readable
	again      = 50 * time.Millisecond // after which it is read again then
)

// look is Look that does not say once more what of the store is unreadable.
func look(ctx context.Context, a *app.App, r Request) (*Inbox, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return In(ctx, a, file, dag.New(file), r)
}

// wait waits for a change, or a moment where the store could not be read, and reports
// whether ctx goes on. Once nothing happened for a second, the memory that reading
// took goes back to the system: who waits may do so for days.
func wait(ctx context.Context, changes <-chan struct{}, failed bool) bool {
	var soon <-chan time.Time
	if failed {
		soon = time.After(again)
	}
	quiet := time.After(time.Second)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-quiet:
			debug.FreeOSMemory()
		case <-changes:
			return true
		case <-soon:
			return true
		}
	}
}
