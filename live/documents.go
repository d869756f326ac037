package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Documents keeps small documents by name for all machines that work on a store: a table in
// its database. What is one document stands in place of a file, and comparing its version
// in place of a lock.
//
// In documents are claims, presence, acknowledgements and the running rounds of swarms, by
// which machines keep out of each other's way. All else stays in files of the clone, since
// it says what happened on this machine (journal, runs and their logs, sessions, processes
// that a lock ends with), or how this work tree saw the store (what a watcher, a session or
// orient saw last), or what only one loop of this clone needs (dreams, numbers of children
// that no edit has taken yet).
type Documents interface {
	// Load gives documents by their names: the one that is named, or where the name ends
	// with a slash, all whose names begin so.
	Load(ctx context.Context, name string) ([]Entry, error)

	// Change calls change with what Load gives, and puts in its place what change gives:
	// documents that are added, have another text, or are left out. All or none of that
	// is done, and only while each of these documents is as it was given; else Change
	// starts over. Where change gives false or an error, nothing is done, and the error
	// is given as it is.
	Change(ctx context.Context, name string, change func([]Entry) (now []Entry, changed bool, err error)) error
}

// Entry is one document.
type Entry struct {
	Name    string
	Text    []byte        // JSON
	Age     time.Duration // since it was written, by the clock of the server; never 0
	Version int64         // another one with each change
}

// Names of documents begin with what they are.
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
	return p.Documents.Load(ctx, name)
}

// change edits the documents of a name.
func (p Place) change(name string, change func([]Entry) ([]Entry, bool, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), stateWait)
	defer cancel()
	return p.Documents.Change(ctx, name, change)
}

// decode reads a document into v. It is named in the error where it cannot be read.
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

// changeOne edits one document, given as v and the zero value where there is none. One
// that cannot be read is replaced.
func changeOne[T any](p Place, name string, change func(v *T) bool) error {
	return p.change(name, func(entries []Entry) ([]Entry, bool, error) {
		var v T
		e := Entry{Name: name}
		if len(entries) > 0 {
			if e = entries[0]; e.decode(&v) != nil {
				v = *new(T)
			}
		}
		if !change(&v) {
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

// servedClaims reads the documents of claims. Times of another machine are told by the
// clock of this one.
func (p Place) servedClaims(entries []Entry) (known map[string]claim, err error) {
	known = map[string]claim{}
	for _, e := range entries {
		var one claim
		if e := e.decode(&one); e != nil {
			err = errors.Join(err, e)
			continue
		}
		if l := one.Lease; l != nil {
			l.Age = e.Age
			if l.Host != p.Host {
				l.Until = p.Now().Add(l.Lasts - e.Age)
			}
		}
		known[one.Issue] = one
	}
	return known, err
}

// changeServedClaims is ChangeClaims where a server keeps the claims. Only documents of
// issues that changed are compared and written.
func (p Place) changeServedClaims(name string, change func(*Claims) (bool, error)) error {
	return p.change(name, func(entries []Entry) ([]Entry, bool, error) {
		known, trouble := p.servedClaims(entries)
		c := claimsOf(known)
		if changed, err := change(&c); err != nil || !changed {
			return nil, false, err
		}
		var now []Entry
		for _, one := range changedClaims(known, c, false) {
			e := Entry{Name: entryName(claimEntries, one.Issue)}
			for _, was := range entries {
				if was.Name == e.Name {
					e = was
				}
			}
			if one.Turn != known[one.Issue].Turn {
				e = e.with(one)
			}
			now = append(now, e)
		}
		if trouble != nil {
			now = append(now, unreadEntries(entries, now)...)
		}
		return now, true, nil
	})
}

// unreadEntries are those that cannot be read and have not been replaced: a newer stig
// may have written them.
func unreadEntries(entries, now []Entry) (list []Entry) {
	replaced := map[string]bool{}
	for _, e := range now {
		replaced[e.Name] = true
	}
	for _, e := range entries {
		if !replaced[e.Name] && e.decode(new(claim)) != nil {
			list = append(list, e)
		}
	}
	return list
}

// claimsOfIssues is the name of the documents that a change of claims needs: of one issue
// that alone, else all.
func claimsOfIssues(issues []string) string {
	if len(issues) == 1 {
		return entryName(claimEntries, issues[0])
	}
	return claimEntries
}

// servedPresence reads the document of an actor.
func (p Place) servedPresence(e Entry) (one Presence, err error) {
	if err := e.decode(&one); err != nil {
		return one, err
	}
	one.Age = e.Age
	if one.Host != p.Host {
		one.Seen = p.Now().Add(-e.Age)
	}
	return one, nil
}

// changeServedPresence is ChangePresence where a server keeps what is known, with its age.
// What cannot be read is replaced.
func (p Place) changeServedPresence(name string, change func(*Presence) bool) error {
	return p.change(entryName(presenceEntries, name), func(entries []Entry) ([]Entry, bool, error) {
		var one Presence
		e := Entry{Name: entryName(presenceEntries, name)}
		if len(entries) > 0 {
			if e = entries[0]; e.decode(&one) != nil {
				one = Presence{}
			}
			one.Age = e.Age
		}
		if !change(&one) {
			return nil, false, nil
		}
		return []Entry{e.with(one)}, true, nil
	})
}

// servedPresences reads the documents of actors below a name.
func (p Place) servedPresences(name string) (all []Presence, err error) {
	entries, err := p.load(name)
	for _, e := range entries {
		one, bad := p.servedPresence(e)
		if err = errors.Join(err, bad); bad == nil {
			all = append(all, one)
		}
	}
	return all, err
}

// changeServedAcks is ChangeAcks where a server keeps what was acknowledged. When an actor
// comes that was not there, those go that acknowledged nothing for long.
func (p Place) changeServedAcks(name string, change func(*Acks) bool) error {
	isNew := false
	err := changeOne(p, entryName(ackEntries, name), func(all *Acks) bool {
		isNew = all.Name == ""
		all.Store, all.Name = p.Store, name
		if !change(all) {
			isNew = false
			return false
		}
		all.keep(servedAcks)
		return true
	})
	if err == nil && isNew {
		_ = p.drop(ackEntries, func(e Entry) bool { return e.Age > acksAge }) // else when the next one comes
	}
	return err
}

// servedAcks is how many acknowledgements are kept of one actor where a server keeps them.
const servedAcks = 1000
