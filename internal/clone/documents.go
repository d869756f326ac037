package clone

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// Documents stores small documents by name for everyone who works on a store: in files of the
// clone, under locks; or for all machines in a table of its database, with compare-and-swap on
// versions.
//
// Documents are claims, presence, acknowledgements, fresh answers and the running rounds of
// swarms, by which machines avoid conflicts. Everything else stays in files of the clone: what
// happened on this machine (journal, runs and their logs, sessions, locks that end with a
// process), how this work tree saw the store (what a watcher, a session or orient saw last), and
// what one loop of this clone needs (dreams, reserved numbers of children).
type Documents interface {
	// Load returns the document of a name or, if the name ends with a slash, all documents with
	// that prefix.
	Load(ctx context.Context, name string) ([]Entry, error)

	// Change calls change with the result of Load and replaces it by what change returns: it
	// adds, updates and removes documents atomically. If one of them changed meanwhile, Change
	// starts over. If change returns false or an error, nothing is written, and Change returns
	// the error as it is.
	Change(ctx context.Context, name string, change func([]Entry) (now []Entry, changed bool, err error)) error

	// Prune removes documents below a folder, whose name ends with a slash, that were written
	// longer ago than age.
	Prune(ctx context.Context, folder string, age time.Duration) error
}

// Entry is one document.
type Entry struct {
	Name    string
	Text    []byte        // JSON
	Age     time.Duration // since it was written, by the server's clock; 0 in files
	Version int64         // changes with each write; 0 in files
}

// Prefixes of document names.
const (
	claimEntries    = "claim/"
	presenceEntries = "actor/"
	ackEntries      = "acks/"
)

// entryName returns the name of the document about an issue or an actor.
func entryName(kind, about string) string {
	name := url.PathEscape(about)
	if len(name) > longestName {
		name = hash(about)
	}
	return kind + name
}

// longestName limits the names of documents, which are keys of a table.
const longestName = 200

// stateWait is the timeout for a server, as lockWait is for files.
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

// decode parses a document into v. Errors name the document.
func (e Entry) decode(v any) error {
	if err := json.Unmarshal(e.Text, v); err != nil {
		return fmt.Errorf("%s cannot be read: %w", e.Name, err)
	}
	return nil
}

// with returns the document with v as its text. Live state always encodes.
func (e Entry) with(v any) Entry {
	e.Text, _ = json.Marshal(v)
	return e
}

// changeOne edits one document. change gets its value and age; the zero value if it is missing
// or cannot be read.
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

// drop removes the documents of a name for which gone returns true.
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
