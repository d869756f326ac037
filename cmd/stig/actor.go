package main

import (
	"cmp"
	"context"
	"strings"

	"stig/process"
)

// actorName is who acts: the flag, else the environment, else git's user.name;
// "" when no name is set.
func (a *core) actorName(ctx context.Context) (string, error) {
	if name := cmp.Or(a.actor, a.getenv("STIG_ACTOR"), a.getenv("BD_ACTOR")); name != "" {
		return name, nil
	}
	if !process.Finder(a.dir, a.getenv)("git") {
		return "", nil
	}
	result, err := a.gitIn(a.dir).Run(ctx, "config", "user.name")
	if err != nil || result.Exit != 0 {
		return "", err
	}
	return strings.TrimSpace(string(result.Stdout)), nil
}

// mustActor is actorName where somebody has to be named.
func (a *core) mustActor(ctx context.Context) (string, error) {
	name, err := a.actorName(ctx)
	if err == nil && name == "" {
		err = usage("no actor set", "give --actor NAME, or set STIG_ACTOR")
	}
	return name, err
}
