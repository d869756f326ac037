package board

import (
	"maps"
	"strings"
	"sync"
	"time"

	"stig/internal/beads"
)

// reading names what a store held. Stores without a checksum give the same snapshot until
// they change.
type reading struct {
	sum      beads.Sum
	snapshot *beads.Snapshot // nil for a store with a checksum
}

// keeper caches what was found in a store while the store is unchanged: what many pages show
// is computed once.
type keeper struct {
	mu    sync.Mutex
	of    reading
	found map[string]*finding
	later map[string]*search // what takes long; of this the last result is kept
}

// finding is what was found, for all who ask for it.
type finding struct {
	mu    sync.Mutex // held while it is being found
	value any
	at    time.Time // when it was found; zero before
}

const (
	// shortly is how old a finding may be that also depends on the time or on what actors do.
	shortly = 5 * time.Second
	// longer is how old a finding may be that depends on the store and on git's history.
	longer = time.Minute
	// rarely is how old a finding may be that is read from all of git's history.
	rarely = 10 * time.Minute
	// mostKept is how many findings are kept, and mostLater how many of those that take long.
	mostKept  = 500
	mostLater = 100
)

// finding gives the place for what is found under a name in a reading.
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

// kept gives what find finds in the store, or what it found in the same store within age.
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

// search looks for what takes long, at most once at a time.
type search struct {
	mu    sync.Mutex
	value any
	err   error
	of    reading       // in which it was found
	at    time.Time     // when that began; zero before
	until time.Time     // open pages wait with the next one
	ends  chan struct{} // closed when the one under way has ended; nil for none
}

const (
	// soon is how long rendering a page waits for a search that takes long.
	soon = 40 * time.Millisecond
	// searches is how many are under way at once.
	searches = 2
)

// search gives the place for what is found under a name, in whichever reading.
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

// forget has searches run again, by what their names begin with.
func (k *keeper) forget(names string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.later, func(name string, _ *search) bool { return strings.HasPrefix(name, names) })
}

// latest is what was found last, and whether that is as it would be found now.
type latest[T any] struct {
	Value T
	At    time.Time // zero while nothing was found yet
	Old   bool      // it is being looked for again
}

// looked gives what find finds, however long that takes: where it is not there within a
// moment, what it found before, if anything, and the page is made anew when it is there.
// Anew has it found again as soon as the store changed; open pages have it found again for
// a tenth of the time at most.
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

// wait waits until a search ends; all searches of a page share one time limit.
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

// find has a search go on while its page is shown.
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

// ahead finds what a page needs in parallel, on all cores, each in a run of its own.
func (v *view) ahead(finds ...func(*view)) {
	var all sync.WaitGroup
	for _, find := range finds {
		all.Go(func() {
			own := *v
			own.Run = v.Run.Fresh(v.ctx, "board") // which says nothing, as v does
			find(&own)
		})
	}
	all.Wait()
}
