package main

import (
	"context"
	"errors"

	"stig/beads"
	"stig/checkpoint"
)

// prepareCommit checks that the store can be committed and gives the function
// that does it once the checkpoint of an issue is written.
func (a *core) prepareCommit(ctx context.Context, store beads.Store) (func(id string) (string, error), error) {
	committer, err := checkpoint.PrepareCommit(ctx, store, a.environ())
	var impossible *checkpoint.CommitError
	if errors.As(err, &impossible) {
		return nil, usage(impossible.Reason, impossible.Hint)
	}
	if err != nil {
		return nil, err
	}
	return func(id string) (string, error) { return committer.Commit(ctx, id) }, nil
}
