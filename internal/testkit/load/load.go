// Package load has many writers use one store, breaks what is between them and the store,
// and proves afterwards what the store kept. Tests alone import it.
//
// An edit of a Plan changes two issues and adds a comment, so that the store itself says
// which edits were made: the comments list them, each count is how many there are, and
// the two issues of a pair never differ. Each writer keeps a Log of what it began and of
// what it was answered; Judge compares those with the store.
//
// The package does not know what keeps the store: writers get a beads.Store.
//
//	err := load.Write(ctx, store, now, "load-1", "load-2", load.Name(writer, n))
//	verdict, err := load.Judge(plan, text, logs)
package load

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"stig/internal/beads"
)

// Plan is who writes what.
type Plan struct {
	Writers int
	Each    int // edits of one pair before the writer goes on to its next
	Pairs   int // of each writer
	Shared  int // every so many edits one is of the pair that all share; 0 for none
	Beside  int // issues that nobody writes
}

// shared is the pair of all writers, in the place of the number of one.
const shared = -1

func pair(writer, n int) (a, b string) {
	name := "mole-all"
	if writer != shared {
		name = fmt.Sprintf("mole-w%dp%d", writer, n)
	}
	return name + "a", name + "b"
}

// Target is the pair of the nth edit of a writer, n from 1 on.
func (p Plan) Target(writer, n int) (a, b string) {
	if p.Shared > 0 && n%p.Shared == 0 {
		return pair(shared, 0)
	}
	return pair(writer, n/p.Each%p.Pairs)
}

// Prefix is that of the ids.
const Prefix = "mole"

// Text is the store before anybody wrote.
func (p Plan) Text() []byte {
	var text strings.Builder
	line := func(id string) {
		fmt.Fprintf(&text, `{"id":%q,"title":"Build the mole","description":"0","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-01T08:00:00Z","updated_at":"2026-11-01T08:00:00Z"}`+"\n", id)
	}
	both := func(a, b string) { line(a); line(b) }
	both(pair(shared, 0))
	for w := range p.Writers {
		for n := range p.Pairs {
			both(pair(w, n))
		}
	}
	for n := range p.Beside {
		line(fmt.Sprintf("mole-x%d", n))
	}
	return []byte(text.String())
}

// Name is what the comment of an edit says.
func Name(writer, n int) string { return fmt.Sprintf("%d.%d", writer, n) }

// Write makes one edit of a pair: both counts grow by one, and the first issue gets a
// comment.
func Write(ctx context.Context, s beads.Store, now time.Time, a, b, name string) error {
	_, err := s.Edit(ctx, beads.Options{Now: now}, func(tx *beads.Tx) error {
		for _, id := range []string{a, b} {
			record, err := tx.Record(id)
			if err != nil {
				return err
			}
			count, err := strconv.Atoi(record.Text(beads.Description))
			if err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
			if err := tx.Set(id, beads.Set{Key: beads.Description, Text: strconv.Itoa(count + 1)}); err != nil {
				return err
			}
		}
		return tx.AddComment(a, beads.Comment{Author: "load", Text: name, CreatedAt: now})
	})
	return err
}
