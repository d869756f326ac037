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

// SayRequest gives the actor another state: healthy, paused, draining or maintenance.
type SayRequest struct {
	State  string
	For    time.Duration // after which it ends by itself; 0 for never
	Why    string
	DryRun bool
}

// Sayable are the states that can be given.
func Sayable() []string {
	return []string{string(clone.Healthy), string(clone.Paused), string(clone.Draining), string(clone.Maintenance)}
}

// Said is the actor as it stands after Say.
type Said struct {
	Actor  *Actor `json:"actor"`
	DryRun bool   `json:"dry_run"`
}

// Say records how an actor is: the one that acts, which is a sign of life of it, or
// another that is named with --actor and known here. healthy ends what was said before,
// which takes a person.
func Say(ctx context.Context, a *workspace.Run, r SayRequest) (*Said, error) {
	if !slices.Contains(Sayable(), r.State) {
		return nil, workspace.Usage(fmt.Sprintf("the state must be one of %s; found %q", strings.Join(Sayable(), ", "), r.State), "type for example stig actor say paused --for 2h")
	}
	if r.For != 0 && r.State == string(clone.Healthy) {
		return nil, workspace.Usage("--for: healthy does not end by itself", "leave out --for")
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

// maySay refuses what would end a state that stands: of a dead worker that is for
// stig worker resume, and of any other for a person (fault.Found). What ends by itself
// later would end it too.
func maySay(a *workspace.Run, p clone.Presence, who string, now time.Time) error {
	switch stands := p.Told(now); stands {
	case "", clone.Healthy:
		return nil
	case clone.Dead:
		return &fault.Error{Code: fault.Conflict, Reason: p.Name + ": is dead", Hint: "type stig worker resume " + p.Name}
	default:
		return personOnly(a, who, fmt.Sprintf("end that %s is %s", p.Name, stands))
	}
}

// self is who acts whatever --actor says, "" when no name is set.
func self(ctx context.Context, a *workspace.Run) (string, error) {
	alone := a.Fresh(ctx, a.Running)
	alone.Actor = ""
	return alone.ActorName(ctx)
}

// edit changes what is known of an actor without a sign of life.
func edit(a *workspace.Run, name string, change func(*clone.Presence) bool) error {
	place, err := placeOf(a)
	if err != nil {
		return err
	}
	return place.ChangePresence(name, change)
}
