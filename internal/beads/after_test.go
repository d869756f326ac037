package beads

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"stig/internal/testkit/sample"
)

// The snapshot after an edit equals a full reading of the new text, over a chain of edits and
// with lines longer than a block.
func TestAfter(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	text := "\xef\xbb\xbf" + string(generate(900)) + `{"_type":"memory","key":"a","value":"b"}` + "\r\n\n" +
		strings.ReplaceAll(string(generate(60)), "demo", "other") + `{"id":"last-1","title":"no newline"}`
	text = strings.Replace(text, "}\n", "}\r\n", 7)
	f := indexText(t, text)
	for round := range sample.Rounds(50) {
		tx, err := Try(f, Options{Now: time.Unix(int64(round), 0), Notes: func(string, string) error { return nil }}, func(tx *Tx) error {
			for range 1 + random.IntN(3) {
				if err := anyEdit(random, tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(tx.Changes()) == 0 { // the value it is set to was there already
			continue
		}
		next, done := "", 0
		for _, p := range tx.Patches() {
			next += text[done:p.Start] + string(p.With)
			done = int(p.End)
		}
		text = next + text[done:]
		after, err := tx.After(Source{Lines: strings.NewReader(text)})
		if err != nil || after == nil {
			t.Fatal(after, err)
		}
		want := indexText(t, text)
		if why := unlike(after, want); why != "" {
			t.Fatalf("round %d, %d bytes: %s", round, len(text), why)
		}
		f = after
	}
}

// anyEdit makes a random change to a random issue.
func anyEdit(random *rand.Rand, tx *Tx) error {
	id := tx.Snapshot().At(random.IntN(tx.Snapshot().Len())).ID
	if random.IntN(4) == 0 {
		id = tx.Snapshot().At(0).ID
	}
	switch random.IntN(4) {
	case 0:
		return tx.Set(id, Set{Notes, strings.Repeat("note ", random.IntN(2*blockSize/5))})
	case 1:
		return tx.Set(id, Set{Title, fmt.Sprint(random.IntN(1000))}, Set{Status, "in_progress"}, Set{Assignee, "ann"})
	case 2:
		return tx.AddComment(id, Comment{Author: "ann", Text: strings.Repeat("x", 1+random.IntN(500))})
	}
	return tx.Set(id, Set{Notes, ""}, Set{Description, ""})
}

func indexText(t *testing.T, text string) *Snapshot {
	t.Helper()
	f, err := NewSnapshot(Place{Path: "x"}, Source{Lines: strings.NewReader(text), Size: int64(len(text)), Summed: true})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// unlike describes how two snapshots of one text differ.
func unlike(a, b *Snapshot) string {
	if a.Size() != b.Size() || a.Sum() != b.Sum() || a.Len() != b.Len() || len(a.others) != len(b.others) {
		return fmt.Sprintf("sizes %d, %d; sums %v, %v; issues %d, %d", a.Size(), b.Size(), a.Sum(), b.Sum(), a.Len(), b.Len())
	}
	plain := func(is *Issue) Issue {
		one := *is
		one.of, one.sum = nil, 0
		return one
	}
	for i, is := range a.issues {
		if one, two := plain(is), plain(b.issues[i]); !reflect.DeepEqual(one, two) {
			return fmt.Sprintf("issue %d: %+v, want %+v", i, one, two)
		}
		if at, ok := a.Index(is.ID); !ok || at != i || is.of != a {
			return fmt.Sprintf("issue %d: %s is at %d", i, is.ID, at)
		}
	}
	for i, is := range a.others {
		if one, two := plain(is), plain(b.others[i]); !reflect.DeepEqual(one, two) || is.of != a {
			return fmt.Sprintf("line %d: %+v, want %+v", one.Line, one, two)
		}
	}
	return ""
}

// An edit that does more than change lines of issues needs a full reading.
func TestAfterNeedsReading(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		fn   func(*Tx) error
	}{
		"nothing": {`{"id":"a"}`, func(*Tx) error { return nil }},
		"new":     {`{"id":"a"}`, func(tx *Tx) error { _, err := tx.Add(New{ID: "b", Title: "b"}); return err }},
		"repeats": {`{"id":"a"}` + "\n" + `{"id":"b"}` + "\n" + `{"id":"b"}`, func(tx *Tx) error { return tx.Set("a", Set{Title, "x"}) }},
	} {
		tx, err := Try(indexText(t, c.text), Options{Now: time.Unix(0, 0)}, c.fn)
		if err != nil {
			t.Fatal(name, err)
		}
		if after, err := tx.After(Source{Lines: strings.NewReader("other")}); after != nil || err != nil {
			t.Error(name, after, err)
		}
	}
	tx, err := Try(indexText(t, `{"id":"a"}`), Options{Now: time.Unix(0, 0)}, func(tx *Tx) error { return tx.Set("a", Set{Title, "x"}) })
	if err != nil {
		t.Fatal(err)
	}
	if after, err := tx.After(Source{Lines: strings.NewReader("a text of another length")}); after != nil || err != nil {
		t.Error("another length", after, err)
	}
}
