// Package load runs many writers on one store, breaks the connection between them and the
// store, and checks afterwards what the store kept. Only tests import it.
//
// An edit of a Plan changes two issues and adds a comment, so that the store itself shows which
// edits were made: the comments list them, each count is their number, and the two issues of a
// pair never differ. Each writer keeps a Log of the edits it began and of their answers; Judge
// compares the logs with the store.
//
// The package does not know the kind of store: writers get a beads.Store.
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

// Plan is the distribution of edits over writers and issues.
type Plan struct {
	Writers int
	Each    int // edits of one pair before the writer goes on to its next
	Pairs   int // of each writer
	Shared  int // one edit in this many changes the pair that all writers share; 0 for none
	Beside  int // issues that nobody writes
}

// shared is the writer number for the pair that all writers share.
const shared = -1

func pair(writer, n int) (a, b string) {
	name := "mole-all"
	if writer != shared {
		name = fmt.Sprintf("mole-w%dp%d", writer, n)
	}
	return name + "a", name + "b"
}

// Target returns the pair of a writer's nth edit, n from 1.
func (p Plan) Target(writer, n int) (a, b string) {
	if p.Shared > 0 && n%p.Shared == 0 {
		return pair(shared, 0)
	}
	return pair(writer, n/p.Each%p.Pairs)
}

// Prefix is the prefix of the ids.
const Prefix = "mole"

// Text returns the initial text of the store.
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

// Name returns the comment of an edit.
func Name(writer, n int) string { return fmt.Sprintf("%d.%d", writer, n) }

// Write makes one edit of a pair: it increments both counts and adds a comment to the first
// issue.
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
