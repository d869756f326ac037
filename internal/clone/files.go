package clone

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/fault"
	"stig/internal/file"
)

// files stores documents in files of the clone: the claims of all stores in leases.json, and
// each other document in a file of its own, locked during changes. If git's directory cannot be
// written, new state goes beside the store, and reads merge both. Entries have no age and no
// version.
type files struct {
	place  Place
	beside bool // Change wrote beside the store, which other work trees do not see
}

// documents returns where documents are stored: on the server, if there is one, else in files.
func (p Place) documents() Documents {
	if p.Documents != nil {
		return p.Documents
	}
	return &files{place: p}
}

// kind says how documents of one kind are stored as files.
type kind struct {
	begin string                            // of the file names
	check func(path string) ([]byte, error) // returns the text, nil without a file; an unreadable file is set aside
	unite func(a, b []byte) []byte          // b is from beside the store
}

func kindOf[T any](begin string, unite func(a, b T) T) kind {
	check := func(path string) ([]byte, error) { return checkJSON(path, new(T)) }
	return kind{begin, check, func(a, b []byte) []byte {
		var x, y T
		if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
			return a // both were checked before
		}
		text, err := json.Marshal(unite(x, y))
		if err != nil {
			return a // live state always encodes
		}
		return text
	}}
}

// kindOfName returns the kind of a document name.
func kindOfName(name string) kind {
	switch folder, _, _ := strings.Cut(name, "/"); folder + "/" {
	case presenceEntries:
		return kindOf("actor-", Presence.later)
	case ackEntries:
		return kindOf("acks-", Acks.with)
	case answerEntries:
		return kindOf("answers-", freshAnswers.with)
	default:
		return kindOf("swarm-", SwarmRound.with)
	}
}

// file returns the file name of a document; a pattern if the name ends with a slash.
func (f *files) file(name string) string {
	begin := kindOfName(name).begin
	_, about, _ := strings.Cut(name, "/")
	if plain, err := url.PathUnescape(about); err == nil {
		about = plain
	}
	switch {
	case begin == "swarm-":
		return begin + hash(f.place.Store, about) + ".json"
	case about == "":
		return begin + hash(f.place.Store) + "-*.json"
	}
	return begin + hash(f.place.Store) + "-" + hash(about) + ".json"
}

// Load implements Documents, for claims or for one name.
func (f *files) Load(_ context.Context, names ...string) (entries []Entry, err error) {
	name := names[0]
	if strings.HasPrefix(name, claimEntries) {
		known, _, err := f.place.claims()
		return entriesOf(known, names), err
	}
	k, file := kindOfName(name), f.file(name)
	texts := map[string][]byte{}
	for _, dir := range f.place.dirs() {
		paths := []string{filepath.Join(dir, file)}
		if strings.HasSuffix(name, "/") {
			paths, _ = filepath.Glob(paths[0]) // the pattern is valid
		}
		for _, path := range paths {
			text, e := k.check(path)
			if err = errors.Join(err, e); text == nil {
				continue
			}
			if first, there := texts[filepath.Base(path)]; there {
				text = k.unite(first, text)
			}
			texts[filepath.Base(path)] = text
		}
	}
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		entries = append(entries, Entry{Name: name, Text: texts[file]})
	}
	return entries, err
}

// Ended implements Documents.
func (f *files) Ended(ctx context.Context, _ ...string) ([]Entry, error) {
	return f.Load(ctx, claimEntries)
}

// Change implements Documents, for claims or for one document. The lock file of a document is
// removed with it; whoever waits for the lock creates a new one.
func (f *files) Change(ctx context.Context, names []string, change func([]Entry) ([]Entry, bool, error)) error {
	name := names[0]
	if strings.HasPrefix(name, claimEntries) {
		return f.changeClaims(names, change)
	}
	var refused error
	path := f.file(name)
	err := f.place.locked(path, func(dir string) error {
		was, _ := f.Load(ctx, name) // unreadable files were set aside
		now, changed, err := change(slices.Clone(was))
		refused = err
		changed = changed && err == nil
		switch {
		case changed && len(now) > 0:
			return file.Replace(filepath.Join(dir, path), append(bytes.Clone(now[0].Text), '\n'))
		case changed:
			return errors.Join(f.place.remove(path), os.Remove(filepath.Join(dir, path+".lock")))
		case len(was) == 0:
			_ = os.Remove(filepath.Join(dir, path+".lock")) // else it stays, empty
		}
		return nil
	})
	return errors.Join(refused, err)
}

