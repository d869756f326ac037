package main

import (
	"context"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/checkpoint"
)

func (a *app) claimCommand() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:        "claim ID",
		SuggestFor: []string{"start", "take", "update"},
		Short:      "take an issue to work on: in progress, and yours",
		Long: "Take an issue to work on. Of several who claim it at once one gets it; the others\n" +
			"end with exit code 5, as do claims of issues that are blocked, closed or another's.\n" +
			"Those who act under one name are one actor.",
		GroupID: "work",
		Args:    takes(1, 1, "one issue"),
		Example: "  stig claim demo-1 --actor ann",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeHands(cmd.Context(), "claim", dryRun, func(s beads.Store, o beads.Options) (*checkpoint.Claimed, error) {
				actor, err := a.mustActor(cmd.Context())
				if err != nil {
					return nil, err
				}
				return checkpoint.Claim(cmd.Context(), s, o, args[0], actor)
			})
		},
	}
	a.writes(cmd, &dryRun)
	return cmd
}

func (a *app) releaseCommand() *cobra.Command {
	var dryRun, force bool
	cmd := &cobra.Command{
		Use:        "release ID",
		SuggestFor: []string{"unclaim"},
		Short:      "give an issue back: open, and nobody's",
		GroupID:    "work",
		Args:       takes(1, 1, "one issue"),
		Example:    "  stig release demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if force {
				return a.changeHands(cmd.Context(), "release", dryRun, func(s beads.Store, o beads.Options) (*checkpoint.Claimed, error) {
					return checkpoint.Take(cmd.Context(), s, o, args[0])
				})
			}
			return a.changeHands(cmd.Context(), "release", dryRun, func(s beads.Store, o beads.Options) (*checkpoint.Claimed, error) {
				actor, err := a.mustActor(cmd.Context())
				if err != nil {
					return nil, err
				}
				return checkpoint.Release(cmd.Context(), s, o, args[0], actor)
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "whoever holds it")
	a.writes(cmd, &dryRun)
	return cmd
}

// changeHands makes an edit of who works on an issue and says what came of it.
func (a *app) changeHands(ctx context.Context, kind string, dryRun bool, edit func(beads.Store, beads.Options) (*checkpoint.Claimed, error)) error {
	store, options, err := a.toWrite(ctx, dryRun)
	if err != nil {
		return err
	}
	claimed, err := edit(store, options)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printEdit(kind, claimed, claimed.Lines, dryRun)
	case dryRun:
		return a.printDiff(claimed.Lines)
	}
	text := claimed.ID + ": "
	switch {
	case kind == "claim" && claimed.Changed:
		text += "claimed by " + claimed.Assignee
	case kind == "claim":
		text += "claimed by " + claimed.Assignee + " already, nothing changed"
	case claimed.Changed:
		text += "released, " + claimed.Status
	default:
		text += "nobody holds it, nothing changed"
	}
	if kind == "claim" && !a.quiet {
		text += "\nnext: stig orient " + claimed.ID
	}
	if err := a.print(text + "\n"); err != nil {
		return err
	}
	a.warnOfLines(claimed.Lines)
	if kind == "claim" {
		a.warnOfBeside(ctx, store, claimed.ID, claimed.Assignee)
	}
	return nil
}
