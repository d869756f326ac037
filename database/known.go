package database

import (
	"context"
	"errors"
	"strings"
)

// Line is a line that the store may have held: the issue that it is of, and its bytes
// without what ends it.
type Line struct {
	ID   string
	Text []byte
}

// Held reports for each line whether an edit found or left it in the store, as the table
// of events says. Lines that were never edited are in Text alone.
func (s *Store) Held(ctx context.Context, lines []Line) ([]bool, error) {
	held := make([]bool, len(lines))
	sums := map[string][]int{} // by hash
	var issues []any
	for i, l := range lines {
		if l.ID != "" {
			issues = append(issues, []byte(l.ID))
			sums[string(sum(l.Text))] = append(sums[string(sum(l.Text))], i)
		}
	}
	const most = 500 // of one statement
	for len(issues) > 0 {
		n := min(len(issues), most)
		rows, err := s.DB().QueryContext(ctx, "SELECT hash_before, hash_after FROM stig_events WHERE issue IN (?"+strings.Repeat(", ?", n-1)+")", issues[:n]...)
		if err != nil {
			return nil, s.explain(err)
		}
		issues = issues[n:]
		for rows.Next() {
			var before, after []byte
			if err := rows.Scan(&before, &after); err != nil {
				return nil, s.explain(errors.Join(err, rows.Close()))
			}
			for _, hash := range [][]byte{before, after} {
				for _, i := range sums[string(hash)] {
					held[i] = true
				}
			}
		}
		if err := rows.Err(); err != nil {
			return nil, s.explain(err)
		}
	}
	return held, nil
}
