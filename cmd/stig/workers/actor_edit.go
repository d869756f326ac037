package workers

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
)

func editCommand(a *cli.App) *cobra.Command {
	r := actors.EditRequest{}
	var description, seed string
	var roles, watch []string
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "change the purpose of an actor",
		Long: "Change the description, the roles, what is watched, or the section Seed in an actor's file.\n" +
			"Each change adds a line to the section Evolution. Everything else in the file keeps its\n" +
			"bytes. An actor may change itself while it works; the change applies from its next run.",
		Args:    cli.Takes(1, 1, "one name"),
		Example: "  stig actor edit bo --description 'keeps the tide tables' --role network,tables",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			flags := cmd.Flags()
			if flags.Changed("description") {
				r.Description = &description
			}
			if flags.Changed("seed") {
				r.Seed = &seed
			}
			if flags.Changed("role") {
				r.Roles = &roles
			}
			if flags.Changed("watch") {
				r.Watch = &watch
			}
			edited, err := actors.Edit(cmd.Context(), a.Run, r)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON("actor-edited", edited)
			case r.DryRun:
				return a.Print(edited.Diff)
			case !edited.Changed:
				return a.Printf("%s: nothing changed\n", edited.File)
			}
			return a.Printf("%s: changed\n", edited.File)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&description, "description", "", "its purpose, as one line of `TEXT`")
	flags.StringVar(&seed, "seed", "", "its purpose in its own words, `TEXT` that replaces the section Seed")
	flags.StringSliceVar(&roles, "role", nil, "labels it serves, as `ROLE`; replaces all roles")
	flags.StringSliceVar(&watch, "watch", nil, "issues and labels it watches, as `ID` or label; replaces all")
	a.Writes(cmd, &r.DryRun)
	return cmd
}
