package board

import (
	"maps"
	"strings"
	"sync"
	"time"

	"stig/internal/beads"
)

// reading identifies the content of a store: its checksum, or the snapshot itself, which is the
// same value until the store changes.
type reading struct {
	sum      beads.Sum
	snapshot *beads.Snapshot // nil for a store with a checksum
}

// keeper caches results while the store is unchanged, so that many pages compute them once.
type keeper struct {
	mu    sync.Mutex
	of    reading
	found map[string]*finding
	later map[string]*search // slow results; the last one is kept when the store changes
}

// finding is one cached result, shared by all pages.
type finding struct {
	mu    sync.Mutex // locked during the computation
	value any
	at    time.Time // when it was computed; zero before
}

const (
	// shortly is how long results are cached that also depend on the time or on actors.
	shortly = 5 * time.Second
	// longer is how long results are cached that depend on the store and git's history.
	longer = time.Minute
	// rarely is how long results are cached that read all of git's history.
	rarely = 10 * time.Minute
	// mostKept limits the cached results, and mostLater those of slow searches.
	mostKept  = 500
	mostLater = 100
)

// finding returns the cache entry of a name for a reading.
func (k *keeper) finding(of reading, name string) *finding {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != of || len(k.found) >= mostKept {
		k.of, k.found = of, map[string]*finding{}
	}
	f := k.found[name]
	if f == nil {
		f = &finding{}
		k.found[name] = f
	}
	return f
}

// kept returns the result of find, cached for at most age while the store is unchanged.
func kept[T any](v *view, name string, age time.Duration, find func(*view) (T, error)) (T, error) {
	f := v.Board.keeper.finding(v.reading, name)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := v.Run.Now()
	if value, ok := f.value.(T); ok && now.Sub(f.at) < age {
		return value, nil
	}
	value, err := find(v)
	if err == nil {
		f.value, f.at = value, now
	}
	return value, err
}

// search caches a slow result. At most one computation runs at a time.
type search struct {
	mu    sync.Mutex
	value any
	err   error
	of    reading       // that it was computed from
	at    time.Time     // when its computation began; zero before
	until time.Time     // open pages start no new search before
	ends  chan struct{} // closed when the running search ends; nil if none runs
}

const (
	// soon is how long rendering a page waits for slow searches.
	soon = 40 * time.Millisecond
	// searches is how many searches run at once.
	searches = 2
)

// search returns the cache entry of a slow result, whatever the store.
func (k *keeper) search(name string) *search {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.later == nil || len(k.later) >= mostLater {
		k.later = map[string]*search{}
	}
	s := k.later[name]
	if s == nil {
		s = &search{}
		k.later[name] = s
	}
	return s
}

// forget drops the searches whose names have a prefix.
func (k *keeper) forget(names string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.later, func(name string, _ *search) bool { return strings.HasPrefix(name, names) })
}

// latest is the last result of a search, and whether it is current.
type latest[T any] struct {
	Value T
	At    time.Time // zero before the first result
	Old   bool      // a search is running, or the store has changed
}

// looked returns the result of a slow find. It waits a moment for it; then it returns the last
// result, if any, and the page is rendered again when the new one is there. With anew, a change
// of the store makes the result old at once, not only after age. Open pages search for at most
// about a tenth of the time.
func looked[T any](v *view, name string, age time.Duration, anew bool, find func(*view) (T, error)) (latest[T], error) {
	s := v.Board.keeper.search(name)
	s.mu.Lock()
	if s.err != nil {
		age = shortly
	}
	is := !s.at.IsZero() && v.Run.Now().Sub(s.at) < age && (!anew || s.of == v.reading)
	rests := v.shared && v.Run.Now().Before(s.until)
	if !is && s.ends == nil && !rests {
		s.ends = make(chan struct{})
		v.Board.find(v, s, func(own *view) (any, error) { return find(own) })
	}
	ends := s.ends
	s.mu.Unlock()
	if ends != nil {
		v.wait(ends)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := latest[T]{At: s.at, Old: s.ends != nil || anew && s.of != v.reading}
	if value, ok := s.value.(T); ok {
		found.Value = value
	}
	v.unready = v.unready || found.Old && (anew || s.at.IsZero())
	if found.Old {
		return found, nil
	}
	return found, s.err
}

// wait waits until a search ends; all searches of a page share one timeout.
func (v *view) wait(ends <-chan struct{}) {
	if v.limit == nil {
		v.limit = time.After(soon)
	}
	select {
	case <-ends:
	case <-v.limit:
		over := make(chan time.Time)
		close(over)
		v.limit = over
	case <-v.ctx.Done():
	}
}

// find runs a search in the background.
func (b *Board) find(v *view, s *search, find func(*view) (any, error)) {
	own := *v
	own.ctx = b.ctx
	own.Run = v.Run.Fresh(own.ctx, "board")
	own.Run.Say, own.Run.Terminal, own.Run.Progress = v.Run.Say, false, nil
	b.running.Go(func() {
		select {
		case b.searching <- struct{}{}:
			defer func() { <-b.searching }()
		case <-b.ctx.Done():
		}
		began := own.Run.Now()
		value, err := find(&own)
		s.mu.Lock()
		if s.err = err; err == nil {
			s.value = value
		}
		now := own.Run.Now()
		s.of, s.at, s.until = own.reading, began, now.Add(10*now.Sub(began))
		close(s.ends)
		s.ends = nil
		s.mu.Unlock()
		b.hub.changed()
	})
}

// ahead computes what a page needs in parallel, each with its own run.
func (v *view) ahead(finds ...func(*view)) {
	var all sync.WaitGroup
	for _, find := range finds {
		all.Go(func() {
			own := *v
			own.Run = v.Run.Fresh(v.ctx, "board") // silent, like that of v
			find(&own)
		})
	}
	all.Wait()
}
