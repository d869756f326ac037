package live

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stig/jsonl"
)

// Ack says that an actor acknowledged an item of its inbox.
type Ack struct {
	Item  string    `json:"item"`
	Issue string    `json:"issue"` // that the item is about
	At    time.Time `json:"at"`    // of the item
}

// Acks is what an actor acknowledged.
type Acks struct {
	Store string    `json:"store"` // the path of the store in its work tree
	Name  string    `json:"name"`
	First time.Time `json:"first,omitzero"` // from when on its inbox has items, where no presence says so
	Floor time.Time `json:"floor,omitzero"` // items up to this time count as acknowledged
	Items []Ack     `json:"items"`          // the oldest first
}

const (
	// mostAcks is how many acknowledgements are kept of all actors together: each has an
	// equal share, and fewAcks at least. Of more the oldest are dropped, and the floor is
	// raised to them.
	mostAcks = 4000
	fewAcks  = 20
	// acksAge is after which time those of an actor are dropped that acknowledged nothing more.
	acksAge = presenceAge
)

// Known gives a function that reports whether an item of a time was acknowledged.
func (a Acks) Known() func(item string, at time.Time) bool {
	known := map[string]bool{}
	for _, ack := range a.Items {
		known[ack.Item] = true
	}
	return func(item string, at time.Time) bool { return known[item] || !a.Floor.IsZero() && !at.After(a.Floor) }
}

// Add records items that are not there yet.
func (a *Acks) Add(acks ...Ack) {
	known := map[string]bool{}
	all := slices.DeleteFunc(slices.Concat(a.Items, acks), func(ack Ack) bool {
		before := known[ack.Item]
		known[ack.Item] = true
		return before
	})
	slices.SortStableFunc(all, func(x, y Ack) int { return x.At.Compare(y.At) })
	a.Items = all
}

// unite adds what was acknowledged elsewhere.
func (a *Acks) unite(b Acks) {
	a.Add(b.Items...)
	if a.First.IsZero() || !b.First.IsZero() && b.First.Before(a.First) {
		a.First = b.First
	}
	if b.Floor.After(a.Floor) {
		a.Floor = b.Floor
	}
}

// keep drops the oldest of more items than most.
func (a *Acks) keep(most int) {
	over := len(a.Items) - most
	if over <= 0 {
		return
	}
	if last := a.Items[over-1].At; last.After(a.Floor) {
		a.Floor = last
	}
	a.Items = slices.Clone(a.Items[over:])
}

// Acks reads what an actor acknowledged in the store. The error names what cannot be
// read, which counts as nothing.
func (p Place) Acks(name string) (all Acks, err error) {
	if p.Documents != nil {
		entries, err := p.load(entryName(ackEntries, name))
		for _, e := range entries {
			err = errors.Join(err, e.decode(&all))
		}
		all.Store, all.Name = p.Store, name
		return all, err
	}
	for _, dir := range p.dirs() {
		var some Acks
		if e := readJSON(filepath.Join(dir, p.acksFile(name)), &some); e != nil {
			err = errors.Join(err, e)
			continue
		}
		all.unite(some)
	}
	all.Store, all.Name = p.Store, name
	return all, err
}

// ChangeAcks edits what an actor acknowledged under a lock, which no other actor waits
// for. Where change gives false nothing is written.
func (p Place) ChangeAcks(name string, change func(*Acks) bool) error {
	if p.Documents != nil {
		return p.changeServedAcks(name, change)
	}
	return p.locked(p.acksFile(name), func(dir string) error {
		path := filepath.Join(dir, p.acksFile(name))
		var all Acks
		_ = readJSON(path, &all) // what cannot be read is set aside, and Acks says so
		all.Store, all.Name = p.Store, name
		if !change(&all) {
			return nil
		}
		all.keep(shareOfAcks(dir))
		if err := replaceJSON(path, all); err != nil {
			return err
		}
		pruneAcks(dir, path)
		return nil
	})
}

// shareOfAcks is how many acknowledgements one actor may keep in a directory.
func shareOfAcks(dir string) int {
	files, _ := filepath.Glob(filepath.Join(dir, allAcks)) // the pattern is sound
	return max(fewAcks, mostAcks/max(1, len(files)))
}

// pruneAcks removes the files of actors that were last written long before a file that was
// written now. Those whose lock is held stay, and so does what cannot be removed.
func pruneAcks(dir, now string) {
	last, err := os.Stat(now)
	if err != nil {
		return
	}
	files, _ := filepath.Glob(filepath.Join(dir, allAcks)) // the pattern is sound
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || last.ModTime().Sub(info.ModTime()) <= acksAge {
			continue
		}
		unlock, err := jsonl.LockFile(path+".lock", soon)
		if err != nil {
			continue
		}
		_, _ = os.Remove(path), os.Remove(path+".lock")
		_ = unlock()
	}
}

const allAcks = "acks-*.json" // files of acknowledgements, of all stores of the clone

func (p Place) acksFile(name string) string {
	return "acks-" + hash(p.Store) + "-" + hash(name) + ".json"
}

// RenameAcks gives what an actor acknowledged to another name, besides what was
// acknowledged under that.
func (p Place) RenameAcks(name, to string) error {
	was, err := p.Acks(name)
	if err != nil || len(was.Items) == 0 && was.First.IsZero() {
		return err
	}
	return p.ChangeAcks(to, func(a *Acks) bool {
		a.unite(was)
		return true
	})
}
