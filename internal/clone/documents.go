package clone

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// Documents keeps small documents by name for all who work on a store: files of the clone
// under locks, or for all machines a table in its database, where comparing the version of
// a document stands in place of a lock.
//
// Documents hold claims, presence, acknowledgements and the running rounds of swarms, so that
// machines keep out of each other's way. Everything else stays in files of the clone, since
// it says what happened on this machine (journal, runs and their logs, sessions, processes
// that a lock ends with), or how this work tree saw the store (what a watcher, a session or
// orient saw last), or what only one loop of this clone needs (dreams, numbers of children
// that no edit has used yet).
type Documents interface {
	// Load gives the document of a name, or, if the name ends with a slash, all documents
	// whose names begin with it.
	Load(ctx context.Context, name string) ([]Entry, error)

	// Change calls change with what Load gives, and puts in its place what change gives:
	// documents that are added, have another text, or are left out. All or none of that
	// is done, and only while each of these documents is as it was given; else Change
	// starts over. Where change gives false or an error, nothing is done, and the error
	// is given as it is.
	Change(ctx context.Context, name string, change func([]Entry) (now []Entry, changed bool, err error)) error

	// Prune removes documents whose names begin with a folder, which ends with a slash, and
	// that were written longer ago than age.
	Prune(ctx context.Context, folder string, age time.Duration) error
}

// Entry is one document.
type Entry struct {
	Name    string
	Text    []byte        // JSON
	Age     time.Duration // since it was written, by the clock of the server; 0 in files alone
	Version int64         // another one with each change; 0 in files
}

// The names of documents begin with their kind.
const (
	claimEntries    = "claim/"
	presenceEntries = "actor/"
	ackEntries      = "acks/"
)

// entryName is the name of the document about an issue or an actor.
func entryName(kind, about string) string {
	name := url.PathEscape(about)
	if len(name) > longestName {
		name = hash(about)
	}
	return kind + name
}

// longestName bounds names of documents, which are keys of a table.
const longestName = 200

// stateWait bounds what is asked of a server, as lockWait does for files.
const stateWait = 10 * time.Second

// load reads the documents of a name.
func (p Place) load(name string) ([]Entry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stateWait)
	defer cancel()
	return p.documents().Load(ctx, name)
}

// change edits the documents of a name.
func (p Place) change(name string, change func([]Entry) ([]Entry, bool, error)) error {
	return changeIn(p.documents(), name, change)
}

func changeIn(in Documents, name string, change func([]Entry) ([]Entry, bool, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), stateWait)
	defer cancel()
	return in.Change(ctx, name, change)
}

// decode reads a document into v. An error names the document.
func (e Entry) decode(v any) error {
	if err := json.Unmarshal(e.Text, v); err != nil {
		return fmt.Errorf("%s cannot be read: %w", e.Name, err)
	}
	return nil
}

// with is a document with another text. Nothing of live state has a value that cannot be
// encoded.
func (e Entry) with(v any) Entry {
	e.Text, _ = json.Marshal(v)
	return e
}

// changeOne edits one document, given as v with its age, and the zero value where there is
// none. One that cannot be read is replaced.
func changeOne[T any](p Place, name string, change func(v *T, age time.Duration) bool) error {
	return p.change(name, func(entries []Entry) ([]Entry, bool, error) {
		var v T
		e := Entry{Name: name}
		if len(entries) > 0 {
			if e = entries[0]; e.decode(&v) != nil {
				v = *new(T)
			}
		}
		if !change(&v, e.Age) {
			return nil, false, nil
		}
		return []Entry{e.with(v)}, true, nil
	})
}

// drop removes the documents of a name that gone picks.
func (p Place) drop(name string, gone func(Entry) bool) error {
	return p.change(name, func(entries []Entry) (kept []Entry, changed bool, _ error) {
		for _, e := range entries {
			if !gone(e) {
				kept = append(kept, e)
			}
		}
		return kept, len(kept) < len(entries), nil
	})
}
