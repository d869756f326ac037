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

// changedCommands is the prefix of the reason why an actor is paused whose commands changed
// since a person agreed to them.
const changedCommands = "what its file runs changed: "

// Trusted returns an error (fault.Found) if the command and the setup in an actor's file must
// not run: because the repository is not trusted, or because they differ from what a person
// agreed to. In the second case it also pauses the actor until stig worker resume or stig
// trust.
func Trusted(ctx context.Context, a *workspace.Run, p *clone.Profile) error {
	if p.Path == "" || p.Command+p.Setup == "" {
		return nil
	}
	trust, err := a.TrustsActor(ctx, p)
	switch {
	case err != nil:
		return err
	case !trust.Repository:
		return &fault.Error{Code: fault.Found, ID: p.Name, Reason: "its commands come from a repository that is not trusted here: " + whatRuns(p),
			Hint: "read " + workspace.Shortest(p.Path) + ", then type stig trust"}
	case trust.Agreed:
		return agreedSince(a, p.Name)
	}
	if err := pauseChanged(a, p); err != nil {
		return err
	}
	return &fault.Error{Code: fault.Found, ID: p.Name, Reason: "paused: " + changedCommands + whatRuns(p),
		Hint: "read " + workspace.Shortest(p.Path) + "; a person approves it with stig worker resume " + p.Name}
}

// whatRuns returns the commands in an actor's file.
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

// pauseChanged pauses an actor whose commands nobody agreed to. An actor that was paused,
// drained or killed by somebody stays as it is.
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

// agreedSince ends the pause of an actor once a person has agreed to its commands.
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

// forChange reports whether an actor is paused because its commands changed.
func forChange(p clone.Presence) bool {
	return p.State == clone.Paused && p.By == "" && strings.HasPrefix(p.Why, changedCommands)
}

// byPerson returns the name of the current actor, or an error (fault.Found) if it is not a
// person.
func byPerson(ctx context.Context, a *workspace.Run, what string) (string, error) {
	who, err := a.MustActor(ctx)
	if err != nil {
		return "", err
	}
	return who, personOnly(a, who, what)
}

// personOnly returns an error (fault.Found) if who is not a person.
func personOnly(a *workspace.Run, who, what string) error {
	if a.ByPerson(who) {
		return nil
	}
	if a.Assistant(who) == "" {
		who = "a process started by a worker loop"
	}
	return &fault.Error{Code: fault.Found, Reason: fmt.Sprintf("%s: only a person may do that; this is %s", what, who),
		Hint: "ask a person with stig escalate"}
}
