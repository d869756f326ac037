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

// unknown is how far back the inbox of an actor goes that the clone does not know.
const unknown = 7 * 24 * time.Hour

// first returns when the actor first appeared: from the registry or its first acknowledgement,
// or else from its session. It is zero if unknown, or if only wrong clocks have recorded it.
func (o *owner) first(presence clone.Presence) time.Time {
	if first := earlier(o.past(presence.First), o.past(o.acks.First)); !first.IsZero() {
		return first
	}
	if s, ok := (clone.Registry{Place: o.place, Now: o.now}).Named(o.actor.Name); ok {
		return o.past(s.First)
	}
	return time.Time{}
}

// past returns t, or zero if t is in the future.
func (o *owner) past(t time.Time) time.Time {
	if t.After(o.now) {
		return time.Time{}
	}
	return t
}

// searched returns the time of the actor's first edit in the journal, or else a week ago.
func (o *owner) searched() time.Time {
	if !o.known {
		return o.now.Add(-unknown)
	}
	journal, _ := o.place.Journal() // unreadable records are skipped
	for _, record := range journal.Records {
		if record.Actor == o.actor.Name && record.Result == clone.Written && !o.past(record.At).IsZero() {
			first := record.At
			o.remember(first) // do not search a long journal twice
			return first
		}
	}
	return o.now.Add(-unknown)
}

// remember saves when the actor first appeared. If that fails it is searched for again.
func (o *owner) remember(first time.Time) {
	if o.acks.First = first; o.readOnly {
		return
	}
	_ = o.place.ChangeAcks(o.actor.Name, func(acks *clone.Acks) bool {
		known := acks.First
		acks.First = earlier(known, first)
		return !acks.First.Equal(known)
	})
}

// earlier returns the earlier of two times, either of which may be zero.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// profiled sets what the actor's profile says: its kind, its roles, and what it watches. An
// invalid profile is ignored with a warning.
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
		a.Warn("ignoring the roles of %s: %v", o.actor.Name, err)
	}
}

// kind returns the kind of the actor: from its profile, or else from the clone. Otherwise it is
// an agent if it is an assistant session or runs in a worker loop, and a human if not.
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
