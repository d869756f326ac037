package clone

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"stig/internal/process"
)

// SwarmRound is what the explorers of an issue did in the round that runs. A settled
// round is in the store.
type SwarmRound struct {
	Store      string              `json:"store"`
	Issue      string              `json:"issue"`
	Swarm      string              `json:"swarm"`
	Round      int                 `json:"round"`
	Operations []json.RawMessage   `json:"operations"`
	Begun      []string            `json:"begun,omitempty"`     // agents whose programs a run started in this round
	Done       []string            `json:"done,omitempty"`      // agents whose programs ended in this round
	Refused    map[string][]string `json:"refused,omitempty"`   // by agent: what of its last output did not count
	Forgotten  bool                `json:"forgotten,omitempty"` // where the file that holds it cannot be removed
}

// SwarmTask is what the run of an explorer was started for, in its record.
const SwarmTask = "swarm"

// SwarmRound gives the running round on an issue; the zero value where there is none.
func (p Place) SwarmRound(issue string) (r SwarmRound, err error) {
	entries, err := p.load(entryName(swarmEntries, issue))
	for _, e := range entries {
		err = errors.Join(err, e.decode(&r))
	}
	if r.Forgotten {
		r = SwarmRound{}
	}
	return r, err
}

// swarmEntries begins the names of documents of running rounds.
const swarmEntries = "swarm/"

// with adds what was written elsewhere, from where the first place cannot be written. Of two
// swarms that in the other place is the newer: both files go when one begins, if they can.
func (r SwarmRound) with(other SwarmRound) SwarmRound {
	switch {
	case r.Swarm == "" || r.Swarm == other.Swarm && (other.Forgotten || other.Round > r.Round):
		return other
	case other.Swarm == "" || other.Forgotten || r.Swarm == other.Swarm && other.Round < r.Round:
		return r
	case r.Swarm != other.Swarm:
		return other
	}
	for _, o := range other.Operations {
		if !slices.ContainsFunc(r.Operations, func(known json.RawMessage) bool { return bytes.Equal(known, o) }) {
			r.Operations = append(r.Operations, o)
		}
	}
	return r
}

// ChangeSwarmRound edits the running round on an issue, unless change gives an error. It
// may be called more than once.
func (p Place) ChangeSwarmRound(issue string, change func(*SwarmRound) error) (err error) {
	var refused error
	err = changeOne(p, entryName(swarmEntries, issue), func(r *SwarmRound, _ time.Duration) bool {
		if r.Forgotten {
			*r = SwarmRound{}
		}
		r.Store, r.Issue = p.Store, issue
		refused = change(r)
		return refused == nil
	})
	return cmp.Or(refused, err)
}

// LockSwarm has this process alone start, settle or end the swarm on an issue, of those in
// this clone.
func (p Place) LockSwarm(ctx context.Context, issue string) (unlock func() error, err error) {
	return p.Lock(ctx, "swarm-"+hash(p.Store, issue))
}

// swarmSign is the sign of life of a process that runs the explorers of an issue.
type swarmSign struct {
	Process process.ID `json:"process"`
	Host    string     `json:"host"`
	Signs   int        `json:"signs"`
}

// swarmSigns begins the names of documents of such signs.
const swarmSigns = "swarm-run/"

// SignSwarm is a sign of life of this process, which runs the explorers of an issue and
// gives one every 20 seconds. Where another process that works on the database does so,
// other names its machine, and nothing is written. Without a database LockLoop is enough.
func (p Place) SignSwarm(issue string, self process.ID) (other string, err error) {
	if p.Documents == nil {
		return "", nil
	}
	name := entryName(swarmSigns, issue)
	err = p.change(name, func(entries []Entry) ([]Entry, bool, error) {
		e, one := Entry{Name: name}, swarmSign{}
		if other = ""; len(entries) > 0 {
			e = entries[0]
			_ = e.decode(&one) // one that cannot be read is nobody's
			if runs, _ := (Presence{Process: one.Process, Age: e.Age}).Runs(); runs && one.Process != self {
				other = cmp.Or(one.Host, "another machine")
				return nil, false, nil
			}
		}
		return []Entry{e.with(swarmSign{self, p.Host, one.Signs + 1})}, true, nil
	})
	return other, err
}

// UnsignSwarm says that this process runs the explorers of an issue no more.
func (p Place) UnsignSwarm(issue string, self process.ID) error {
	if p.Documents == nil {
		return nil
	}
	return p.drop(entryName(swarmSigns, issue), func(e Entry) bool {
		var one swarmSign
		return e.decode(&one) != nil || one.Process == self
	})
}

// ForgetSwarmRound removes the running round on an issue.
func (p Place) ForgetSwarmRound(issue string) error {
	err := p.drop(entryName(swarmEntries, issue), func(Entry) bool { return true })
	if err == nil || p.Documents != nil || p.shared == "" {
		return err
	}
	return p.ChangeSwarmRound(issue, func(r *SwarmRound) error {
		r.Operations, r.Forgotten = nil, true
		return nil
	})
}
