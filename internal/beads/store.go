// Package beads reads and writes the store format without loss, and defines the Store interface
// that everything else uses.
//
// A store is a text with one issue, a JSON object, a line; every byte stays that nobody asked
// to change. The package reads it in one pass into a small index (NewSnapshot), returns an
// issue's whole line on demand (Issue.Record), changes string values and list rows by splicing
// bytes, and adds lines (Record.With, Tx.AddRow, Tx.Add). A Store holds the text: a file
// (package jsonl), or anything else with its four methods.
//
// The package does not interpret the texts: notes, signals, criteria, the issue graph and
// whether an issue may be closed belong to other packages. It opens no files, starts no
// programs, and reads neither environment nor clock.
//
//	_, err = store.Edit(ctx, beads.Options{Now: now}, func(tx *beads.Tx) error {
//		return tx.Set("demo-1", beads.Set{Key: beads.Notes, Text: "seen"})
//	})
package beads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"stig/internal/fault"
)

// Store is a store of issues, the interface for all packages above. How it keeps the lines is
// its own business: package jsonl uses a file, and wrappers add what else a write needs, such
// as telling bd.
type Store interface {
	// Place describes the store.
	Place() Place

	// Snapshot reads the store. Problems within it are not errors but listed in
	// Snapshot.Problems. Errors are fault.Store.
	Snapshot() (*Snapshot, error)

	// Edit calls fn with the current store and then stores fn's changes, all or none. If the
	// store changes meanwhile it starts over, so fn may run several times and must depend on
	// nothing but its Tx. An error of fn ends the edit and is returned as is. A dry run does
	// everything but write.
	//
	// Other errors are fault.Refused (the store must not be written),
	// fault.Changed (somebody else holds it or keeps changing it), fault.Store
	// (it cannot be read or written) and those of Tx. A fault.Changed that wraps
	// ErrLost comes after the changes were written, and with them.
	Edit(ctx context.Context, o Options, fn func(*Tx) error) ([]Change, error)

	// Watch sends a value some time after each change of the store by any program, until stop
	// is called. It may combine several changes into one value, and may send a value too many.
	Watch() (changes <-chan struct{}, stop func())
}

// History is the store's past, commit by commit. A revision is whatever the version control
// accepts: a hash, a branch, HEAD~1. For an unknown revision, or one without a store, the error
// is a fault.NoRevision, which wraps ErrBefore if there was no store yet.
type History interface {
	// Versions lists the commits that changed the store, and maybe others, oldest first; a
	// since other than "" omits what that commit already contains.
	Versions(ctx context.Context, since string) ([]Version, error)

	// Texts passes take each text that versions name, once; take must not keep it. A text has
	// all lines, or at least those changed by the commits that name it: for all issues, or for
	// one.
	Texts(ctx context.Context, versions []Version, id string, take func(name string, text []byte)) error

	// Snapshot reads the store at a revision.
	Snapshot(ctx context.Context, revision string) (*Snapshot, error)

	// Common returns the merge base of a revision and the current one.
	Common(ctx context.Context, revision string) (commit string, err error)
}

// Version is a commit that changed the store.
type Version struct {
	Commit  string
	Time    time.Time // when it was committed
	Author  string
	Subject string
	Before  []string // the text in each parent, by name; "" if there was no store
	After   string   // the text after it; "" if the commit removed the store
}

// Names lists the texts that versions name, each once.
func Names(versions []Version) (names []string) {
	known := map[string]bool{"": true}
	for _, v := range versions {
		for _, name := range append([]string{v.After}, v.Before...) {
			if !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// Place is where a store is, and which programs use it.
type Place struct {
	Path string // of its file, with symlinks unresolved; see Name
	Dir  string // its .beads directory
	Mode Mode
	BR   bool   // beads_rust is in use: its .write.lock is taken too
	NoDB bool   // config.yaml sets no-db: bd works on the file itself
	URL  string // of a store on a server, without password; Path is then the file that names it
	Copy string // the JSONL file that mirrors the server; "" for none
}

// ByBD reports whether bd keeps the issues in its own database.
func (p Place) ByBD() bool { return p.Mode == BD || p.Mode == Export }

// Name is what messages call the store: its file, or its URL on a server.
func (p Place) Name() string {
	if p.Mode == Server {
		return p.URL
	}
	return p.Path
}

// File is the JSONL file of the store that git may track: for a store on a server its mirror,
// "" for none.
func (p Place) File() string {
	if p.Mode == Server {
		return p.Copy
	}
	return p.Path
}

// Mode says which program owns the store (beads-format §10 rule 1).
type Mode int

const (
	Plain  Mode = iota // JSONL only, no-db, br
	BD                 // bd keeps the issues in a database; Path is its export, which may be missing
	Server             // a server has the issues, at Place.URL
	Export             // the JSONL is an export of a Dolt database that is not here
)

// DirName is the name of the directory that contains a store.
const DirName = ".beads"

// Options are the options of Store.Edit.
type Options struct {
	Now    time.Time     // the time of updated_at
	DryRun bool          // do everything but lock and write
	Wait   time.Duration // for the lock; 0 means 30 s

	// Scope is what the edit is about. A store that can reads only that (see Nearby), and more if
	// the edit needs it; others read the whole.
	Scope Scope

	Actor, Command string // actor and command, for a store that records them

	// Written is called with the changes once they are stored, before anybody else may write,
	// by stores that lock; nil for nothing.
	Written func([]Change)

	// Notes judges the notes of each changed line, before and after; an error ends the edit.
	// Without it an edit may not change existing notes: the store cannot know what in them must
	// survive.
	Notes func(before, after string) error
}

// ErrStale reports that the store is no longer what was read. Try and other steps of an edit
// return it; Retry starts over.
var ErrStale = errors.New("changed while it was being written")

// attempts is how often an edit starts over when the store changes meanwhile.
const attempts = 5

// apart is the longest wait before an edit starts over for the first time; it doubles each
// time, so that colliding writers separate.
const apart = 25 * time.Millisecond

// Retry calls try until it returns an error other than ErrStale, five times at most. It is for
// implementations of Store.Edit.
func Retry(ctx context.Context, p Place, try func() ([]Change, error)) ([]Change, error) {
	for n := range attempts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		changes, err := try()
		if !errors.Is(err, ErrStale) {
			return changes, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(apart << n)):
		}
	}
	return nil, &fault.Error{Code: fault.Changed,
		Path: p.Name(), Reason: fmt.Sprintf("changed %d times while it was being written", attempts),
		Hint: "another program writes the store without its lock: let it finish, then retry"}
}
