package clone

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// SwarmRound is the work of explorers in the running round on an issue. Settled rounds are in
// the store.
type SwarmRound struct {
	Store      string              `json:"store"`
	Issue      string              `json:"issue"`
	Swarm      string              `json:"swarm"`
	Round      int                 `json:"round"`
	Operations []json.RawMessage   `json:"operations"`
	Begun      []string            `json:"begun,omitempty"`     // agents whose programs were started in this round
	Done       []string            `json:"done,omitempty"`      // agents whose programs ended in this round
	Refused    map[string][]string `json:"refused,omitempty"`   // by agent: what was not accepted of its last output
	Forgotten  bool                `json:"forgotten,omitempty"` // set if the file cannot be removed
}

// SwarmTask is the task of an explorer's run, in its record.
const SwarmTask = "swarm"

// BestOfTask is the task of a run that works on its issue beside others, for one claim.
const BestOfTask = "best-of"

// IsBesideOthers reports whether others work on the issue of a run at the same time, so that its
// result counts neither for the issue nor against its worker.
func (r Run) IsBesideOthers() bool { return r.Task == SwarmTask || r.Task == BestOfTask }

// SwarmRound returns the running round on an issue; the zero value if there is none.
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

// swarmEntries is the name prefix of running rounds.
const swarmEntries = "swarm/"

// with merges a round written elsewhere while the first place could not be written. Of
// different swarms the one elsewhere is newer: when a swarm starts, both files are removed if
// possible.
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

// ChangeSwarmRound edits the running round on an issue, unless change returns an error. change
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

// LockSwarm makes this process the only one in the clone that starts, settles or ends the swarm
// on an issue.
func (p Place) LockSwarm(ctx context.Context, issue string) (unlock func() error, err error) {
	return p.Lock(ctx, "swarm-"+hash(p.Store, issue))
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
