package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Dreamt is what a clone knows of the dreams of one actor.
type Dreamt struct {
	Store string    `json:"store"`
	Name  string    `json:"name"`
	Until time.Time `json:"until"` // what happened up to then was dreamt of
	At    time.Time `json:"at"`    // when it dreamt last
	Said  string    `json:"said"`  // what came of it, on one line
	Count int       `json:"count"` // how often it dreamt
}

// ErrDreaming says that another process has the actor dream.
var ErrDreaming = errors.New("another process has it dream")

// Dream gives what is known of the dreams of an actor, and keeps other processes from
// having it dream until unlock. The error is ErrDreaming where one does.
func (p Place) Dream(name string) (d Dreamt, unlock func() error, err error) {
	unlock, err = p.lockSoon(p.dreamFile(name))
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", ErrDreaming, err)
	}
	if err != nil {
		return d, nil, err
	}
	return p.Dreamt(name), unlock, nil
}

// Dreamt gives what is known of the dreams of an actor, the zero value for nothing.
func (p Place) Dreamt(name string) (d Dreamt) {
	for _, dir := range p.dirs() {
		var one Dreamt
		if readJSON(filepath.Join(dir, p.dreamFile(name)), &one) == nil && one.Name != "" {
			return one
		}
	}
	return Dreamt{Store: p.Store, Name: name}
}

// RecordDream remembers how far an actor's dreams have come.
func (p Place) RecordDream(d Dreamt) error {
	d.Store = p.Store
	return p.inDir(func(dir string) error { return replaceJSON(filepath.Join(dir, p.dreamFile(d.Name)), d) })
}

// ForgetDreams removes what is known of the dreams of an actor.
func (p Place) ForgetDreams(name string) error {
	return p.remove(p.dreamFile(name), p.dreamFile(name)+".lock")
}

func (p Place) dreamFile(name string) string {
	return "dream-" + hash(p.Store) + "-" + hash(name) + ".json"
}
