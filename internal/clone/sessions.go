package clone

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"stig/internal/process"
)

// SessionRecord is a session of an assistant's program in this clone.
type SessionRecord struct {
	Name    string          `json:"name"` // it acts under
	Host    string          `json:"host"` // the program
	ID      string          `json:"id"`   // what the program calls it
	Process process.ID      `json:"process,omitzero"`
	First   time.Time       `json:"first,omitzero"` // its first sign of life
	Seen    time.Time       `json:"seen"`           // its last one
	Ended   bool            `json:"ended,omitempty"`
	Agents  []string        `json:"agents,omitempty"` // its subagents as the program calls them, in the order of their starts
	Held    map[string]Held `json:"held,omitempty"`   // what was claimed in it, by the path of the store, a blank and the issue
}

// Held is work on an issue as it stood at the claim, the last checkpoint, or the last
// reminder of one.
type Held struct {
	As   string `json:"as"`   // who claimed it
	Base string `json:"base"` // a commit
	Work string `json:"work"` // what the work tree held beyond it
}

const (
	sessionsFile = "sessions.json"
	sessionAge   = 90 * 24 * time.Hour // after its last sign of life
	mostSessions = 500
	longestID    = 200       // bytes of what a host calls itself, a session or a subagent
	largest      = 256 << 10 // bytes of one session: the file of all is read up to 16 MiB
)

// keptAs is what stands in the registry for what a host calls something: a hash of what is
// too long, since one host must not fill the file of all.
func keptAs(id string) string {
	if len(id) <= longestID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// Sessions lists the sessions of the clone, by their last sign of life. What cannot
// be read is left out.
func (p Place) Sessions() (all []SessionRecord) {
	for _, dir := range p.dirs() {
		var some []SessionRecord
		if readJSON(filepath.Join(dir, sessionsFile), &some) == nil {
			all = append(all, some...)
		}
	}
	// Of two records of one session the later one counts: git's directory could not
	// be written at one of their times.
	slices.SortStableFunc(all, func(a, b SessionRecord) int { return b.Seen.Compare(a.Seen) })
	known := map[[2]string]bool{}
	all = slices.DeleteFunc(all, func(s SessionRecord) bool {
		key := [2]string{s.Host, s.ID}
		defer func() { known[key] = true }()
		return known[key]
	})
	slices.SortFunc(all, func(a, b SessionRecord) int { return cmp.Or(a.Seen.Compare(b.Seen), cmp.Compare(a.ID, b.ID)) })
	return all
}

// ChangeSessions replaces the sessions of the clone with what change makes of them,
// under a lock. Where change gives false nothing is written. now decides which are
// too old to keep.
func (p Place) ChangeSessions(now time.Time, change func(all []SessionRecord) ([]SessionRecord, bool)) error {
	return p.locked("sessions", func(dir string) error {
		all, changed := change(p.Sessions())
		if !changed {
			return nil
		}
		all = slices.DeleteFunc(all, func(s SessionRecord) bool {
			text, err := json.Marshal(s)
			return now.Sub(s.Seen) > sessionAge || err != nil || len(text) > largest
		})
		return replaceJSON(filepath.Join(dir, sessionsFile), all[max(0, len(all)-mostSessions):])
	})
}
