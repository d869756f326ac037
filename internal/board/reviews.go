package board

import (
	"fmt"
	"slices"
	"time"

	"stig/internal/service/night"
	"stig/signals"
)

// reviews is the open requests for review.
type reviews struct {
	List    []night.Requested
	Trouble string // why the forge could not be asked; "" if it could
}

// only returns the request of one issue.
func (r reviews) only(id string) reviews {
	r.List = slices.DeleteFunc(slices.Clone(r.List), func(one night.Requested) bool { return one.ID != id })
	if len(r.List) == 0 {
		r.Trouble = ""
	}
	return r
}

// syncEvery is how often the forge is asked while somebody looks.
const syncEvery = time.Minute

// reviews returns the open requests. If work lands by review, it also asks the forge, which takes
// a while and changes the store.
func (v *view) reviews() (shown reviews, err error) {
	if _, err := v.Discover(); err != nil || !v.Config.ByReview() {
		return shown, err
	}
	if v.MayAll() {
		_, _ = looked(v, "forge", shortly, false, func(v *view) (bool, error) {
			return true, night.SyncDue(v.ctx, v.Run, syncEvery)
		}) // what fails is in Seen
	}
	all, err := kept(v, "requests", shortly, func(v *view) (*night.Synced, error) { return night.Requests(v.Run) })
	if err != nil {
		return shown, err
	}
	for _, one := range all.Issues {
		if one.State != signals.ReviewLanded && one.State != signals.ReviewReverted {
			shown.List = append(shown.List, one)
		}
	}
	place, err := v.LivePlace()
	if len(shown.List) > 0 {
		shown.Trouble = night.ReadSeen(place).Trouble
	}
	return shown, err
}

// inReview returns what is said of the state of each issue in review.
func (v *view) inReview() (map[string]string, error) {
	shown, err := v.reviews()
	words := map[string]string{}
	for _, one := range shown.List {
		words[one.ID] = fmt.Sprintf("in review, request #%d", one.Request)
	}
	return words, err
}
