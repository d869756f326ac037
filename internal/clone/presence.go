package clone

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"stig/internal/process"
)

// Presence is what a clone knows of an actor: its state and its signs of life. The actor itself
// is described in its file, in git.
type Presence struct {
	Store   string     `json:"store"` // path of the store in its work tree
	Name    string     `json:"name"`
	Kind    string     `json:"kind,omitempty"`    // agent, human, program; "" if unknown
	State   State      `json:"state,omitempty"`   // as given by somebody
	By      string     `json:"by,omitempty"`      // who gave the state; "" for stig
	Why     string     `json:"why,omitempty"`     // the reason
	Until   time.Time  `json:"until,omitzero"`    // the state expires then; zero for never
	First   time.Time  `json:"first"`             // the first sign of life
	Seen    time.Time  `json:"seen"`              // the last sign of life
	Signs   int        `json:"signs"`             // number of signs, which is compared across machines instead of clocks
	Process process.ID `json:"process,omitzero"`  // of its loop
	Boots   int        `json:"boots,omitempty"`   // number of starts of its loop
	Version string     `json:"version,omitempty"` // of the stig that runs the loop
	Issue   string     `json:"issue,omitempty"`   // the issue that it works on
	Run     string     `json:"run,omitempty"`
	Host    string     `json:"host,omitempty"`   // of its last sign of life
	Rename  string     `json:"rename,omitempty"` // the name that its loop takes when its run ends; "" for none
	Changes int        `json:"changes"`          // number of writes; of two records the one with more wins

	Ended    time.Time `json:"ended,omitzero"`      // end of its last loop; zero while one runs
	EndedWhy string    `json:"ended_why,omitempty"` // the reason, in one line

	Age time.Duration `json:"-"` // since it was written, by the server's clock; 0 without a server
}

// State is the state that an actor was given.
type State string

const (
	Provisioning State = "provisioning" // it is being set up
	Healthy      State = "healthy"
	Paused       State = "paused"      // it takes no work until it is resumed
	Draining     State = "draining"    // it finishes what it has and takes no more
	Dead         State = "dead"        // it was stopped and does not start again
	Maintenance  State = "maintenance" // set by a person
)

const (
	presenceAge   = 90 * 24 * time.Hour // after the last sign of life
	mostPresences = 500
)

// Presences returns the known actors of the store, by name. The error names what cannot be
// read; the rest is still returned.
func (p Place) Presences() (all []Presence, err error) { return p.presences(presenceEntries) }

// Presence returns what is known of an actor; ok is false if nothing is known or readable.
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

// presenceOf parses the document of an actor. An actor of another machine was last seen when
// the server heard of it.
func (p Place) presenceOf(e Entry) (one Presence, err error) {
	if err := e.decode(&one); err != nil {
		return one, err
	}
	if one.Age = e.Age; e.Age > 0 && one.Host != p.Host {
		one.Seen = p.Now().Add(-e.Age)
	}
	return one, nil
}

// later returns the record with more changes: git's directory could not be written for some of
// them.
func (p Presence) later(other Presence) Presence {
	if other.Changes > p.Changes {
		return other
	}
	return p
}

// ChangePresence edits what is known of an actor, without blocking other actors. change may be
// called more than once; if it returns false, nothing is written.
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

// forgetPresence removes what is known of an actor if still returns true.
func (p Place) forgetPresence(name string, still func(Presence) bool) error {
	return p.drop(entryName(presenceEntries, name), func(e Entry) bool {
		one, err := p.presenceOf(e)
		return err != nil || still(one)
	})
}

// Runs reports whether the loop of an actor runs; known is false if that cannot be seen. A loop
// on another machine runs while it gives signs of life to the database.
func (p Presence) Runs() (runs, known bool) {
	if p.Age == 0 || p.Process == (process.ID{}) {
		return process.Running(p.Process)
	}
	if runs, known = process.RunningHere(p.Process); known {
		return runs, true
	}
	signs := p.Age < silentAfter*serverSign
	return signs, signs
}

const (
	fileSign    = 20 * time.Second // between signs of life in files
	serverSign  = time.Minute      // between signs of life on a server, where each is a statement
	silentAfter = 3                // missing signs until an actor counts as inactive
)

// SignEvery returns the interval between signs of life.
func (p Place) SignEvery() time.Duration {
	if p.Documents != nil {
		return serverSign
	}
	return fileSign
}

// Silence returns how long after its last sign of life an actor is inactive.
func (p Place) Silence() time.Duration { return silentAfter * p.SignEvery() }

// Told returns the state of an actor at a time; "" if none was given, or if it has expired.
func (p Presence) Told(now time.Time) State {
	if !p.Until.IsZero() && !p.Until.After(now) {
		return ""
	}
	return p.State
}

// PrunePresences removes actors without a sign of life for 90 days, and in files above five
// hundred those seen longest ago. Names for which keep returns true stay.
func (p Place) PrunePresences(now time.Time, keep func(name string) bool) error {
	all, err := p.Presences()
	slices.SortFunc(all, func(a, b Presence) int { return b.Seen.Compare(a.Seen) })
	kept := 0
	for _, one := range all {
		if keep(one.Name) || now.Sub(one.Seen) < presenceAge && (kept < mostPresences || p.Documents != nil) {
			kept++
			continue
		}
		err = errors.Join(err, p.forgetPresence(one.Name, func(again Presence) bool { return again.Changes == one.Changes }))
	}
	return err
}
