package workers

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service/night"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// WorktreeCommand returns stig worktree with its subcommands.
func WorktreeCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worktree",
		Short: "list and delete the work trees of workers",
		Long: "A loop gives each issue a work tree of its own, on branch stig/ID. stig deletes it when the\n" +
			"work lands, but not while it holds something that is nowhere else.",
		Args: a.UnknownCommand,
		RunE: a.HelpAlone,
	}
	cmd.AddCommand(treesCommand(a), treeRemoveCommand(a))
	return cmd
}

func treesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list the work trees of workers in this clone",
		Long:  "List the work trees of workers in this clone, with what each holds that is nowhere else.",
		Args:  cli.Takes(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := night.WorkTrees(cmd.Context(), a.Run)
			return a.Result("work-trees", struct {
				Trees []night.WorkTree `json:"trees"`
			}{list}, err, func() error {
				var text strings.Builder
				for _, one := range list {
					text.WriteString(treeLine(one) + "\n")
				}
				if len(list) == 0 {
					text.WriteString("no work trees of workers in this clone\n")
				}
				return a.Print(text.String())
			})
		},
	}
}

func treeLine(one night.WorkTree) string {
	var holds []string
	if one.Running != "" {
		holds = append(holds, "run "+one.Running+" works in it")
	}
	if one.Gone {
		holds = append(holds, "the directory is gone")
	}
	if one.Ahead {
		holds = append(holds, "has commits that are not merged yet")
	}
	if n := len(one.Uncommitted); n > 0 {
		holds = append(holds, visible.Counted(n, "file")+" not committed")
	}
	if len(holds) == 0 {
		holds = append(holds, "safe to delete")
	}
	name := one.ID
	if name == "" {
		name = one.Branch + " (incomplete)"
	}
	return workspace.Visible(visible.OneLine(name) + "  " + strings.Join(holds, ", ") + "  " + one.Dir)
}

func treeRemoveCommand(a *cli.App) *cobra.Command {
	dryRun := false
	cmd := &cobra.Command{
		Use:   "rm ID",
		Short: "delete the work tree of an issue, keeping its changes",
		Long: "Delete the work tree of an issue. Uncommitted changes are kept on a branch such as\n" +
			"stig/ID-leftovers-1; the branch stig/ID stays if it has commits that are nowhere else. A work\n" +
			"tree in which a run works is refused.",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig worktree rm demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			done, err := night.RemoveWorkTree(cmd.Context(), a.Run, args[0], dryRun)
			return a.Result("work-tree-removed", done, err, func() error { return a.Print(treeRemovedText(done)) })
		},
	}
	a.Writes(cmd, &dryRun)
	return cmd
}

func treeRemovedText(d *night.TreeRemoved) string {
	verb := "removed"
	if d.DryRun {
		verb = "would be removed"
	}
	text := fmt.Sprintf("%s: %s %s", d.ID, verb, d.Dir)
	if d.Leftovers != "" {
		text += "; uncommitted changes are on " + d.Leftovers + ": " + strings.Join(d.Files, ", ")
	} else if d.DryRun && len(d.Files) > 0 {
		text += "; would keep: " + strings.Join(d.Files, ", ")
	}
	if d.Branch != "" {
		text += "; branch " + d.Branch + " stays"
	}
	return text + "\n"
}
