package live

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stig/process"
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

// Presences lists what is known of the actors of the store, by name. The error names
// what cannot be read; the rest is there all the same.
func (p Place) Presences() (all []Presence, err error) {
	for _, dir := range p.dirs() {
		files, _ := filepath.Glob(filepath.Join(dir, "actor-"+hash(p.Store)+"-*.json")) // the pattern is sound
		for _, path := range files {
			var one Presence
			if e := readJSON(path, &one); e != nil {
				err = errors.Join(err, e)
			} else if !slices.ContainsFunc(all, func(known Presence) bool { return known.Name == one.Name }) {
				all = append(all, one)
			}
		}
	}
	slices.SortFunc(all, func(a, b Presence) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

// Presence gives what is known of one actor; ok is false for nothing.
func (p Place) Presence(name string) (one Presence, ok bool) {
	for _, dir := range p.dirs() {
		if readJSON(filepath.Join(dir, p.presenceFile(name)), &one) == nil && one.Name != "" {
			return one, true
		}
	}
	return Presence{}, false
}

// ChangePresence edits what is known of one actor under a lock, which no other actor
// waits for. Where change gives false nothing is written.
func (p Place) ChangePresence(name string, change func(*Presence) bool) error {
	return p.inDir(func(dir string) (err error) {
		path := filepath.Join(dir, p.presenceFile(name))
		unlock, err := lockIn(dir, p.presenceFile(name)+".lock")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		one := Presence{}
		trouble := readJSON(path, &one)
		one.Store, one.Name = p.Store, name
		if !change(&one) {
			return nil
		}
		return errors.Join(replaceJSON(path, one), trouble)
	})
}

// ForgetPresence removes what is known of an actor.
func (p Place) ForgetPresence(name string) (err error) {
	for _, dir := range p.dirs() {
		for _, path := range []string{p.presenceFile(name), p.presenceFile(name) + ".lock"} {
			if e := os.Remove(filepath.Join(dir, path)); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	return err
}

func (p Place) presenceFile(name string) string {
	return "actor-" + hash(p.Store) + "-" + hash(name) + ".json"
}
