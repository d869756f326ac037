package clone

import (
	"slices"
	"strings"
	"time"

	"stig/internal/process"
)

// silence is after how long a session counts as ended whose process cannot be seen
// and of which nothing was heard.
const silence = 24 * time.Hour

// Registry is the sessions of a clone as one run of stig sees them.
type Registry struct {
	Place     Place
	Now       time.Time
	Ancestors []process.Ancestor // of this run, the nearest first; nil where they cannot be seen
}

// Here gives the session that this run was started in: that of the nearest process
// above it that has one. Of a process with several sessions that have not ended
// nobody can tell which it is.
func (r Registry) Here() (here SessionRecord, ok bool) {
	if len(r.Ancestors) == 0 {
		return SessionRecord{}, false
	}
	all := r.Place.Sessions()
	for _, above := range r.Ancestors {
		found := slices.DeleteFunc(slices.Clone(all), func(s SessionRecord) bool { return s.Ended || s.Process != above.ID })
		if len(found) > 0 {
			return found[0], len(found) == 1
		}
	}
	return SessionRecord{}, false
}

// Find gives the session that a host calls by an id.
func (r Registry) Find(host, id string) (SessionRecord, bool) {
	host, id = keptAs(host), keptAs(id)
	return first(r.Place.Sessions(), func(s SessionRecord) bool { return s.Host == host && s.ID == id })
}

// Named gives the session that acts under a name, or whose subagent does; of several
// the last.
func (r Registry) Named(name string) (SessionRecord, bool) {
	all := r.Place.Sessions()
	slices.Reverse(all)
	return first(all, func(s SessionRecord) bool { return s.Name == ParentActor(name) })
}

func first(all []SessionRecord, is func(SessionRecord) bool) (SessionRecord, bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return SessionRecord{}, false
}

// HasEnded reports whether a name is that of a session of this clone, or of a subagent,
// that runs no more. Of a session that is not known here that is not known.
func (r Registry) HasEnded(name string) bool {
	if !IsSession(name) {
		return false
	}
	known := false
	for _, s := range r.Place.Sessions() {
		if s.Name != ParentActor(name) {
			continue
		}
		if known = true; !r.hasEnded(s) {
			return false
		}
	}
	return known
}

func (r Registry) hasEnded(s SessionRecord) bool {
	if s.Ended {
		return true
	}
	if running, known := process.Running(s.Process); known {
		return !running
	}
	return r.Now.Sub(s.Seen) > silence
}

// MayTake reports whether somebody may go on with what holder has: with their own, and
// with what sessions of the same person left that have ended.
func (r Registry) MayTake(who, holder string) bool {
	return MayTake(who, holder) || SamePerson(who, holder) && r.HasEnded(holder)
}

// SessionStart is what a host says of a session that starts, or goes on.
type SessionStart struct {
	Host, ID string
	Owner    string // the person it works for, as Slug gives it
	Name     string // it acts under, where somebody chose one; "" has it made
	Instead  bool   // the program cleared its context: it takes the place of those in the same process
}

// Begin puts a session into the registry and gives it as it stands there: a session
// that goes on keeps its name. Where nothing can be written it has its name all the
// same.
func (r Registry) Begin(start SessionStart) (s SessionRecord, err error) {
	start.Host, start.ID = keptAs(start.Host), keptAs(start.ID)
	join := func(all []SessionRecord) ([]SessionRecord, bool) {
		all = slices.DeleteFunc(all, func(known SessionRecord) bool {
			same := known.Host == start.Host && known.ID == start.ID
			if same {
				s = known
			}
			return same
		})
		s.Host, s.ID, s.Process, s.Seen, s.Ended = start.Host, start.ID, HostProcess(r.Ancestors), r.Now, false
		if s.First.IsZero() {
			s.First = r.Now
		}
		if start.Name != "" {
			s.Name = start.Name
		}
		if s.Name == "" {
			taken := func(name string) bool {
				return slices.ContainsFunc(all, func(other SessionRecord) bool { return other.Name == name })
			}
			s.Name = SessionName(start.Owner, start.Host, start.ID, taken)
		}
		for i := range all {
			if start.Instead && s.Process.PID != 0 && all[i].Process == s.Process {
				all[i].Ended = true
			}
		}
		return append(all, s), true
	}
	if err = r.Place.ChangeSessions(r.Now, join); err != nil {
		s = SessionRecord{}
		join(r.Place.Sessions())
	}
	return s, err
}

// HostProcess finds the program that ran a hook among what the hook was started by:
// the nearest that is no shell; the zero value where none is seen. A shell that gives
// its commands process groups of their own is one that a person types into, and what
// they type is no hook of a host.
func HostProcess(above []process.Ancestor) process.ID {
	group := 0
	if self, ok := process.Self(); ok {
		group = self.Group
	}
	for _, a := range above {
		switch {
		case a.PID <= 1:
			return process.ID{}
		case !process.IsShell(strings.TrimPrefix(a.Name, "-")):
			return a.ID
		case a.Group != group:
			return process.ID{}
		}
	}
	return process.ID{}
}

// change edits one session of the registry; edit reports whether it did.
func (r Registry) change(host, id string, edit func(s *SessionRecord) bool) error {
	return r.Place.ChangeSessions(r.Now, func(all []SessionRecord) ([]SessionRecord, bool) {
		i := slices.IndexFunc(all, func(s SessionRecord) bool { return s.Host == host && s.ID == id })
		if i < 0 || !edit(&all[i]) {
			return all, false
		}
		all[i].Seen = r.Now
		return all, true
	})
}

// End records that a session has ended.
func (r Registry) End(host, id string) error {
	return r.change(host, id, func(s *SessionRecord) bool {
		was := s.Ended
		s.Ended = true
		return !was
	})
}

// Agent names a subagent of a session, by its number in the order of their starts.
func (r Registry) Agent(s SessionRecord, agent string) (name string, err error) {
	agent = keptAs(agent)
	n := len(s.Agents)
	err = r.change(s.Host, s.ID, func(s *SessionRecord) bool {
		if n = slices.Index(s.Agents, agent); n >= 0 && agent != "" {
			return false
		}
		n, s.Agents = len(s.Agents), append(s.Agents, agent)
		return true
	})
	return SubagentName(s.Name, n+1), err
}
