package clone

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"stig/internal/process"
)

// Presence is what a clone knows of one actor: how it was told to be, and its signs of
// life. Who the actor is stands in its file, in git.
type Presence struct {
	Store   string     `json:"store"` // the path of the store in its work tree
	Name    string     `json:"name"`
	Kind    string     `json:"kind,omitempty"`    // agent, human, program; "" where nobody named it
	State   State      `json:"state,omitempty"`   // that somebody gave it
	By      string     `json:"by,omitempty"`      // who gave the state, "" for stig
	Why     string     `json:"why,omitempty"`     // and what for
	Until   time.Time  `json:"until,omitzero"`    // the state ends by itself; zero for never
	First   time.Time  `json:"first"`             // the first sign of life
	Seen    time.Time  `json:"seen"`              // the last one
	Signs   int        `json:"signs"`             // how many there were: across machines a counter tells, no clock
	Process process.ID `json:"process,omitzero"`  // of its loop
	Boots   int        `json:"boots,omitempty"`   // how often its loop was started
	Version string     `json:"version,omitempty"` // of the stig that runs the loop
	Issue   string     `json:"issue,omitempty"`   // in hand
	Run     string     `json:"run,omitempty"`
	Host    string     `json:"host,omitempty"`   // where it gave the last sign
	Rename  string     `json:"rename,omitempty"` // its loop takes this name when its run ends; "" for none
	Changes int        `json:"changes"`          // how often this was written: of two records the one with more counts

	Ended    time.Time `json:"ended,omitzero"`      // when its loop ended last; zero while one runs
	EndedWhy string    `json:"ended_why,omitempty"` // and why, in one line

	Age time.Duration `json:"-"` // since it was written, by the clock of the server that keeps it; 0 where none does
}

// State is how an actor was told to be.
type State string

const (
	Provisioning State = "provisioning" // it is being set up
	Healthy      State = "healthy"
	Paused       State = "paused"      // it takes no work until it is resumed
	Draining     State = "draining"    // it ends what it has, and takes no more
	Dead         State = "dead"        // it was ended, and does not start again
	Maintenance  State = "maintenance" // a person said so
)

const (
	presenceAge   = 90 * 24 * time.Hour // after the last sign of life
	mostPresences = 500
)

// Presences lists what is known of the actors of the store, by name. The error names
// what cannot be read; the rest is there all the same.
func (p Place) Presences() (all []Presence, err error) { return p.presences(presenceEntries) }

// Presence gives what is known of one actor; ok is false for nothing, and for what cannot
// be read.
func (p Place) Presence(name string) (one Presence, ok bool) {
	all, _ := p.presences(entryName(presenceEntries, name))
	if len(all) > 0 {
		one = all[0]
	}
	return one, one.Changes > 0
}

// presences reads the documents of actors below a name.
func (p Place) presences(name string) (all []Presence, err error) {
	entries, err := p.load(name)
	for _, e := range entries {
		one, bad := p.presenceOf(e)
		if err = errors.Join(err, bad); bad == nil {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Presence) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

// presenceOf reads the document of an actor. One of another machine was seen when the server
// heard of it.
func (p Place) presenceOf(e Entry) (one Presence, err error) {
	if err := e.decode(&one); err != nil {
		return one, err
	}
	if one.Age = e.Age; e.Age > 0 && one.Host != p.Host {
		one.Seen = p.Now().Add(-e.Age)
	}
	return one, nil
}

// later is the one of two records that was written more often: git's directory could not be
// written at some of these times.
func (p Presence) later(other Presence) Presence {
	if other.Changes > p.Changes {
		return other
	}
	return p
}

// ChangePresence edits what is known of one actor, for which no other actor waits. Where
// change gives false nothing is written; it may be called more than once.
func (p Place) ChangePresence(name string, change func(*Presence) bool) error {
	return changeOne(p, entryName(presenceEntries, name), func(one *Presence, age time.Duration) bool {
		one.Store, one.Name, one.Age = p.Store, name, age
		changed := change(one)
		one.Changes++
		return changed
	})
}

// ForgetPresence removes what is known of an actor.
func (p Place) ForgetPresence(name string) error {
	return p.forgetPresence(name, func(Presence) bool { return true })
}

// forgetPresence removes what is known of an actor, if that still is as it was taken for.
func (p Place) forgetPresence(name string, still func(Presence) bool) error {
	return p.drop(entryName(presenceEntries, name), func(e Entry) bool {
		one, err := p.presenceOf(e)
		return err != nil || still(one)
	})
}

// Runs reports whether the loop of an actor runs; known is false where that cannot be
// seen. One on another machine of a database runs while it gives signs of life.
func (p Presence) Runs() (runs, known bool) {
	if p.Age == 0 || p.Process == (process.ID{}) {
		return process.Running(p.Process)
	}
	if runs, known = process.RunningHere(p.Process); known {
		return runs, true
	}
	signs := p.Age < signsEnd
	return signs, signs
}

// signsEnd is after how long without a sign of life a loop on another machine is not
// taken to run: it gives one every 20 seconds.
const signsEnd = time.Minute

// Told is how an actor is told to be at a time; "" where nobody said so, and where what was
// said has ended by itself.
func (p Presence) Told(now time.Time) State {
	if !p.Until.IsZero() && !p.Until.After(now) {
		return ""
	}
	return p.State
}

// PrunePresences forgets actors without a sign of life for 90 days, and beyond five
// hundred those that were seen longest ago. Those that keep names stay.
func (p Place) PrunePresences(now time.Time, keep func(name string) bool) error {
	all, err := p.Presences()
	slices.SortFunc(all, func(a, b Presence) int { return b.Seen.Compare(a.Seen) })
	kept := 0
	for _, one := range all {
		if keep(one.Name) || now.Sub(one.Seen) < presenceAge && kept < mostPresences {
			kept++
			continue
		}
		err = errors.Join(err, p.forgetPresence(one.Name, func(again Presence) bool { return again.Changes == one.Changes }))
	}
	return err
}
