package actors

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/workspace"
)

// changedCommands opens why an actor is paused whose file runs something else than a
// person agreed to.
const changedCommands = "what its file runs changed: "

// Trusted refuses (fault.Found) to run what the file of an actor names, its command and
// its setup: where the repository is not trusted, and where they are others than a
// person agreed to. Then the actor is paused too, until stig worker resume or stig trust.
func Trusted(ctx context.Context, a *workspace.Run, p *clone.Profile) error {
	if p.Path == "" || p.Command+p.Setup == "" {
		return nil
	}
	trust, err := a.TrustsActor(ctx, p)
	switch {
	case err != nil:
		return err
	case !trust.Repository:
		return &fault.Error{Code: fault.Found, ID: p.Name, Reason: "what its file runs came with a repository that is not trusted here: " + whatRuns(p),
			Hint: "read " + workspace.Shortest(p.Path) + ", then type stig trust"}
	case trust.Agreed:
		return agreedSince(a, p.Name)
	}
	if err := pauseChanged(a, p); err != nil {
		return err
	}
	return &fault.Error{Code: fault.Found, ID: p.Name, Reason: "paused: " + changedCommands + whatRuns(p),
		Hint: "read " + workspace.Shortest(p.Path) + "; a person agrees with stig worker resume " + p.Name}
}

// whatRuns names what the file of an actor has run.
func whatRuns(p *clone.Profile) string {
	var parts []string
	if p.Command != "" {
		parts = append(parts, "command: "+p.Command)
	}
	if p.Setup != "" {
		parts = append(parts, "setup: "+p.Setup)
	}
	return strings.Join(parts, "; ")
}

// pauseChanged pauses an actor whose file runs what nobody agreed to. One that somebody
// paused, drained or ended stays as it is.
func pauseChanged(a *workspace.Run, p *clone.Profile) error {
	return edit(a, p.Name, func(one *clone.Presence) bool {
		why := changedCommands + whatRuns(p)
		if one.State != "" && one.State != clone.Healthy && one.State != clone.Provisioning && !forChange(*one) || one.Why == why {
			return false
		}
		one.State, one.By, one.Why, one.Until = clone.Paused, "", why, time.Time{}
		return true
	})
}

// agreedSince ends the pause of an actor to whose commands a person agreed meanwhile.
func agreedSince(a *workspace.Run, name string) error {
	place, err := placeOf(a)
	if err != nil {
		return err
	}
	if one, ok := place.Presence(name); !ok || !forChange(one) {
		return nil
	}
	return place.ChangePresence(name, func(one *clone.Presence) bool {
		if !forChange(*one) {
			return false
		}
		one.State, one.By, one.Why, one.Until = clone.Healthy, "", "", time.Time{}
		return true
	})
}

// forChange reports whether an actor is paused since its file changed.
func forChange(p clone.Presence) bool {
	return p.State == clone.Paused && p.By == "" && strings.HasPrefix(p.Why, changedCommands)
}

// byPerson refuses (fault.Found) what only a person may do, and gives their name.
func byPerson(ctx context.Context, a *workspace.Run, what string) (string, error) {
	who, err := a.MustActor(ctx)
	if err != nil {
		return "", err
	}
	return who, personOnly(a, who, what)
}

// personOnly refuses (fault.Found) what only a person may do to one who is none.
func personOnly(a *workspace.Run, who, what string) error {
	if a.ByPerson(who) {
		return nil
	}
	if a.Assistant(who) == "" {
		who = "what a worker loop started"
	}
	return &fault.Error{Code: fault.Found, Reason: fmt.Sprintf("%s: only a person may do that; this is %s", what, who),
		Hint: "ask a person with stig escalate"}
}
