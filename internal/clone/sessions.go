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

// SessionRecord is a session of an assistant in this clone.
type SessionRecord struct {
	Name    string          `json:"name"` // the actor's name
	Host    string          `json:"host"` // the program
	ID      string          `json:"id"`   // the program's id of it
	Process process.ID      `json:"process,omitzero"`
	First   time.Time       `json:"first,omitzero"` // its first sign of life
	Seen    time.Time       `json:"seen"`           // its last one
	Ended   bool            `json:"ended,omitempty"`
	Agents  []string        `json:"agents,omitempty"` // the program's ids of its subagents, in order of their starts
	Held    map[string]Held `json:"held,omitempty"`   // issues claimed in it, by the path of the store, a blank and the issue
}

// Held is the state of the work on an issue at its claim, its last checkpoint or the last
// reminder.
type Held struct {
	As   string `json:"as"`   // who claimed it
	Base string `json:"base"` // a commit
	Work string `json:"work"` // identifies the work tree's changes since Base
}

const (
	sessionsFile = "sessions.json"
	sessionAge   = 90 * 24 * time.Hour // after its last sign of life
	mostSessions = 500
	longestID    = 200       // bytes of the name of a host, a session or a subagent
	largest      = 256 << 10 // bytes of one session; the file of all sessions is read up to 16 MiB
)

// keptAs returns a host's id for the registry: hashed if it is too long, so that one host
// cannot fill the file.
func keptAs(id string) string {
	if len(id) <= longestID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// Sessions returns the sessions of the clone, by their last sign of life. It skips unreadable
// files.
func (p Place) Sessions() (all []SessionRecord) {
	for _, dir := range p.dirs() {
		var some []SessionRecord
		if readJSON(filepath.Join(dir, sessionsFile), &some) == nil {
			all = append(all, some...)
		}
	}
	// Of two records of a session the later one counts: git's directory could not be written at
	// the time of one of them.
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

// ChangeSessions replaces the sessions of the clone by the result of change, under a lock. If
// change returns false, nothing is written. Sessions that are too old at now are dropped.
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
