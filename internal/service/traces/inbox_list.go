package traces

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/gate"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/orient"
)

// InboxRequest says whose inbox to list.
type InboxRequest struct {
	Actor string   // "" means the current actor
	Roles []string // in addition to those in the profile
	Acked bool     // include acknowledged items
}

// Inbox is what concerns an actor.
type Inbox struct {
	Actor string    `json:"actor"`
	Since time.Time `json:"since"` // older items are not listed
	Items []Item    `json:"items"` // oldest first, those of one issue together

	Unreadable []workspace.Unread `json:"unreadable,omitempty"`

	All       bool `json:"-"` // of all projects
	Questions int  `json:"-"` // waiting for a person that the actor, if a person, may answer; set only by ReadInbox
	kind      string
}

// ListInbox lists what concerns an actor and is not acknowledged.
func ListInbox(ctx context.Context, a *workspace.Run, r InboxRequest) ([]Item, error) {
	in, err := ReadInbox(ctx, a, r)
	if err != nil {
		return nil, err
	}
	return in.Items, nil
}

// ReadInbox is ListInbox, with the actor and since when items are listed.
func ReadInbox(ctx context.Context, a *workspace.Run, r InboxRequest) (*Inbox, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph := dag.New(file)
	in, err := InboxIn(ctx, a, file, graph, r)
	if err != nil || in.kind != clone.Human {
		return in, err
	}
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	waiting, err := orient.Escalations(file, graph, orient.Rules{Schema: a.Schema, Now: now})
	for _, q := range waiting {
		if q.Hash != "" && !strings.EqualFold(q.By, in.Actor) {
			in.Questions++
		}
	}
	return in, err
}

// ReadInboxes is ReadInbox for all projects.
func ReadInboxes(ctx context.Context, a *workspace.Run, r InboxRequest) (*Inbox, error) {
	var all *Inbox
	unread, err := a.Everywhere(ctx, func(in *workspace.Run) error {
		box, err := ReadInbox(ctx, in, r)
		if err != nil {
			return err
		}
		for i := range box.Items {
			if in.Alone {
				break
			}
			one := &box.Items[i]
			one.Project, one.Stig, one.Command = in.Project, in.Typed("stig "), in.Typed(one.Command)
		}
		if all == nil {
			all = box
			return nil
		}
		all.Items, all.Questions, all.Since = append(all.Items, box.Items...), all.Questions+box.Questions, earlier(all.Since, box.Since)
		return nil
	})
	if err != nil {
		return nil, err
	}
	all.Items, all.Unreadable, all.All = grouped(all.Items), unread, true
	return all, nil
}

// InboxIn is ReadInbox for a store that is open already.
func InboxIn(ctx context.Context, a *workspace.Run, file *beads.Snapshot, graph *dag.Graph, r InboxRequest) (*Inbox, error) {
	o, err := ownerOf(ctx, a, file.Place(), r)
	if err != nil {
		return nil, err
	}
	items, err := ItemsOf(file, graph, o.request())
	if err != nil {
		return nil, err
	}
	in := &Inbox{Actor: o.actor.Name, Since: o.actor.Since, Items: []Item{}, kind: o.actor.Kind}
	for _, item := range items {
		if item.Acked && !r.Acked {
			continue
		}
		if a.Actor != "" {
			item.Command = as(item.Command, a.Actor)
		}
		in.Items = append(in.Items, item)
	}
	return in, nil
}

// as adds --actor to a command that takes it.
func as(command, name string) string {
	if !strings.HasPrefix(command, "stig trace add ") && !strings.HasPrefix(command, "stig claim ") {
		return command
	}
	return command + " --actor " + visible.Quoted(name)
}

// owner is the actor of an inbox, with what the clone knows about it.
type owner struct {
	actor Owner
	acks  clone.Acks
	now   time.Time

	place    clone.Place
	known    bool // place is set
	readOnly bool
	failed   gate.Verdicts
}

func (o *owner) request() Query {
	registry := clone.Registry{Place: o.place, Now: o.now}
	return Query{
		For: o.actor, Now: o.now, Acked: o.acks.Known(),
		MayTake: func(holder string) bool { return o.known && registry.MayTake(o.actor.Name, holder) },
		Claimed: o.claimed,
		Failed:  o.lastFailed,
	}
}

// claimed returns when claims of issues began. Unreadable claims are unknown.
func (o *owner) claimed(issues []string) map[string]time.Time {
	if !o.known {
		return nil
	}
	began := map[string]time.Time{}
	claims, _ := o.place.Claims(issues...)
	for _, l := range claims.Leases {
		began[l.Issue] = o.past(l.Since)
	}
	return began
}

func (o *owner) lastFailed(issue string) (FailedChecks, bool) {
	if o.failed.Dir == "" {
		return FailedChecks{}, false
	}
	v, ok := o.failed.Failed(issue)
	if !ok {
		return FailedChecks{}, false
	}
	var texts []string
	for _, c := range v.Outcomes() {
		if !c.Passed() && c.Exit != gate.ExitNotRun {
			texts = append(texts, fmt.Sprintf("exit %d: %s", c.Exit, c.Named()))
		}
	}
	return FailedChecks{At: v.Time(), By: v.Actor(), Text: strings.Join(texts, "; ")}, true
}

// ownerOf returns the owner of the requested inbox.
func ownerOf(ctx context.Context, a *workspace.Run, store beads.Place, r InboxRequest) (*owner, error) {
	o, err := ownerIn(ctx, a, store, r)
	if err == nil && o.actor.Since.IsZero() {
		o.actor.Since = o.searched().UTC().Truncate(time.Second)
	}
	return o, err
}

// ownerIn is ownerOf with only what the clone knows right away. Since is zero if the actor's
// first appearance must be searched for.
func ownerIn(ctx context.Context, a *workspace.Run, store beads.Place, r InboxRequest) (*owner, error) {
	o := &owner{actor: Owner{Name: r.Actor, Roles: slices.Clone(r.Roles)}, readOnly: a.ReadOnly}
	var err error
	if o.now, err = a.Clock(); err != nil {
		return nil, err
	}
	if o.actor.Name == "" {
		if o.actor.Name, err = a.MustActor(ctx); err != nil {
			return nil, err
		}
	}
	o.profiled(a, store)
	if o.place, err = a.Live(store); err != nil {
		o.actor.Kind = o.kind(a, "") // no live state, as for a store that is not a file
		return o, nil
	}
	o.known = true
	if o.acks, err = o.place.Acks(o.actor.Name); err != nil && o.place.Documents != nil {
		a.WarnOfShared(err)
	} else if err != nil {
		a.Warn("cannot read the acknowledgements of %s: %v", o.actor.Name, err)
	}
	presence, _ := o.place.Presence(o.actor.Name)
	o.actor.Kind = o.kind(a, presence.Kind)
	o.actor.Since = o.first(presence).UTC().Truncate(time.Second) // the precision of times in stores
	if o.place.Tree.Own != "" {
		o.failed.Dir = filepath.Join(o.place.Tree.Own, "stig", "verdicts", filepath.FromSlash(o.place.Store))
	}
	return o, nil
}
