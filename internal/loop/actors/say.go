package actors

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/workspace"
)

// SayRequest is the input of Say. State is healthy, paused, draining or maintenance.
type SayRequest struct {
	State  string
	For    time.Duration // until it expires; 0 for never
	Why    string
	DryRun bool
}

// Sayable returns the states that Say accepts.
func Sayable() []string {
	return []string{string(clone.Healthy), string(clone.Paused), string(clone.Draining), string(clone.Maintenance)}
}

// Said is the result of Say: the actor with its new state.
type Said struct {
	Actor  *Actor `json:"actor"`
	DryRun bool   `json:"dry_run"`
}

// Say sets the state of the current actor, which also counts as its sign of life, or of another
// known actor named with --actor. healthy ends the current state; only a person may do that.
func Say(ctx context.Context, a *workspace.Run, r SayRequest) (*Said, error) {
	if !slices.Contains(Sayable(), r.State) {
		return nil, workspace.Usage(fmt.Sprintf("the state must be one of %s; found %q", strings.Join(Sayable(), ", "), r.State), "type stig actor say paused --for 2h, for example")
	}
	if r.For != 0 && r.State == string(clone.Healthy) {
		return nil, workspace.Usage("--for: not allowed with healthy, which does not expire", "leave out --for")
	}
	name, err := a.MustActor(ctx)
	if err != nil {
		return nil, err
	}
	by, err := self(ctx, a)
	if err != nil {
		return nil, err
	}
	s, err := look(a)
	if err != nil {
		return nil, err
	}
	own := by == "" || by == name
	if !own && !slices.Contains(s.names(), name) {
		return nil, unknown(name)
	}
	change := func(p *clone.Presence) {
		p.State, p.By, p.Why, p.Until = clone.State(r.State), by, strings.TrimSpace(r.Why), time.Time{}
		if r.For > 0 {
			p.Until = s.now.Add(r.For)
		}
	}
	p := s.presences[name]
	if err := maySay(a, p, cmp.Or(by, name), s.now); err != nil {
		return nil, err
	}
	if r.DryRun {
		change(&p)
		s.presences[name] = p
		return &Said{s.actor(name), true}, nil
	}
	write := edit
	if own {
		write = sign
	}
	err = write(a, name, func(p *clone.Presence) bool {
		change(p)
		return true
	})
	if err != nil {
		return nil, err
	}
	if s, err = look(a); err != nil {
		return nil, err
	}
	return &Said{s.actor(name), false}, nil
}

// maySay returns an error if the caller may not replace the current state: a dead worker needs
// stig worker resume, any other state needs a person (fault.Found). A state with an expiry
// counts too, since it would also end the current one.
func maySay(a *workspace.Run, p clone.Presence, who string, now time.Time) error {
	switch stands := p.Told(now); stands {
	case "", clone.Healthy:
		return nil
	case clone.Dead:
		return &fault.Error{Code: fault.Conflict, Reason: p.Name + ": is dead", Hint: "type stig worker resume " + p.Name}
	default:
		return personOnly(a, who, fmt.Sprintf("change the state of %s (%s)", p.Name, stands))
	}
}

// self returns the current actor regardless of --actor; "" if no name is set.
func self(ctx context.Context, a *workspace.Run) (string, error) {
	alone := a.Fresh(ctx, a.Running)
	alone.Actor = ""
	return alone.ActorName(ctx)
}

// edit changes an actor's presence without counting as a sign of life.
func edit(a *workspace.Run, name string, change func(*clone.Presence) bool) error {
	place, err := placeOf(a)
	if err != nil {
		return err
	}
	return place.ChangePresence(name, change)
}
