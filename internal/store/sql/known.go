package sql

import (
	"bytes"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"stig/internal/beads"
)

// Line is a line that the store may have contained: its issue, and its bytes without the
// newline.
type Line struct {
	ID   string
	Text []byte
}

// candidate is a line that the store may have contained.
type candidate struct {
	whole, bare string // hashes of the line with and without its comments
	comments    [][]byte
	held        bool
	left        int64 // the first version whose edit left the bare line; 0 for none
}

// Held reports for each line whether an edit found or left it in the store. Lines that were
// never edited are in Text only.
//
// An event has the hash of the line that the edit found. Of the line that it left it has the
// hash without comments, because others may add comments at the same time. Such a line was in
// the store with all comments up to that version, and then with each later one.
func (s *Store) Held(ctx context.Context, lines []Line) ([]bool, error) {
	all, ofIssue := make([]candidate, len(lines)), map[string][]*candidate{}
	for i, l := range lines {
		if r, err := beads.ParseRecord(l.Text); err == nil && l.ID != "" {
			p := split(r)
			all[i] = candidate{whole: string(sum(l.Text)), bare: string(p.hash()), comments: p.comments}
			ofIssue[l.ID] = append(ofIssue[l.ID], &all[i])
		}
	}
	var issue, before, after, body sql.RawBytes
	var version int64
	added, held := map[string][]comment{}, make([]bool, len(lines))
	for ids := range slices.Chunk(slices.Collect(maps.Keys(ofIssue)), 500) {
		list, args := "(?"+strings.Repeat(", ?", len(ids)-1)+")", make([]any, len(ids))
		for i, id := range ids {
			args[i] = []byte(id)
		}
		err := each(ctx, s.DB(), "SELECT issue, version, hash_before, hash_after FROM stig_events WHERE issue IN "+list, args, func() {
			for _, c := range ofIssue[string(issue)] {
				c.held = c.held || string(before) == c.whole || string(after) == c.whole
				if string(after) == c.bare && (c.left == 0 || version < c.left) {
					c.left = version
				}
			}
		}, &issue, &version, &before, &after)
		if err == nil {
			err = each(ctx, s.DB(), "SELECT issue, version, body FROM stig_comments WHERE issue IN "+list+" ORDER BY version, token, n", args, func() {
				added[string(issue)] = append(added[string(issue)], comment{version: version, body: bytes.Clone(body)})
			}, &issue, &version, &body)
		}
		if err != nil {
			return nil, s.explain(err)
		}
	}
	for i, c := range all {
		held[i] = c.held || c.left > 0 && c.begins(added[lines[i].ID])
	}
	return held, nil
}

// begins reports whether the comments of the line are the first of an issue: all up to the
// version that left the line, or more.
func (c candidate) begins(added []comment) bool {
	n := len(c.comments)
	if n > len(added) || n < len(added) && added[n].version <= c.left {
		return false
	}
	return slices.EqualFunc(c.comments, added[:n], func(own []byte, a comment) bool { return bytes.Equal(trimmedComment(own), trimmedComment(a.body)) })
}

// trimmedComment returns a comment without what separates it from others.
func trimmedComment(comment []byte) []byte { return bytes.Trim(comment, ", \t\r\n") }
