// Package memory keeps a store in memory, for tests above beads.Store that do not need a file.
//
//	store := memory.New(`{"id":"demo-1","title":"Light the lamp","status":"open"}` + "\n")
package memory

import (
	"context"
	"slices"
	"strings"
	"sync"

	"stig/internal/beads"
)

// Store implements beads.Store.
type Store struct {
	place beads.Place
	lock  chan struct{} // locked during the edit that runs

	mu       sync.Mutex // of the fields below
	text     []byte
	watchers []chan struct{}
}

// New creates a store with a text, at bd's default place.
func New(text string) *Store {
	return At(beads.Place{Path: ".beads/issues.jsonl", Dir: ".beads"}, text)
}

// At creates a store that reports a place.
func At(p beads.Place, text string) *Store {
	return &Store{place: p, text: []byte(text), lock: make(chan struct{}, 1)}
}

// Place implements beads.Store.
func (s *Store) Place() beads.Place { return s.place }

// Text returns the content of the store.
func (s *Store) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}

// Write replaces the text of the store, as a program without the lock does.
func (s *Store) Write(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put([]byte(text))
}

func (s *Store) put(text []byte) {
	s.text = text
	for _, w := range s.watchers {
		select {
		case w <- struct{}{}:
		default: // a notification is pending already
		}
	}
}

// Snapshot implements beads.Store.
func (s *Store) Snapshot() (*beads.Snapshot, error) {
	return s.snapshot(s.Text())
}

func (s *Store) snapshot(text string) (*beads.Snapshot, error) {
	return beads.NewSnapshot(s.place, beads.Source{Lines: strings.NewReader(text), Size: int64(len(text))})
}

// Edit implements beads.Store.
func (s *Store) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	if !o.DryRun {
		select {
		case s.lock <- struct{}{}:
			defer func() { <-s.lock }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return beads.Retry(ctx, s.place, func() ([]beads.Change, error) {
		before := s.Text()
		f, err := s.snapshot(before)
		if err != nil {
			return nil, err
		}
		tx, err := beads.Try(f, o, fn)
		if err != nil {
			return nil, err
		}
		changes := tx.Changes()
		if o.DryRun || len(changes) == 0 {
			return changes, nil
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if string(s.text) != before {
			return nil, beads.ErrStale
		}
		s.put(patched(before, tx.Patches()))
		return changes, nil
	})
}

// patched returns a text with the changes of an edit.
func patched(before string, patches []beads.Patch) (after []byte) {
	var done int64
	for _, p := range patches {
		after = append(append(after, before[done:p.Start]...), p.With...)
		done = p.End
	}
	return append(after, before[done:]...)
}

// Watch implements beads.Store.
func (s *Store) Watch() (changes <-chan struct{}, stop func()) {
	w := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, w)
	return w, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers = slices.DeleteFunc(s.watchers, func(o chan struct{}) bool { return o == w })
	}
}
