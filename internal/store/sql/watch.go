package sql

import (
	"context"
	"slices"
	"sync"
	"time"
)

// hub polls the server for changes of the store, once for all watchers of the process.
type hub struct {
	mu       sync.Mutex
	watchers []chan struct{}
	stop     context.CancelFunc // of the polling; nil without watchers
}

const (
	askEvery  = time.Second
	idleEvery = 5 * time.Second
	idleAfter = time.Minute // without a change
)

// Watch implements beads.Store. It polls the server once a second for all watchers, and every
// five seconds if nothing changed for a minute.
func (s *Store) Watch() (changes <-chan struct{}, stop func()) {
	w := make(chan struct{}, 1)
	h := &s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers = append(h.watchers, w)
	if h.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		h.stop = cancel
		go s.look(ctx, s.seen())
	}
	return w, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.watchers = slices.DeleteFunc(h.watchers, func(o chan struct{}) bool { return o == w })
		if len(h.watchers) == 0 && h.stop != nil {
			h.stop()
			h.stop = nil
		}
	}
}

// seen returns the version that was read last, or -1.
func (s *Store) seen() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		return -1
	}
	return s.held.Version
}

// look polls until ctx ends, and reports each change since the version seen.
func (s *Store) look(ctx context.Context, seen int64) {
	idle := time.Duration(0)
	for {
		wait := askEvery
		if idle > idleAfter {
			wait = idleEvery
		}
		version, err := s.Version(ctx)
		switch {
		case err != nil: // the server may come back
		case version != seen:
			seen, idle, wait = version, 0, askEvery
			s.hub.tell()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			idle += wait
		}
	}
}

func (h *hub) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.watchers {
		select {
		case w <- struct{}{}:
		default: // it has an unread one
		}
	}
}
