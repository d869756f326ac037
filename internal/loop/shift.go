package loop

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// shift is the loops of one actor in one or more projects. They do one run at a time: that of the
// project whose first candidate is best.
type shift []*loop

// turns is the state of a loop in a shift of several.
type turns struct {
	*loop
	began    int       // runs that had ended before the first turn
	failures int       // turns in a row that failed
	later    time.Time // the next turn; zero for now
	found    prospect
	over     bool
	err      error // why it is over
}

// would finds what the shift would run now. It writes nothing.
func (all shift) would(ctx context.Context) (*Done, error) {
	first := all[0]
	if len(all) > 1 {
		var able []*turns
		for _, l := range all {
			s, err := l.sense(ctx)
			if err != nil {
				l.tell("", notServed+"%v", err)
				continue
			}
			able = append(able, &turns{loop: l, found: prospect{sensed: s}})
		}
		if slices.SortStableFunc(able, byFirst); len(able) > 0 {
			first = able[0].loop
		}
	}
	return first.work(ctx)
}

// work runs the prepared loops of a shift. A loop of several that cannot start is reported.
func (all shift) work(ctx context.Context) (ended []*Done, err error) {
	if len(all) == 1 {
		done, err := all[0].work(ctx)
		return slices.DeleteFunc([]*Done{done}, func(d *Done) bool { return d == nil }), err
	}
	var started []*turns
	var errs []error
	for _, l := range all {
		l.clear()
		release, err := l.start()
		defer release()
		if err != nil {
			l.tell("", notServed+"%v", err)
			errs = append(errs, err)
			continue
		}
		started = append(started, &turns{loop: l})
	}
	if len(started) == 0 {
		return nil, errors.Join(errs...)
	}
	for _, t := range started {
		t.peers = othersThan(started, t)
		t.err = t.makeReady(ctx)
		if t.began, t.over = len(t.done.Runs), t.err != nil; t.over {
			t.tell("", notServed+"%v", t.err)
		}
	}
	takeTurns(ctx, started)
	errs = nil
	for _, t := range started {
		done, err := t.finish(ctx, t.err)
		ended, errs = append(ended, done), append(errs, err)
	}
	return ended, errors.Join(errs...)
}

func othersThan(all []*turns, one *turns) (list []*loop) {
	for _, t := range all {
		if t != one {
			list = append(list, t.loop)
		}
	}
	return list
}

// takeTurns works until all loops are over.
func takeTurns(ctx context.Context, all []*turns) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	changes := make(chan struct{}, 1)
	for _, t := range all {
		watched, stop := t.store.Watch()
		defer stop()
		go forward(ctx, watched, changes)
	}
	for {
		left := slices.DeleteFunc(slices.Clone(all), func(t *turns) bool { return t.over })
		switch {
		case len(left) == 0:
			return
		case ctx.Err() != nil:
			for _, t := range left {
				t.err = context.Cause(ctx)
			}
			return
		}
		oneTurn(ctx, left, changes)
	}
}

// forward forwards changes of one store until ctx ends.
func forward(ctx context.Context, from <-chan struct{}, to chan<- struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-from:
			select {
			case to <- struct{}{}:
			default: // one is waiting to be seen
			}
		}
	}
}

// oneTurn looks at all projects, and does one run, or waits.
func oneTurn(ctx context.Context, left []*turns, changes <-chan struct{}) {
	var able []*turns
	for _, t := range left {
		if t.later.After(t.app.Now()) {
			continue
		}
		var err error
		t.found, err = t.scan(ctx, t.began, t.failures > 0)
		if t.after(ctx, t.found.ended, err); err == nil && !t.over {
			able = append(able, t)
		}
	}
	slices.SortStableFunc(able, byFirst)
	for _, t := range able {
		if !t.found.until.IsZero() {
			continue
		}
		ran, next, err := t.actAlone(ctx)
		t.found.due(next)
		if t.after(ctx, false, err); err == nil && t.isEnough(t.began) {
			t.over = true
			if t.Once {
				endAll(left, t.done.Reason)
			}
		}
		if ran || err != nil || t.over {
			t.idle = false
			return // what was found elsewhere is old
		}
	}
	if ctx.Err() == nil && len(able) == len(left) && !slices.ContainsFunc(able, func(t *turns) bool { return !t.found.until.IsZero() || !t.empty(t.found.sensed) }) {
		for _, t := range able {
			t.over = true
		}
		return
	}
	waitAll(ctx, left, able, changes)
}

// byFirst orders loops by their first candidates. Those that have to ask a person come first.
func byFirst(a, b *turns) int {
	if asks := len(b.found.exhausted) - len(a.found.exhausted); asks != 0 {
		return asks
	}
	if len(a.found.order) == 0 || len(b.found.order) == 0 {
		return len(b.found.order) - len(a.found.order)
	}
	x, y := a.found.order[0], b.found.order[0]
	return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.Rank, y.Rank))
}

// after notes the result of a turn: a loop is over if it ended, or failed too often.
func (t *turns) after(ctx context.Context, ended bool, err error) {
	switch {
	case ctx.Err() != nil: // takeTurns ends all
	case ended:
		t.over, t.err = true, err
	case err == nil:
		t.failures, t.later = 0, time.Time{}
	default:
		if t.failures++; t.failures > mostFailures {
			t.over, t.err = true, err
			t.tell("", "ended: %v", err)
			return
		}
		t.tell("", "%v; retrying", err)
		t.later = t.app.Now().Add(t.Times.Look << min(t.failures-1, 5))
	}
}

// endAll ends all loops for one reason.
func endAll(all []*turns, reason string) {
	for _, t := range all {
		t.over, t.done.Reason = true, cmp.Or(t.done.Reason, reason)
	}
}

// actAlone does the first possible thing, while the loops in other projects keep giving signs of
// life.
func (t *turns) actAlone(ctx context.Context) (ran bool, next time.Time, err error) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		sign := time.NewTicker(t.Times.Sign)
		defer sign.Stop()
		for {
			select {
			case <-done:
				return
			case <-sign.C:
				signAll(t.peers)
			}
		}
	}()
	defer func() { close(done); <-ended }()
	return t.act(ctx, t.found.sensed)
}

// waitAll waits until one of the loops may have something to do. able are those that found
// nothing.
func waitAll(ctx context.Context, left, able []*turns, changes <-chan struct{}) {
	var soon sensed
	var loops []*loop
	for _, t := range left {
		loops = append(loops, t.loop)
		if !t.later.IsZero() {
			soon.due(t.later)
		}
	}
	for i, t := range able {
		soon.due(cmp.Or(t.found.until, t.found.next))
		if t.found.until.IsZero() && (i == 0 || t.found.asked > 0 || t.found.full || len(t.found.marked) > 0) {
			t.sayIdle(t.found.sensed)
		}
	}
	wait(ctx, loops, changes, soon.next, left[0].found.others)
}
