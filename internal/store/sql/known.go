package sql

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"strings"

	"stig/internal/beads"
)

// Line is a line that the store may have held: the issue that it is of, and its bytes
// without what ends it.
type Line struct {
	ID   string
	Text []byte
}

// Held reports for each line whether an edit found or left it in the store, as the table
// of events says. Lines that were never edited are in Text alone.
//
// Of comments that several added at the same time each event has its own alone, so a line is
// held too where an event has it without some of its last comments, and the store has those.
func (s *Store) Held(ctx context.Context, lines []Line) ([]bool, error) {
	held := make([]bool, len(lines))
	sums := map[string][]before{}
	for i, l := range lines {
		if l.ID != "" {
			addSum(sums, before{line: i}, l.Text)
		}
	}
	if err := s.eventsOf(ctx, lines, sums, func(b before) { held[b.line] = true }); err != nil {
		return nil, err
	}
	clear(sums)
	for i, l := range lines {
		if l.ID != "" && !held[i] {
			addBefore(sums, i, l.Text)
		}
	}
	later := map[int][][]byte{} // the fewest comments that stand beside what an event has
	err := s.eventsOf(ctx, lines, sums, func(b before) {
		if known, ok := later[b.line]; !ok || len(b.later) < len(known) {
			later[b.line] = b.later
		}
	})
	if err != nil {
		return nil, err
	}
	var issues []any
	for i := range later {
		issues = append(issues, []byte(lines[i].ID))
	}
	added := map[string]bool{}
	err = s.ofIssues(ctx, "SELECT issue, body FROM stig_comments WHERE issue IN ", issues, func(issue, body []byte) {
		added[string(issue)+"\n"+bare(body)] = true
	})
	for i, comments := range later {
		missing := func(c []byte) bool { return !added[lines[i].ID+"\n"+bare(c)] }
		held[i] = !slices.ContainsFunc(comments, missing)
	}
	return held, err
}

// eventsOf gives what of sums, which are by hash, an event of their issues has.
func (s *Store) eventsOf(ctx context.Context, lines []Line, sums map[string][]before, take func(before)) error {
	ids := map[string]bool{}
	var issues []any
	for _, list := range sums {
		for _, b := range list {
			if id := lines[b.line].ID; !ids[id] {
				ids[id] = true
				issues = append(issues, []byte(id))
			}
		}
	}
	return s.ofIssues(ctx, "SELECT hash_before, hash_after FROM stig_events WHERE issue IN ", issues, func(first, second []byte) {
		for _, b := range slices.Concat(sums[string(first)], sums[string(second)]) {
			take(b)
		}
	})
}

// before is a line without some comments, which others added later or at the same time.
type before struct {
	line  int // its index
	later [][]byte
}

func addSum(sums map[string][]before, b before, text []byte) {
	hash := string(sum(text))
	sums[hash] = append(sums[hash], b)
}

// addBefore adds, by their hashes, what those left of a line who added its last comments: each
// had read some of them, and added one.
func addBefore(sums map[string][]before, i int, text []byte) {
	const most = 50 // that are added to a line while somebody reads it
	r, err := beads.ParseRecord(text)
	if err != nil {
		return
	}
	p := split(r)
	n := len(p.comments)
	for read := max(0, n-most); read < n; read++ {
		for own := read; own < n; own++ {
			left := slices.Concat(p.comments[:read], p.comments[own:own+1])
			addSum(sums, before{i, slices.Concat(p.comments[read:own], p.comments[own+1:])}, parts{p.line, p.cut, left}.join())
		}
	}
}

// bare is a comment without what separates it from others.
func bare(comment []byte) string { return string(bytes.Trim(comment, ", \t\r\n")) }

// ofIssues asks about issues, some at a time, and gives the two columns of each row.
func (s *Store) ofIssues(ctx context.Context, query string, issues []any, take func(first, second []byte)) error {
	for some := range slices.Chunk(issues, 500) {
		var first, second sql.RawBytes
		err := each(ctx, s.DB(), query+"(?"+strings.Repeat(", ?", len(some)-1)+")", some, func() { take(first, second) }, &first, &second)
		if err != nil {
			return s.explain(err)
		}
	}
	return nil
}
