package clone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
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
	// mostAcks is how many acknowledgements are kept of one actor. Of more the oldest are
	// dropped, and the floor is raised to them.
	mostAcks = 1000
	// acksAge is how long the acknowledgements of an actor are kept after the last one.
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

// with is what was acknowledged here and elsewhere.
func (a Acks) with(b Acks) Acks {
	a.Add(b.Items...)
	if a.First.IsZero() || !b.First.IsZero() && b.First.Before(a.First) {
		a.First = b.First
	}
	if b.Floor.After(a.Floor) {
		a.Floor = b.Floor
	}
	return a
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
	entries, err := p.load(entryName(ackEntries, name))
	for _, e := range entries {
		err = errors.Join(err, e.decode(&all))
	}
	all.Store, all.Name = p.Store, name
	return all, err
}

// ChangeAcks edits what an actor acknowledged, without blocking other actors. If change
// returns false nothing is written; it may be called more than once. A new actor's first
// acknowledgement drops those of actors that acknowledged nothing for acksAge.
func (p Place) ChangeAcks(name string, change func(*Acks) bool) error {
	isNew := false
	err := changeOne(p, entryName(ackEntries, name), func(all *Acks, _ time.Duration) bool {
		isNew = all.Name == ""
		all.Store, all.Name = p.Store, name
		if !change(all) {
			isNew = false
			return false
		}
		all.keep(mostAcks)
		return true
	})
	if err == nil && isNew {
		ctx, cancel := context.WithTimeout(context.Background(), stateWait)
		defer cancel()
		_ = p.documents().Prune(ctx, ackEntries, acksAge) // else when the next one comes
	}
	return err
}

// RenameAcks gives what an actor acknowledged to another name, besides what was
// acknowledged under that.
func (p Place) RenameAcks(name, to string) error {
	was, err := p.Acks(name)
	if err != nil || len(was.Items) == 0 && was.First.IsZero() {
		return err
	}
	return p.ChangeAcks(to, func(a *Acks) bool {
		*a = a.with(was)
		return true
	})
}

// Seen is what one work tree remembers of its store between two commands.
type Seen struct {
	Left   string   `json:"left"`   // the stamp of the store as stig last wrote it, or found nothing lost
	Looked string   `json:"looked"` // the stamp of the store when Lost was worked out
	Lost   []string `json:"lost"`   // what was lost then, by name
	Told   []string `json:"told"`   // what of it was reported
}

// Seen reads what this work tree remembers. What cannot be read is nothing.
func (p Place) Seen() (s Seen) {
	for _, dir := range p.dirs() {
		if readJSON(p.seenFile(dir), &s) == nil && s.Left+s.Looked != "" {
			return s
		}
	}
	return Seen{}
}

// Remember stores what this work tree remembers.
func (p Place) Remember(s Seen) error {
	return p.inDir(func(dir string) error { return replaceJSON(p.seenFile(dir), s) })
}

// seenFile is named after the work tree and the store in it.
func (p Place) seenFile(dir string) string {
	sum := sha256.Sum256([]byte(p.Worktree + "\x00" + p.Store))
	return filepath.Join(dir, "seen-"+hex.EncodeToString(sum[:8])+".json")
}

// Stamp tells one state of a file from another at a glance: its size and when
// it was changed.
func Stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return strings.Join([]string{info.ModTime().UTC().Format(time.RFC3339Nano), strconv.FormatInt(info.Size(), 10)}, " ")
}
