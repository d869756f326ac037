// Package beads is the lossless format of stores, and the seam between them and
// all that works on issues.
//
// A store holds a text, one issue as a JSON object to a line, of which every byte
// is kept that nobody asked to change. The package reads it in one pass into a
// small index (NewSnapshot), gives the whole line of an issue when asked
// (Issue.Record), changes single string values and rows of lists by splicing
// their bytes, and adds lines (Record.With, Tx.AddRow, Tx.Add). Store is what
// keeps the text: a file (package jsonl), or anything that has its four methods.
//
// The package does not know what the texts mean: notes, signals, criteria and
// the graph of issues are other packages' business, and so is whether an issue
// may be closed. It opens no file, starts no program and reads no environment or
// clock.
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

// Store is a store of issues: what everything above this package works on. How
// it keeps the lines of its issues is its own business: package jsonl keeps them
// in a file, and wrappers add what else a write needs, such as telling bd.
type Store interface {
	// Place describes the store.
	Place() Place

	// Snapshot reads the store. What is wrong inside of it is no error but in
	// Snapshot.Problems. Errors are fault.Store.
	Snapshot() (*Snapshot, error)

	// Edit calls fn with the store as it is, and when fn changed something puts
	// the changes into the store, all or none, unless somebody else changed the
	// store meanwhile: then it starts over. So fn may run several times and must
	// depend on nothing but its Tx. An error of fn ends the edit and is returned
	// as it is. A dry run does all but write.
	//
	// Other errors are fault.Refused (the store must not be written),
	// fault.Changed (somebody else holds it or keeps changing it), fault.Store
	// (it cannot be read or written) and those of Tx. A fault.Changed that wraps
	// ErrLost comes after the changes were written, and with them.
	Edit(ctx context.Context, o Options, fn func(*Tx) error) ([]Change, error)

	// Watch sends a value some time after each change of the store, by whichever
	// program, until stop is called. Several changes may send one value, and
	// there may be one value too many.
	Watch() (changes <-chan struct{}, stop func())
}

// History is what a store was, commit by commit. A revision is what those who keep the
// commits take for one: a hash, a branch, HEAD~1. Where there is no such revision, or no
// store in it, the error is a fault.NoRevision, which wraps
// ErrBefore where there was no store yet.
type History interface {
	// Versions lists the commits that changed the store, and maybe others, the oldest
	// first; a since that is not "" leaves out what that commit has already.
	Versions(ctx context.Context, since string) ([]Version, error)

	// Texts gives take the texts that versions name, each once; take must not keep them. A
	// text has all lines, or at least those that the commits which name it changed: of
	// all issues, or of one.
	Texts(ctx context.Context, versions []Version, id string, take func(name string, text []byte)) error

	// Snapshot reads the store as it was at a revision.
	Snapshot(ctx context.Context, revision string) (*Snapshot, error)

	// Common gives the last commit that a revision and the present one share.
	Common(ctx context.Context, revision string) (commit string, err error)
}

// Version is a commit that changed a store.
type Version struct {
	Commit  string
	Time    time.Time // when it was committed
	Author  string
	Subject string
	Before  []string // the text in each parent, by name; "" where there was no store
	After   string   // the text after it; "" where the commit removed the store
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

// Place is where a store is, and which programs work on it.
type Place struct {
	Path string // of its file, whose symlinks are not resolved; see Name
	Dir  string // its .beads directory
	Mode Mode
	BR   bool   // beads_rust works here: its .write.lock is taken too
	NoDB bool   // config.yaml says no-db: bd works on the file itself
	URL  string // of a store on a server, without a password; Path is then the file that names it
	Copy string // the JSONL file that is kept current from the server; "" for none
}

// ByBD reports whether bd keeps the issues in a database of its own.
func (p Place) ByBD() bool { return p.Mode == BD || p.Mode == Export }

// Name is what messages call the store: its file, or the URL of one on a server.
func (p Place) Name() string {
	if p.Mode == Server {
		return p.URL
	}
	return p.Path
}

// File is the JSONL file of the store, which git may know: of one on a server its copy, ""
// for none.
func (p Place) File() string {
	if p.Mode == Server {
		return p.Copy
	}
	return p.Path
}

// Mode says whose store it is (beads-format §10 rule 1).
type Mode int

const (
	Plain  Mode = iota // JSONL only, no-db, br
	BD                 // bd keeps the issues in a database; Path is its export, which need not be there
	Server             // a server holds the issues, at Place.URL
	Export             // the JSONL is an export of a Dolt database that is not here
)

// DirName is the name of the directory that holds a store.
const DirName = ".beads"

// Options of Store.Edit.
type Options struct {
	Now    time.Time     // the time of updated_at
	DryRun bool          // do all but lock and write
	Wait   time.Duration // for the lock; 0 means 30 s

	Actor, Command string // who edits, and by which command, for a store that records it

	// Written is called with the changes once the store has them, before anybody else may
	// write, by stores that keep others from writing; nil for nothing.
	Written func([]Change)

	// Notes judges the notes of each changed line, before and after; its error
	// ends the edit. Without it, no edit may change notes that say something:
	// the store cannot tell what in them must stay.
	Notes func(before, after string) error
}

// ErrStale says that a store is no longer what was read. Try and what else an
// edit takes give it; Retry starts over.
var ErrStale = errors.New("changed while it was being written")

// attempts is how often an edit starts over when the store changes meanwhile.
const attempts = 5

// apart is how long an edit waits at most before it starts over for the first time, and
// twice as long each time after: writers that met would meet again.
const apart = 25 * time.Millisecond

// Retry calls try until it gives another error than ErrStale, five times at
// most. It is for implementations of Store.Edit.
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
		Hint: "another program writes the store without its lock: let it finish and run the command again"}
}
