package issue

import (
	"context"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
)

func ClaimCommand(a *cli.App) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:        "claim ID",
		SuggestFor: []string{"start", "take", "update"},
		Short:      "take an issue to work on: in progress, and yours",
		Long: "Take an issue to work on. Of several who claim it at once one gets it; the others\n" +
			"end with exit code 5, as do claims of issues that are blocked, closed or another's.\n" +
			"Those who act under one name are one actor.",
		GroupID: "work",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig claim demo-1 --actor ann",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeHands(cmd.Context(), a, "claim", dryRun, func(s beads.Store, o beads.Options) (*checkpoint.Claimed, error) {
				actor, err := a.MustActor(cmd.Context())
				if err != nil {
					return nil, err
				}
				return checkpoint.Claim(cmd.Context(), s, o, args[0], actor)
			})
		},
	}
	a.Writes(cmd, &dryRun)
	return cmd
}

func ReleaseCommand(a *cli.App) *cobra.Command {
	var dryRun, force bool
	cmd := &cobra.Command{
		Use:        "release ID",
		SuggestFor: []string{"unclaim"},
		Short:      "give an issue back: open, and nobody's",
		GroupID:    "work",
		Args:       cli.Takes(1, 1, "one issue"),
		Example:    "  stig release demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if force {
				return changeHands(cmd.Context(), a, "release", dryRun, func(s beads.Store, o beads.Options) (*checkpoint.Claimed, error) {
					return checkpoint.Take(cmd.Context(), s, o, args[0])
				})
			}
			return changeHands(cmd.Context(), a, "release", dryRun, func(s beads.Store, o beads.Options) (*checkpoint.Claimed, error) {
				actor, err := a.MustActor(cmd.Context())
				if err != nil {
					return nil, err
				}
				return checkpoint.Release(cmd.Context(), s, o, args[0], actor)
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "whoever holds it")
	a.Writes(cmd, &dryRun)
	return cmd
}

// changeHands makes an edit of who works on an issue and says what came of it.
func changeHands(ctx context.Context, a *cli.App, kind string, dryRun bool, edit func(beads.Store, beads.Options) (*checkpoint.Claimed, error)) error {
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return err
	}
	claimed, err := edit(store, options)
	if err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.PrintEdit(kind, claimed, claimed.Lines, dryRun)
	case dryRun:
		return a.PrintDiff(claimed.Lines)
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
	if kind == "claim" && !a.Quiet {
		text += "\nnext: stig orient " + claimed.ID
	}
	if err := a.Print(text + "\n"); err != nil {
		return err
	}
	a.WarnOfLines(claimed.Lines)
	if kind == "claim" {
		a.WarnOfBeside(ctx, store.Place(), claimed.ID, claimed.Assignee)
	}
	return nil
}