// Prune implements Documents, in the writable directory. Ages count from the newest file. What
// is locked or cannot be removed stays until the next call.
func (f *files) Prune(_ context.Context, folder string, age time.Duration) error {
	begin := kindOfName(folder).begin // of all stores of the clone
	return f.place.inDir(func(dir string) error {
		paths, _ := filepath.Glob(filepath.Join(dir, begin+"*.json")) // the pattern is valid
		last := later(paths...)
		for _, path := range paths {
			if last.Sub(later(path)) <= age {
				continue
			}
			if unlock, err := file.LockFile(path+".lock", soon); err == nil {
				_, _, _ = os.Remove(path), os.Remove(path+".lock"), unlock()
			}
		}
		return nil
	})
}

// entriesOf returns the claims that document names select.
func entriesOf(known map[string]claim, names []string) (entries []Entry) {
	for _, issue := range slices.Sorted(maps.Keys(known)) {
		e := Entry{Name: entryName(claimEntries, issue)}
		if names[0] == claimEntries || slices.Contains(names, e.Name) {
			entries = append(entries, e.with(known[issue]))
		}
	}
	return entries
}

// changeClaims is Change for claims, which are all in one file under one lock.
func (f *files) changeClaims(names []string, change func([]Entry) ([]Entry, bool, error)) error {
	p := f.place
	var refused error
	err := p.inDir(func(dir string) (err error) {
		unlock, err := lockIn(dir, "leases.lock")
		if errors.Is(err, context.DeadlineExceeded) {
			// A file elsewhere would not exclude those who use this one.
			refused = &fault.Error{Code: fault.Conflict, Reason: "another process holds the lock on the leases of this clone", Hint: "try again", Err: err}
			return nil
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		known, all, trouble := p.claims()
		was := entriesOf(known, names)
		now, changed, err := change(slices.Clone(was))
		if refused = err; err != nil || !changed {
			return nil
		}
		f.beside = p.Shared() && dir == p.beside
		if all[dir][p.Store], err = writtenClaims(known, was, now, f.beside); err != nil {
			return err
		}
		if err := replaceJSON(filepath.Join(dir, leasesFile), all[dir]); err != nil {
			return err
		}
		if other := all[p.beside]; dir != p.beside && len(other[p.Store]) > 0 {
			delete(other, p.Store) // the shared file has all of it now
			_ = replaceJSON(filepath.Join(p.beside, leasesFile), other)
		}
		refused = trouble
		return nil
	})
	return errors.Join(refused, err)
}

// writtenClaims returns known with was replaced by now. With keep, removed claims leave an
// entry, since the other file still has them.
func writtenClaims(known map[string]claim, was, now []Entry, keep bool) (list []claim, err error) {
	next := maps.Clone(known)
	for _, e := range was {
		var one claim
		if err := e.decode(&one); err != nil {
			return nil, err
		}
		if next[one.Issue] = (claim{Issue: one.Issue, Turn: one.Turn}); one.Lease != nil || one.Done != nil {
			next[one.Issue] = claim{Issue: one.Issue, Turn: one.Turn + 1}
		}
	}
	for _, e := range now {
		var one claim
		if err := e.decode(&one); err != nil {
			return nil, err
		}
		next[one.Issue] = one
	}
	for _, issue := range slices.Sorted(maps.Keys(next)) {
		if one := next[issue]; keep || one.Lease != nil || one.Done != nil {
			list = append(list, one)
		}
	}
	return list, nil
}
