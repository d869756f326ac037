package night

import (
	"context"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/forge"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// Seen is what the last synchronization of this clone read on the forge.
type Seen struct {
	At      time.Time   `json:"at"`
	Trouble string      `json:"trouble"` // why the forge could not be asked; "" if it could
	Issues  []Requested `json:"issues"`
}

// Stranger is a remark of somebody who may not write to the repository. People see it; it is in
// no prompt.
type Stranger struct {
	Author string `json:"author"`
	Text   string `json:"text"`
}

const (
	mostStrangers = 20  // remarks that are kept of a request
	strangerWords = 500 // characters of each
)

// stranger keeps the remark of somebody who may not write to the repository.
func (r *Requested) stranger(m forge.Remark) {
	one := Stranger{visible.OneLine(m.Author), visible.Clipped(visible.HideSecrets(workspace.Visible(strings.TrimSpace(m.Text))), strangerWords)}
	if len(r.Strangers) < mostStrangers && !slices.Contains(r.Strangers, one) {
		r.Strangers = append(r.Strangers, one)
	}
}

// Turn says whose turn it is.
func (r Requested) Turn() string {
	words := map[signals.ReviewState]string{
		signals.ReviewDraft: "its checks run on the forge", signals.ReviewOpen: "waits for reviewers", signals.ReviewFeedback: "a worker answers its reviewers",
		signals.ReviewClosed: "closed without a merge", signals.ReviewLanded: "landed", signals.ReviewReverted: "reverted",
	}[r.State]
	if r.Rounds > 0 {
		words += ", " + visible.Counted(r.Rounds, "round") + " of remarks"
	}
	if len(r.Failed) > 0 {
		words += ", failed: " + visible.Some(r.Failed, 3)
	}
	return words
}

// seenKind is the kind under which a clone keeps Seen.
const seenKind = "seen"

// ReadSeen returns what the last synchronization of a clone read.
func ReadSeen(place clone.Place) (s Seen) {
	place.Saved(seenKind, "", &s)
	return s
}

// addTo completes requests with what is known of them from the forge.
func (s Seen) addTo(list []Requested) {
	for i := range list {
		for _, one := range s.Issues {
			if one.ID == list[i].ID && one.Request == list[i].Request {
				list[i].Failed, list[i].Strangers = one.Failed, one.Strangers
			}
		}
	}
}

// HideStrangers removes the words of strangers, not their names, from what an assistant reads.
func HideStrangers(list []Requested) {
	for i := range list {
		list[i].Strangers = slices.Clone(list[i].Strangers)
		for k := range list[i].Strangers {
			list[i].Strangers[k].Text = "(only people are shown this)"
		}
	}
}

// Sync compares the issues with requests with the forge and its default branch. It closes an
// issue whose change is there, reopens one whose change was reverted, asks about a request that
// was closed without a merge, and gives reviewers' remarks to the worker. What fails for one
// issue is said of it, and the others go on.
func Sync(ctx context.Context, a *workspace.Run, dryRun bool) (*Synced, error) {
	done, err := synchronize(ctx, a, dryRun)
	place, e := a.LivePlace()
	if e == nil && !dryRun && ctx.Err() == nil {
		e = keepSeen(a, place, done, err)
	}
	if e != nil {
		a.Warn("what the forge said was not kept: %v", e)
	}
	if done != nil && !a.ByPerson(a.Actor) {
		HideStrangers(done.Issues)
	}
	return done, err
}

// keepSeen stores what a synchronization read, or why it read nothing.
func keepSeen(a *workspace.Run, place clone.Place, done *Synced, trouble error) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	seen := ReadSeen(place)
	if seen.At, seen.Trouble = now, ""; trouble != nil {
		seen.Trouble = visible.OneLine(visible.HideSecrets(trouble.Error()))
	} else {
		seen.Issues = done.Issues
	}
	return place.Save(seenKind, "", seen)
}

// SyncDue calls Sync unless this clone did so lately.
func SyncDue(ctx context.Context, a *workspace.Run, every time.Duration) error {
	place, err := a.LivePlace()
	if err != nil {
		return err
	}
	now, err := a.Clock()
	if err != nil {
		return err
	}
	if age := now.Sub(ReadSeen(place).At); 0 <= age && age < every {
		return nil
	}
	_, err = Sync(ctx, a, false)
	return err
}
