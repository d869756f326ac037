package clone

import (
	"cmp"
	"maps"
	"strings"

	"stig/internal/beads"
)

func (r Registry) key(issue string) string { return r.Place.Store + " " + issue }

// Hold records how work on an issue stands that somebody claimed in a session, or
// checkpointed: without As it is whoever claimed it.
func (r Registry) Hold(s SessionRecord, issue string, held Held) error {
	return r.change(s.Host, s.ID, func(s *SessionRecord) bool {
		if s.Held == nil {
			s.Held = map[string]Held{}
		}
		held.As = cmp.Or(held.As, s.Held[r.key(issue)].As)
		s.Held[r.key(issue)] = held
		return true
	})
}

// Has reports whether an issue is a session's: in progress, and claimed under the name
// of the session, by one of its subagents, or in it under another name.
func (r Registry) Has(s SessionRecord, issue *beads.Issue) bool {
	if !issue.IsClaimed() {
		return false
	}
	held, claimed := s.Held[r.key(issue.ID)]
	return issue.Assignee == s.Name || IsSession(s.Name) && BelongsTo(issue.Assignee, s.Name) || claimed && held.As == issue.Assignee
}

// SessionClaim is an issue that a session has, as it stands when the session is to stop.
type SessionClaim struct {
	Issue, As string
	Due       bool   // no checkpoint of today: counts where nothing is recorded of the work
	Base      string // the commit that the work is beyond
	// Work gives what the work tree holds beyond a commit.
	Work func(base string) (string, error)
}

// Remind picks the claims whose work changed since it was last recorded, and records
// how it stands now, so that the same work is reminded of once. Of several that ask at
// once one is told. The session is as it was before the claims were read: what was claimed in
// it since is none of them, and stays.
func (r Registry) Remind(s SessionRecord, claims []SessionClaim) (due []string, err error) {
	known := s.Held
	err = r.change(s.Host, s.ID, func(s *SessionRecord) bool {
		before, held := s.Held, map[string]Held{}
		for key, other := range before {
			if _, was := known[key]; !was || !strings.HasPrefix(key, r.key("")) { // or of another store
				held[key] = other
			}
		}
		for _, c := range claims {
			was, known := before[r.key(c.Issue)]
			now, err := c.standing(was, known)
			if err != nil {
				continue // nothing can be said of it
			}
			if c.Due && !known || known && now.Work != was.Work {
				due = append(due, c.Issue)
				now.Base = c.Base
				now.Work, _ = c.Work(c.Base)
			}
			held[r.key(c.Issue)] = now
		}
		s.Held = held
		return !maps.Equal(before, held)
	})
	if err != nil {
		return nil, err // it would be reminded of again and again
	}
	return due, nil
}

// standing is how work stands, beyond the commit that it was last recorded beyond.
func (c SessionClaim) standing(was Held, known bool) (Held, error) {
	base := c.Base
	if known {
		base = was.Base
	}
	work, err := c.Work(base)
	return Held{As: c.As, Base: base, Work: work}, err
}
