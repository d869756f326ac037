package inboxes

import (
	"context"
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
		if !app.AwaitChange(ctx, changes, !since.IsZero()) {
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

const unreadable = 2 * time.Second // how long a store may not be readable

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
