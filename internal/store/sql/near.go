package sql

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"stig/internal/beads"
)

// mostNear is the number of issues above which the whole store is read instead of an excerpt.
const mostNear = 10_000

// excerpt asks for an excerpt (see beads.Nearby) in one statement; every server answers it from
// one consistent state.
//
// up contains ids with their beads.Extent. It begins with the issues, the issues that point at
// them, and the issues that they name. Each round adds what these wait for, and the children of
// epics that must be closed. With STRAIGHT_JOIN each round looks up the rows of the previous
// one; without it servers read all of stig_edges.
func excerpt(scope beads.Scope) *statement {
	in, list := listed(scope.IDs)
	holding, ofEpics := "('"+strings.Join(beads.Holding(), "', '")+"')", "('waits-for')"
	if scope.Beside {
		ofEpics = "('waits-for', 'parent-child')"
	}
	q := &statement{}
	q.add("WITH RECURSIVE up (id, extent) AS (SELECT id, 2 FROM stig_lines WHERE id IN "+in, list...)
	q.add(" UNION SELECT issue, 2 FROM stig_edges WHERE target IN "+in, list...)
	q.add(" UNION SELECT target, 1 FROM stig_edges WHERE issue IN "+in+" AND type NOT IN "+holding, list...)
	q.add(" UNION SELECT e.issue, IF(e.type = 'waits-for', 2, 1) FROM (SELECT target FROM stig_edges WHERE issue IN "+in+
		" AND type = 'parent-child') p STRAIGHT_JOIN stig_edges e ON e.target = p.target WHERE e.type IN "+ofEpics, list...)
	if scope.Beside {
		q.add(" UNION SELECT s.id, 0 FROM (SELECT title_hash FROM stig_lines WHERE id IN "+in+") t STRAIGHT_JOIN stig_lines s ON s.title_hash = t.title_hash", list...)
		for _, id := range scope.IDs {
			q.add(" UNION SELECT id, 0 FROM stig_lines WHERE id > ? AND id < ?", []byte(id+"."), []byte(id+"/")) // the character after the dot
		}
	}
	if len(scope.Also) > 0 {
		also, ids := listed(scope.Also)
		q.add(" UNION SELECT id, 0 FROM stig_lines WHERE id IN "+also, ids...)
	}
	q.add(" UNION SELECT e.target, IF(e.type = 'parent-child', 0, 2) FROM up STRAIGHT_JOIN stig_edges e ON e.issue = up.id WHERE e.type IN " + holding)
	q.add(" UNION SELECT e.issue, IF(up.extent = 2, 2, 0) FROM up STRAIGHT_JOIN stig_edges e ON e.target = up.id WHERE up.extent > 0 AND e.type = 'parent-child'")
	q.add("), near (id, extent) AS (SELECT id, MAX(extent) FROM up GROUP BY id LIMIT ?) ", mostNear+1)
	q.add(ofMeta + " UNION ALL SELECT 2, l.pos, COALESCE(l.cut, -1), n.extent, l.id, l.ending, l.line FROM near n STRAIGHT_JOIN stig_lines l ON l.id = n.id" +
		" UNION ALL SELECT 3, c.version, c.n, 0, c.issue, c.token, c.body FROM near n STRAIGHT_JOIN stig_comments c ON c.issue = n.id")
	return q
}

// listed returns a list of parameters for ids.
func listed(ids []string) (in string, args []any) {
	for _, id := range ids {
		args = append(args, []byte(id))
	}
	return "(?" + strings.Repeat(", ?", len(ids)-1) + ")", args
}

// Near implements beads.Nearby, in one round trip.
func (s *Store) Near(ctx context.Context, scope beads.Scope) (*beads.Snapshot, error) {
	r, err := s.near(ctx, scope)
	return r.snapshot, s.explain(err)
}

// Copied implements beads.Nearby: what this process read last, or the local copy.
func (s *Store) Copied(most int64) *beads.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		info, err := os.Stat(filepath.Join(s.copies(), baseName))
		if err != nil || info.Size() > most {
			return nil
		}
		h, sum := s.copied()
		if sum == "" || !s.isWhole(h, sum, true) {
			return nil
		}
		s.held = h
	}
	if s.held.snapshot.Size() > most {
		return nil
	}
	return s.held.snapshot
}

// reading is a store as an edit reads it: whole, or an excerpt.
type reading struct {
	snapshot *beads.Snapshot
	version  int64
	held     *held // nil for an excerpt
}

func (s *Store) whole(ctx context.Context) (reading, error) {
	h, err := s.refresh(ctx)
	if err != nil {
		return reading{}, err
	}
	return reading{h.snapshot, h.Version, h}, nil
}

func (s *Store) near(ctx context.Context, scope beads.Scope) (reading, error) {
	if scope.IsWhole() {
		return s.whole(ctx)
	}
	n, err := s.since(ctx, excerpt(scope))
	if err != nil {
		return reading{}, err
	}
	if len(n.lines) > mostNear {
		return s.whole(ctx)
	}
	snapshot, err := n.part(s.place, scope)
	return reading{snapshot: snapshot, version: n.version}, err
}

// part indexes the lines of an answer to excerpt.
func (n *news) part(p beads.Place, scope beads.Scope) (*beads.Snapshot, error) {
	e := &beads.Excerpt{Scope: scope, Extents: map[string]beads.Extent{}, Absent: map[string]bool{}}
	var text []byte
	for _, l := range n.lines {
		e.Extents[l.id], text = l.extent, append(text, l.text...)
	}
	if n.shape&isUnended != 0 {
		text = bytes.TrimRight(text, "\r\n")
	}
	f, err := beads.NewSnapshot(p, beads.Source{Lines: bytes.NewReader(text), Size: int64(len(text)), Excerpt: e, Prefix: func(fallback bool) (string, error) {
		if !fallback {
			return "", nil
		}
		return n.prefix, nil
	}})
	if err != nil {
		return nil, err
	}
	for _, id := range scope.Also {
		e.Absent[id] = true // unless it is among them
	}
	for _, id := range scope.IDs {
		e.Extents[id] = beads.Around
		if scope.Beside {
			e.Extents[id] = beads.Beside
		}
	}
	for i := range f.Len() {
		issue := f.At(i)
		asked := e.Extents[issue.ID] >= beads.Around
		for _, d := range issue.Rows() {
			if asked || beads.IsHolding(d.Type) {
				e.Absent[d.On] = true
			}
			if asked && scope.Beside && d.Type == "parent-child" {
				e.Extents[d.On] = max(e.Extents[d.On], beads.Children)
			}
		}
	}
	return f, nil
}
