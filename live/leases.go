package live

import (
	"errors"
	"path/filepath"
	"time"

	"stig/process"
)

// Lease is the right of one actor to work on one issue: a claim that ends with whoever
// holds it. The store says who has an issue; the lease says whether they still do.
type Lease struct {
	Issue    string     `json:"issue"`
	Actor    string     `json:"actor"`
	Person   bool       `json:"person,omitempty"`  // it ends by being taken alone
	Process  process.ID `json:"process,omitzero"`  // that supervises the work; the zero value where none runs on
	Worktree string     `json:"worktree"`          // where it was claimed
	Run      string     `json:"run,omitempty"`     // of a worker loop
	Since    time.Time  `json:"since"`             // by the clock of the holder, as the times below
	Until    time.Time  `json:"until"`             // unless it is renewed
	Cap      time.Time  `json:"cap,omitzero"`      // after which it is not renewed; zero for never
	Renewals int        `json:"renewals,omitzero"` // how often it was
}

// Done is a mark that an issue was closed, for work trees whose store does not show it
// yet.
type Done struct {
	Issue  string    `json:"issue"`
	Actor  string    `json:"actor"`
	Branch string    `json:"branch"` // on which it was closed; "" where HEAD was detached
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
}

// Claims is what the clone knows of who works on the issues of one store.
type Claims struct {
	Leases []Lease `json:"leases,omitempty"`
	Done   []Done  `json:"done,omitempty"`
}

const leasesFile = "leases.json" // of all stores of the clone, by their path

// Claims reads the leases and marks of the store. The error names what cannot be read;
// the rest is there all the same.
func (p Place) Claims() (c Claims, err error) {
	for _, dir := range p.dirs() {
		all := map[string]Claims{}
		err = errors.Join(err, readJSON(filepath.Join(dir, leasesFile), &all))
		c.Leases, c.Done = append(c.Leases, all[p.Store].Leases...), append(c.Done, all[p.Store].Done...)
	}
	return c, err
}

// ChangeClaims edits the leases and marks of the store under a lock. Where change
// fails, or gives false, nothing is written, and its error is given as it is.
func (p Place) ChangeClaims(change func(*Claims) (bool, error)) error {
	var refused error
	err := p.inDir(func(dir string) (err error) {
		unlock, err := lockIn(dir, "leases.lock")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		path, all := filepath.Join(dir, leasesFile), map[string]Claims{}
		trouble := readJSON(path, &all) // it was set aside
		c := all[p.Store]
		var changed bool
		if changed, refused = change(&c); refused != nil || !changed {
			return nil
		}
		all[p.Store] = c
		return errors.Join(replaceJSON(path, all), trouble)
	})
	return errors.Join(refused, err)
}
