package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/internal/store/jsonl"
)

const (
	watched   = 256 << 20       // bytes of the longest store of which a copy is kept
	pauseWait = 2 * time.Second // how long a look waits for those who write the store
)

// Look is one look at a store for a session.
type Look struct {
	Store beads.Place
	Place clone.Place

	session  string
	known    bool // the session looked before
	was, now clone.Baseline
	text     []byte
	journal  clone.Journal // what was recorded since the look before
}

// NewLook starts a look at a store.
func NewLook(s beads.Place, session string) (*Look, error) {
	place, err := clone.At(s.Path)
	if err != nil {
		return nil, err
	}
	l := &Look{Store: s, Place: place, session: session}
	l.was, l.known = place.Baseline(session)
	return l, nil
}

// Turn waits until no other hook of the session looks, and takes what that one kept as the
// look before. If nothing can be locked nothing can be kept either, and Keep says so. The
// error is that of ctx.
func (l *Look) Turn(ctx context.Context) (end func(), err error) {
	limited, cancel := context.WithTimeout(ctx, pauseWait)
	defer cancel()
	unlock, err := l.Place.LockBaseline(limited, l.session)
	if err != nil && limited.Err() != nil {
		return nil, err
	}
	l.was, l.known = l.Place.Baseline(l.session)
	if err != nil {
		return func() {}, nil
	}
	return func() { _ = unlock() }, nil
}

// Unchanged reports whether the file of the store and the commit that is checked out
// are those of the look before.
func (l *Look) Unchanged() bool {
	return l.known && !l.moved() && l.was.Stamp == clone.Stamp(l.Store.Path)
}

// moved reports whether another commit is checked out.
func (l *Look) moved() bool { return l.Place.Head != "" && l.Place.Head != l.was.Head }

// Stamp is that of the file as Read read it.
func (l *Look) Stamp() string { return l.now.Stamp }

// Read reads the store and its journal under their locks: otherwise the text would seem to
// lack what a later record wrote. After an error everything is left to the next look.
func (l *Look) Read(ctx context.Context) (err error) {
	path, err := filepath.Abs(l.Store.Path)
	if err != nil {
		return err
	}
	// The mark is older than the text: what is recorded between is in both.
	l.now = clone.Baseline{Store: path, Head: cmp.Or(l.Place.Head, l.was.Head), Mark: l.Place.Mark()}
	resume, err := jsonl.Pause(ctx, l.Store, pauseWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resume()) }()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > watched {
		return fmt.Errorf("%s: not a plain file of at most %d MiB", path, watched>>20)
	}
	l.now.Stamp = clone.Stamp(path)
	if l.text, err = os.ReadFile(path); err == nil && l.now.Stamp != clone.Stamp(path) {
		err = fmt.Errorf("%s: written while it was read", path)
	}
	if err == nil && l.known {
		l.journal, err = l.Place.Since(l.was.Mark)
	}
	return err
}

// Find compares the store with the look before; at the first look it finds nothing.
// at gives the text of the store in a commit, merge that in the first parent of a merge and
// in the commit from which its sides come, and put a record with a part set.
func (l *Look) Find(at func(commit string) ([]byte, error), merge func(commit string) (ours, base []byte, err error), put func(*beads.Record, merge.Part) (*beads.Record, error)) (Losses, error) {
	if !l.known {
		return Losses{}, nil
	}
	before, err := os.ReadFile(l.was.Copy)
	if errors.Is(err, fs.ErrNotExist) {
		return Losses{}, nil // somebody removed it: this is a first look
	}
	if err != nil {
		return Losses{}, err
	}
	records := slices.DeleteFunc(l.journal.Records, func(r clone.Record) bool { return r.Worktree != l.Place.Worktree })
	q := question{Before: before, Now: l.text, Records: records, Put: put}
	if l.moved() {
		q.Past = &past{
			Old:   func() ([]byte, error) { return at(l.was.Head) },
			New:   func() ([]byte, error) { return at(l.now.Head) },
			Merge: func() (ours, base []byte, err error) { return merge(l.now.Head) },
		}
	}
	return find(q)
}

// Keep records how the store stands for the next look.
func (l *Look) Keep(now time.Time) error { return l.Place.Keep(l.session, l.now, l.text, now) }
