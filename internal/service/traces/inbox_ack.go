package traces

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/workspace"
)

// AckRequest acknowledges items: all of them or none.
type AckRequest struct {
	Actor  string   // "" means the current actor
	Roles  []string // in addition to those in the profile
	Items  []string // ids, as from ListInbox
	All    bool     // everything not acknowledged yet
	DryRun bool
}

// Acked is the result of Ack.
type Acked struct {
	Actor  string   `json:"actor"`
	Acked  []string `json:"acked"` // in the order of the inbox
	There  []string `json:"there"` // acknowledged before
	DryRun bool     `json:"dry_run"`
}

// Ack acknowledges items of an inbox. Items that are acknowledged already stay so.
func Ack(ctx context.Context, a *workspace.Run, r AckRequest) (*Acked, error) {
	if r.All == (len(r.Items) > 0) {
		return nil, workspace.Usage("ack: takes items, or --all", "type stig inbox to see the items")
	}
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	o, err := ownerOf(ctx, a, file.Place(), InboxRequest{Actor: r.Actor, Roles: r.Roles})
	if err != nil {
		return nil, err
	}
	items, err := ItemsOf(file, dag.New(file), o.request())
	if err != nil {
		return nil, err
	}
	acked, fresh, err := o.chosen(r, items)
	if err != nil || r.DryRun || len(fresh) == 0 {
		return acked, err
	}
	if !o.known {
		return nil, &fault.Error{Code: fault.Store, Reason: "acknowledgements cannot be stored here"}
	}
	there := acked.There
	err = o.place.ChangeAcks(o.actor.Name, func(acks *clone.Acks) bool {
		acked.Acked, acked.There = []string{}, slices.Clone(there)
		known := acks.Known()
		for _, ack := range fresh { // another process of the actor may have been faster
			if known(ack.Item, ack.At) {
				acked.There = append(acked.There, ack.Item)
			} else {
				acked.Acked = append(acked.Acked, ack.Item)
			}
		}
		acks.First = earlier(acks.First, o.actor.Since)
		acks.Items = slices.DeleteFunc(acks.Items, func(ack clone.Ack) bool { return o.gone(file, ack) })
		acks.Add(fresh...)
		return true
	})
	return acked, err
}

// chosen returns the requested items, and acknowledgements for those that are new.
func (o *owner) chosen(r AckRequest, items []Item) (acked *Acked, fresh []clone.Ack, err error) {
	acked = &Acked{Actor: o.actor.Name, Acked: []string{}, There: []string{}, DryRun: r.DryRun}
	left := slices.Clone(r.Items)
	for _, item := range items {
		named := slices.Contains(left, item.ID)
		left = slices.DeleteFunc(left, func(id string) bool { return id == item.ID })
		switch {
		case !named && (!r.All || item.Acked):
		case item.Acked:
			acked.There = append(acked.There, item.ID)
		default:
			acked.Acked = append(acked.Acked, item.ID)
			fresh = append(fresh, clone.Ack{Item: item.ID, Issue: item.Issue, At: item.At})
		}
	}
	known := o.acks.Known()
	for _, id := range left {
		if !known(id, o.now.Add(time.Hour)) { // for a missing item any time counts
			return nil, nil, notThere(id, o.actor.Name, items)
		}
		acked.There = append(acked.There, id)
	}
	return acked, fresh, nil
}

// gone reports whether an acknowledgement is no longer needed. That of a missing issue is kept,
// since another branch may have the issue.
func (o *owner) gone(file *beads.Snapshot, ack clone.Ack) bool {
	i, ok := file.Index(ack.Issue)
	if !ok || !beads.IsClosed(file.At(i).Status) || o.now.Sub(ack.At) <= ItemsKept {
		return false
	}
	record, err := file.At(i).Record()
	return err == nil && LongGone(ClosedAt(file.At(i), record), ack.At, o.now)
}

// notThere returns the error for an item that is not in the inbox, with suggestions.
func notThere(id, name string, items []Item) error {
	var near []string
	for _, item := range items {
		if item.Issue == id || strings.HasPrefix(item.ID, id) || strings.HasSuffix(item.ID, "/"+id) || strings.HasPrefix(id, "t-") && len(id) > 4 && strings.HasPrefix(item.ID, id[:4]) {
			near = append(near, item.ID)
		}
	}
	hint := "type stig inbox --acked to see the items"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near[:min(3, len(near))], ", ") + "? " + hint
	}
	return workspace.Usage(fmt.Sprintf("%s: not in the inbox of %s", id, name), hint)
}
