package issue

import (
	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
)

func ClaimCommand(a *cli.App) *cobra.Command {
	var r service.ClaimRequest
	var verify bool
	cmd := &cobra.Command{
		Use:   "claim ID",
		Short: "claim an issue: in progress, assigned to you",
		Long: "Claim an issue. If several workers claim it at once, one gets it; the others end with exit\n" +
			"code 5, as do claims of issues that stig ready does not list. An issue with an unanswered\n" +
			"question waits for a person: exit code 6.\n\n" +
			"A claim counts in all work trees of the clone. A program's claim ends 24 hours after its last\n" +
			"command about the issue (claims.ttl in .stig.cue), or with the worker loop that made it. A\n" +
			"person's claim ends with release, --take or sweep --people.\n" +
			"All who act under one name are one actor. A session of an assistant has a name of its own,\n" +
			"such as ann/claude-3f2a; it may take the claims of ann, and of her sessions that have ended.",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig claim demo-1 --actor ann",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			claimed, err := service.Claim(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			if err := printClaimed(a, "claim", claimed, r.DryRun); err != nil || !verify || r.DryRun {
				return err
			}
			return service.BeforeClaim(cmd.Context(), a.Run, claimed.ID)
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "run its checks first: one that already passes proves nothing about the work")
	cmd.Flags().BoolVar(&r.Take, "take", false, "claim it even if somebody else holds it, or closed it on another branch")
	cmd.Flags().StringVar(&r.Despite, "despite-external", "", "claim it although it waits for something in another store; a comment records `WHY`")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func ReleaseCommand(a *cli.App) *cobra.Command {
	var r service.ReleaseRequest
	cmd := &cobra.Command{
		Use:     "release ID",
		Short:   "give an issue back: open and unassigned",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig release demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			released, err := service.Release(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printClaimed(a, "release", released, r.DryRun)
		},
	}
	cmd.Flags().BoolVar(&r.Force, "force", false, "release it even if somebody else holds it")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// printClaimed prints who works on an issue now. kind is the command.
func printClaimed(a *cli.App, kind string, claimed *checkpoint.Claimed, dryRun bool) error {
	return a.EditResult(kind, claimed, claimed.Lines, dryRun, func() error { return printHolder(a, kind, claimed) })
}

// printHolder prints the holder of an issue as text.
func printHolder(a *cli.App, kind string, claimed *checkpoint.Claimed) error {
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
	if claimed.Upon != "" {
		text += "\n  " + visible.OneLine(claimed.Upon)
	}
	if kind == "claim" && !a.Quiet {
		text += "\nnext: stig orient " + visible.Quoted(claimed.ID)
	}
	if err := a.Print(text + "\n"); err != nil {
		return err
	}
	a.WarnOfLines(claimed.Lines)
	return nil
}
