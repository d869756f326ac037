package clone

import (
	"cmp"
	"maps"
	"strings"

	"stig/internal/beads"
)

func (r Registry) key(issue string) string { return r.Place.Store + " " + issue }

// Hold records the state of the work on an issue after a claim or a checkpoint in a session. If
// As is empty, it stays as recorded.
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

// Has reports whether a session has an issue: it is in progress, and was claimed under the
// session's name, by a subagent, or in the session under another name.
func (r Registry) Has(s SessionRecord, issue *beads.Issue) bool {
	if !issue.IsClaimed() {
		return false
	}
	held, claimed := s.Held[r.key(issue.ID)]
	return issue.Assignee == s.Name || IsSession(s.Name) && BelongsTo(issue.Assignee, s.Name) || claimed && held.As == issue.Assignee
}

// SessionClaim is an issue that a session has when it is about to stop.
type SessionClaim struct {
	Issue, As string
	Due       bool   // no checkpoint today: counts if no work is recorded
	Base      string // the commit that the work is based on
	// Work identifies the changes of the work tree since a commit.
	Work func(base string) (string, error)
}

// Remind returns the claims whose work changed since it was last recorded, and records the
// current state, so that each state is reminded of once; of concurrent calls only one returns
// it. s is the session from before the claims were read: what was claimed in it since is not
// among claims, and stays recorded.
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
				continue // its state is unknown
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
		return nil, err // it would be repeated forever
	}
	return due, nil
}

// standing returns the current state of the work, relative to the recorded base.
func (c SessionClaim) standing(was Held, known bool) (Held, error) {
	base := c.Base
	if known {
		base = was.Base
	}
	work, err := c.Work(base)
	return Held{As: c.As, Base: base, Work: work}, err
}
