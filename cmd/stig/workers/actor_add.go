package workers

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/clone"
	"stig/internal/loop/actors"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func actorAddCommand(a *cli.App) *cobra.Command {
	var r actors.AddRequest
	var human, program bool
	cmd := &cobra.Command{
		Use:   "add NAME --human | --program",
		Short: "create the file of a person or a program",
		Long: "Create the file .stig/actors/NAME.md of a person, or of a program that stig does not start.\n" +
			"The file is optional: it says of what kind the actor is, which is otherwise unknown, and what\n" +
			"it serves and watches. stig worker add creates the file of an agent that a loop runs.",
		Args:    cli.Takes(1, 1, "one name"),
		Example: "  stig actor add ann --human --description 'looks after the pier' --role review",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			if human == program {
				return workspace.Usage(visible.OneLine(r.Name)+": give --human or --program", "stig worker add "+visible.Quoted(r.Name)+" --command CMD makes an agent that a loop runs")
			}
			if r.Kind = clone.Human; program {
				r.Kind = clone.Program
			}
			added, err := actors.Register(cmd.Context(), a.Run, r)
			if err == nil && r.DryRun && !a.JSON {
				return a.Print(added.Diff)
			}
			return a.Result("actor-edited", added, err, func() error { return a.Printf("%s: written\n", added.File) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&human, "human", false, "the actor is a person")
	flags.BoolVar(&program, "program", false, "the actor is a program, such as a robot of the forge")
	flags.StringSliceVar(&r.Roles, "role", nil, "labels it serves, as `ROLE`; may be repeated")
	flags.StringVar(&r.Description, "description", "", "its purpose, as one line of `TEXT`")
	a.Writes(cmd, &r.DryRun)
	return cmd
}
