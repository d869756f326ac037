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
		Long: "Change the description, the roles, what is watched, or the section Seed in the file of an\n" +
			"actor. Each change adds a line to its section Evolution. Everything else in the file keeps\n" +
			"its bytes. An actor may change itself while it works: its next run begins with it.",
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
	flags.StringVar(&description, "description", "", "what it is there for, as one `TEXT`")
	flags.StringVar(&seed, "seed", "", "what it is there for in its own words, `TEXT` in place of the section Seed")
	flags.StringSliceVar(&roles, "role", nil, "labels it serves, `ROLE` after ROLE, in place of those before")
	flags.StringSliceVar(&watch, "watch", nil, "issues and labels it watches, `ID` or label, in place of those before")
	a.Writes(cmd, &r.DryRun)
	return cmd
}
