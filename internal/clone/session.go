package clone

import (
	"slices"
	"strings"
	"time"

	"stig/internal/process"
)

// silence is how long after its last sign of life a session whose process cannot be seen counts
// as running.
const silence = 24 * time.Hour

// Registry is the sessions of a clone as one run of stig sees them.
type Registry struct {
	Place     Place
	Now       time.Time
	Ancestors []process.Ancestor // of this run, nearest first; nil if they cannot be seen
}

// Here returns the session that this run was started in: that of the nearest parent process
// with one. If the process has several active sessions, it is unknown which one.
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

// Find returns the session with a host's id.
func (r Registry) Find(host, id string) (SessionRecord, bool) {
	host, id = keptAs(host), keptAs(id)
	return first(r.Place.Sessions(), func(s SessionRecord) bool { return s.Host == host && s.ID == id })
}

// Named returns the last session that acts, or whose subagent acts, under a name.
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

// HasEnded reports whether a name is that of an ended session of this clone, or of its
// subagent. It is false for unknown sessions.
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

// MayTake reports whether who may continue what holder has: their own issues, and those that
// ended sessions of the same person left.
func (r Registry) MayTake(who, holder string) bool {
	return MayTake(who, holder) || SamePerson(who, holder) && r.HasEnded(holder)
}

// SessionStart is a host's report of a session that starts or resumes.
type SessionStart struct {
	Host, ID string
	Owner    string // the person it works for, as from Slug
	Name     string // the name it acts under; "" for a generated one
	Instead  bool   // the program cleared its context: the session replaces those in the same process
}

// Begin registers a session and returns its record; a resumed session keeps its name. If
// nothing can be written, the session has its name too.
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

// HostProcess returns the program that ran a hook: the nearest parent process that is not a
// shell; the zero value if there is none. A shell that gives its commands their own process
// groups is interactive, and what a person types there is no hook.
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

// change edits one session of the registry if edit returns true.
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

// Agent returns the name of a subagent of a session, numbered in order of their starts.
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
