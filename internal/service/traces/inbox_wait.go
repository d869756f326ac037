package traces

import (
	"context"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/workspace"
)

// WaitInbox returns the inbox as soon as it has an item. If ctx ends first, it returns the
// cause. It reads the store when it changes, and when a deferred issue becomes ready.
func WaitInbox(ctx context.Context, a *workspace.Run, r InboxRequest) (*Inbox, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	changes, stop := a.At(store.Place()).Watch()
	defer stop()
	file, err := a.Open() // warns of unreadable parts of the store
	if err != nil {
		return nil, err
	}
	in, most, err := nextItems(ctx, a, file, r)
	var since time.Time // when it was first unreadable
	if fault.Is(err, fault.Changed) {
		in, most, since = &Inbox{}, workspace.Again, a.Now() // another program wrote meanwhile
	} else if err != nil {
		return nil, err
	}
	said := false
	for len(in.Items) == 0 {
		if !workspace.AwaitChange(ctx, changes, most) {
			return nil, context.Cause(ctx)
		}
		again, due, err := lookOnce(ctx, a, r)
		switch lasts := a.Now().Sub(since); {
		case err == nil:
			in, most, since, said = again, due, time.Time{}, false
		case since.IsZero():
			since, most = a.Now(), workspace.Again // another program may be writing
		case lasts > workspace.AwayFor:
			return nil, err
		case lasts > unreadable && !said:
			a.Warn("%s; waiting for it", err)
			most, said = unreadable, true
		}
	}
	return in, nil
}

const unreadable = 2 * time.Second // how long a store may be unreadable before a warning

// lookOnce is ReadInbox without warnings of unreadable parts. It also returns after what time
// to look again.
func lookOnce(ctx context.Context, a *workspace.Run, r InboxRequest) (*Inbox, time.Duration, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, 0, err
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, 0, err
	}
	return nextItems(ctx, a, file, r)
}

// nextItems reads the inbox from an open store, closes the store, and returns after what time
// to look again.
func nextItems(ctx context.Context, a *workspace.Run, file *beads.Snapshot, r InboxRequest) (*Inbox, time.Duration, error) {
	defer file.Close()
	graph := dag.New(file)
	now, err := a.Clock()
	if err != nil {
		return nil, 0, err
	}
	in, err := InboxIn(ctx, a, file, graph, r)
	return in, workspace.Until(graph.Due(now), now), err
}
