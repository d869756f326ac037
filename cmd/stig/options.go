package main

import (
	"context"

	"stig/beads"
	"stig/checkpoint"
	"stig/process"
)

// options are those of every edit of the store: the time of this run, and bd
// told of it where bd keeps the issues in a database too.
func (a *core) options(dryRun bool) (beads.Options, error) {
	now, err := a.clock()
	if err != nil {
		return beads.Options{}, err
	}
	bd := &checkpoint.BD{Env: a.environ(), OnPath: process.Finder("", a.getenv)("bd"), Warn: a.warn}
	if a.journal == nil {
		a.journal = &journal{app: a, ctx: a.ctx}
	}
	a.journal.now = now
	return beads.Options{Now: now, DryRun: dryRun, Journal: a.journal.write, Weak: a.warnOfWeak, Before: bd.Flush, After: bd.TakeUp}, nil
}

// toWrite gives the store of a command that writes, and the options of its edit.
// It refuses a store in which an unfinished merge left changes out.
func (a *core) toWrite(ctx context.Context, dryRun bool) (beads.Store, beads.Options, error) {
	options, err := a.options(dryRun)
	if err != nil {
		return beads.Store{}, options, err
	}
	store, err := a.discover()
	if err == nil {
		err = a.refuseUnfinished(ctx, store)
	}
	return store, options, err
}
