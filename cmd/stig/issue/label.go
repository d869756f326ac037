package issue

import (
	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
)

// LabelCommand returns stig label, which changes labels as bd label does: the last argument is
// the label.
func LabelCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "label", Short: "add or remove a label", Args: a.UnknownCommand, RunE: a.HelpAlone}
	cmd.AddCommand(
		changeLabel(a, "add", "add a label to issues", func(label string) checkpoint.Amendment { return checkpoint.Amendment{AddLabels: []string{label}} }),
		changeLabel(a, "remove", "remove a label from issues", func(label string) checkpoint.Amendment { return checkpoint.Amendment{RemoveLabels: []string{label}} }),
	)
	return cmd
}

func changeLabel(a *cli.App, name, short string, amendment func(label string) checkpoint.Amendment) *cobra.Command {
	var r service.AmendRequest
	cmd := &cobra.Command{
		Use:     name + " ID… LABEL",
		Short:   short,
		Args:    cli.Takes(2, -1, "issues, then a label"),
		Example: "  stig label " + name + " demo-1 tide",
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			r.IDs, r.Each = args[:last], []checkpoint.Amendment{amendment(args[last])}
			result, err := service.Amend(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printAmended(a, result, r.DryRun)
		},
	}
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// CommentsCommand returns stig comments, bd's form of stig comment.
func CommentsCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "comments", Short: "add a comment to an issue", Args: a.UnknownCommand, RunE: a.HelpAlone}
	add := CommentCommand(a)
	add.Use, add.GroupID, add.Example = "add ID [TEXT]", "", "  stig comments add demo-1 'the gauge was replaced on Monday'"
	cmd.AddCommand(add)
	return cmd
}
