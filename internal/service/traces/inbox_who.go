package traces

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/workspace"
)

// unknown is how far back the inbox of somebody goes of whom the clone knows nothing.
const unknown = 7 * 24 * time.Hour

// first is the first sign of life of an actor: as the registry has it, or what was
// found when it first acknowledged something; else that of its session; zero where
// nothing says so, or only what a clock that was ahead left.
func (o *owner) first(presence clone.Presence) time.Time {
	if first := earlier(o.past(presence.First), o.past(o.acks.First)); !first.IsZero() {
		return first
	}
	if s, ok := (clone.Registry{Place: o.place, Now: o.now}).Named(o.actor.Name); ok {
		return o.past(s.First)
	}
	return time.Time{}
}

// past is a time that has come, else zero.
func (o *owner) past(t time.Time) time.Time {
	if t.After(o.now) {
		return time.Time{}
	}
	return t
}

// searched is the first edit of the actor in the journal, else a week ago.
func (o *owner) searched() time.Time {
	if !o.known {
		return o.now.Add(-unknown)
	}
	journal, _ := o.place.Journal() // what cannot be read is passed over
	for _, record := range journal.Records {
		if record.Actor == o.actor.Name && record.Result == clone.Written && !o.past(record.At).IsZero() {
			first := record.At
			o.remember(first) // a journal may be long
			return first
		}
	}
	return o.now.Add(-unknown)
}

// remember keeps the first sign of life. Where that fails it is looked for again.
func (o *owner) remember(first time.Time) {
	o.acks.First = first
	_ = o.place.ChangeAcks(o.actor.Name, func(acks *clone.Acks) bool {
		known := acks.First
		acks.First = earlier(known, first)
		return !acks.First.Equal(known)
	})
}

// earlier is the earlier one of two times, of which each may be missing.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// profiled takes what the actor's file says: its kind, its roles, and what it watches.
// The inbox of an actor whose file has mistakes is there without.
func (o *owner) profiled(a *workspace.Run, store beads.Place) {
	dir, err := filepath.Abs(store.Dir)
	if err != nil {
		return
	}
	p, err := clone.LoadProfile(filepath.Dir(dir), o.actor.Name)
	switch {
	case err == nil:
		o.actor.Kind, o.actor.Watch = p.Kind, p.Watch
		o.actor.Roles = append(o.actor.Roles, p.Roles...)
	case !errors.Is(err, fs.ErrNotExist):
		a.Warn("the roles of %s are left out: %v", o.actor.Name, err)
	}
}

// kind says what the actor is: as its file has it, else as the clone knows it, else an
// agent where it is the session of an assistant or runs in a worker loop, else a human.
func (o *owner) kind(a *workspace.Run, known string) string {
	name := o.actor.Name
	switch known = cmp.Or(o.actor.Kind, known); {
	case known != "":
		return known
	case clone.IsSession(name), a.Getenv("STIG_RUN") != "" && a.Getenv("STIG_ACTOR") == name:
		return clone.Agent
	}
	return clone.Human
}
