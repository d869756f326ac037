package board

import (
	"sync"
	"time"

	"stig/beads"
)

// reading names what a store held. Stores without a checksum give the same snapshot until
// they change.
type reading struct {
	sum      beads.Sum
	snapshot *beads.Snapshot // nil for a store with a checksum
}

// keeper keeps what was found in a store while the store stays as it is: what many look at
// is found once.
type keeper struct {
	mu    sync.Mutex
	of    reading
	found map[string]*finding
}

// finding is what was found, for all who ask for it.
type finding struct {
	mu    sync.Mutex // held while it is being found
	value any
	at    time.Time // when it was found; zero before
}

const (
	// shortly is how old what also depends on the time, or on what actors do, may be.
	shortly = 5 * time.Second
	// longer is how old what depends on the store and on git's history may be.
	longer = time.Minute
	// mostKept is how many findings are kept.
	mostKept = 500
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
func kept[T any](v *view, name string, age time.Duration, find func() (T, error)) (T, error) {
	f := v.Board.keeper.finding(v.reading, name)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := v.App.Now()
	if value, ok := f.value.(T); ok && now.Sub(f.at) < age {
		return value, nil
	}
	value, err := find()
	if err == nil {
		f.value, f.at = value, now
	}
	return value, err
}

// ahead has what a page needs be found at once, on all cores, each in a run of its own.
func (v *view) ahead(finds ...func(*view)) {
	var all sync.WaitGroup
	for _, find := range finds {
		all.Go(func() {
			own := *v
			own.App = v.App.Fresh(v.ctx, "board") // which says nothing, as v does
			find(&own)
		})
	}
	all.Wait()
}
