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

// Acks is the acknowledgements of an actor.
type Acks struct {
	Store string    `json:"store"` // path of the store in its work tree
	Name  string    `json:"name"`
	First time.Time `json:"first,omitzero"` // when its inbox starts, if there is no presence
	Floor time.Time `json:"floor,omitzero"` // items up to this time count as acknowledged
	Items []Ack     `json:"items"`          // oldest first
}

const (
	// mostAcks limits the acknowledgements stored per actor. Above it the oldest are dropped,
	// and the floor rises to their time.
	mostAcks = 1000
	// acksAge is how long an actor's acknowledgements are kept after the last one.
	acksAge = presenceAge
)

// Known returns a function that reports whether an item was acknowledged; at is the item's
// time.
func (a Acks) Known() func(item string, at time.Time) bool {
	known := map[string]bool{}
	for _, ack := range a.Items {
		known[ack.Item] = true
	}
	return func(item string, at time.Time) bool { return known[item] || !a.Floor.IsZero() && !at.After(a.Floor) }
}

// Add adds the acknowledgements of new items.
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

// with returns the union of two records of an actor.
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

// keep drops the oldest items above a limit.
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

// Acks reads the acknowledgements of an actor. The error names what cannot be read, which
// counts as empty.
func (p Place) Acks(name string) (all Acks, err error) {
	entries, err := p.load(entryName(ackEntries, name))
	for _, e := range entries {
		err = errors.Join(err, e.decode(&all))
	}
	all.Store, all.Name = p.Store, name
	return all, err
}

// ChangeAcks edits the acknowledgements of an actor, without blocking other actors. change may
// be called more than once; if it returns false, nothing is written. The first acknowledgement
// of a new actor prunes those of actors that acknowledged nothing for acksAge.
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
		_ = p.documents().Prune(ctx, ackEntries, acksAge) // else with the next new actor
	}
	return err
}

// RenameAcks adds the acknowledgements of an actor to those of another name.
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

// FreshAnswer is an answer that a person gave on the board and may undo.
type FreshAnswer struct {
	Issue    string    `json:"issue"`
	Question string    `json:"question"` // its hash
	Words    string    `json:"words"`    // the option or the text
	By       string    `json:"by"`
	Edit     string    `json:"edit"` // its record in the journal
	At       time.Time `json:"at"`
}

// Reconsider is how long loops leave the issue of a fresh answer alone.
const Reconsider = time.Minute

// freshAnswers is the document of all fresh answers of a store.
type freshAnswers struct {
	List []FreshAnswer `json:"list"` // oldest first
}

func (a freshAnswers) with(b freshAnswers) freshAnswers {
	for _, one := range b.List {
		if !slices.Contains(a.List, one) {
			a.List = append(a.List, one)
		}
	}
	return a
}

const (
	answerEntries = "answers/"
	boardAnswers  = answerEntries + "board"
	answersAge    = time.Hour
)

// FreshAnswers returns the answers of the last hour, oldest first.
func (p Place) FreshAnswers() ([]FreshAnswer, error) {
	entries, err := p.load(boardAnswers)
	var all freshAnswers
	for _, e := range entries {
		err = errors.Join(err, e.decode(&all))
	}
	return all.List, err
}

// KeepAnswer adds a fresh answer.
func (p Place) KeepAnswer(one FreshAnswer) error {
	return p.changeAnswers(func(list []FreshAnswer) []FreshAnswer {
		return append(slices.DeleteFunc(list, func(old FreshAnswer) bool { return one.At.Sub(old.At) > answersAge }), one)
	})
}

// ForgetAnswer removes the fresh answer of an edit, which was undone.
func (p Place) ForgetAnswer(edit string) error {
	return p.changeAnswers(func(list []FreshAnswer) []FreshAnswer {
		return slices.DeleteFunc(list, func(old FreshAnswer) bool { return old.Edit == edit })
	})
}

func (p Place) changeAnswers(change func([]FreshAnswer) []FreshAnswer) error {
	return changeOne(p, boardAnswers, func(all *freshAnswers, _ time.Duration) bool {
		all.List = change(all.List)
		return true
	})
}

// Seen is what a work tree remembers of its store between commands.
type Seen struct {
	Left   string   `json:"left"`   // the store's stamp after stig's last write, or when nothing was found lost
	Looked string   `json:"looked"` // the store's stamp when Lost was determined
	Lost   []string `json:"lost"`   // names of what was lost then
	Told   []string `json:"told"`   // what of Lost was reported
}

// Seen reads what this work tree remembers; the zero value if nothing can be read.
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

// seenFile returns the path of the file for this work tree and store.
func (p Place) seenFile(dir string) string {
	sum := sha256.Sum256([]byte(p.Worktree + "\x00" + p.Store))
	return filepath.Join(dir, "seen-"+hex.EncodeToString(sum[:8])+".json")
}

// Stamp returns the size and the modification time of a file, to detect changes; "" if there is
// no file.
func Stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return strings.Join([]string{info.ModTime().UTC().Format(time.RFC3339Nano), strconv.FormatInt(info.Size(), 10)}, " ")
}
