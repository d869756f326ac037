package workers

import (
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/app/actors"
	"stig/cmd/stig/cli"
)

// ActorCommand is stig actor with what is below it.
func ActorCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "actor",
		Short: "show who works in this clone, and what they do",
		Long: "An actor is a person, an assistant or another program that works on issues under a name.\n" +
			"Who they are can stand in .stig/actors/NAME.md, in git; nobody needs a file. How they are\n" +
			"follows from their signs of life in this clone, or on all machines of a database.",
		GroupID: "workers",
		Args:    a.UnknownCommand,
		RunE:    a.HelpAlone,
	}
	cmd.AddCommand(listCommand(a), showCommand(a), sayCommand(a), editCommand(a), renameCommand(a), runsCommand(a), logCommand(a))
	return cmd
}

func listCommand(a *cli.App) *cobra.Command {
	var r actors.ListRequest
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the actors of this clone and their states",
		Long: "List the actors of this clone: those with a file in .stig/actors, those that gave a sign\n" +
			"of life, sessions of assistants, and whoever has an issue in progress. Those that have\n" +
			"none of these but were not seen for a day are counted only, unless --all.\n\n" +
			"A state is active or active_human when there was a sign of life within the last 60\n" +
			"seconds, else inactive; error when the last three runs failed; or what somebody said:\n" +
			"provisioning, paused, draining, maintenance, dead. DONE counts issues closed today and\n" +
			"FAILED runs that failed today, in UTC.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig actor list\n  stig actor list --json | jq -r '.actors[] | select(.state == \"error\").name'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			listed, err := actors.List(a.App, r)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON("actors", listed)
			}
			return printActors(a, listed)
		},
	}
	cmd.Flags().BoolVar(&r.All, "all", false, "also who was not seen for a day and has neither a file nor an issue")
	return cmd
}

func showCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "show one actor: state, settings, last runs, its own text",
		Args:    cli.Takes(1, 1, "one name"),
		Example: "  stig actor show bo",
		RunE: func(_ *cobra.Command, args []string) error {
			shown, err := actors.Show(a.App, args[0])
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON("actor", shown)
			}
			return printActor(a, shown)
		},
	}
}

func sayCommand(a *cli.App) *cobra.Command {
	var r actors.SayRequest
	cmd := &cobra.Command{
		Use:   "say STATE",
		Short: "set the state of an actor: yours, or that of --actor",
		Long: "Set the state of an actor: " + strings.Join(actors.Sayable(), ", ") + ". A loop takes no work\n" +
			"while its actor is paused or in maintenance, and ends after the issue in hand when it is\n" +
			"draining. healthy ends what was said before; only a person may do that, with exit code 1\n" +
			"for an assistant. Without --actor it is your own state, and a sign of life of yours.",
		Args:      cli.Takes(1, 1, "one state"),
		ValidArgs: actors.Sayable(),
		Example:   "  stig actor say paused --for 2h --why 'at lunch'\n  stig actor say maintenance --actor bo\n  stig actor say healthy",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := aboveZero(cmd, "for"); err != nil {
				return err
			}
			r.State = args[0]
			said, err := actors.Say(cmd.Context(), a.App, r)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON("actor-said", said)
			}
			return a.Printf("%s: %s%s\n", app.Folded(said.Actor.Name), said.Actor.State, saidText(said.Actor))
		},
	}
	cli.SpanVar(cmd.Flags(), &r.For, "for", "until `TIME` from now, such as 2h; then what was said ends")
	cmd.Flags().StringVar(&r.Why, "why", "", "the reason, as one `TEXT`")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func editCommand(a *cli.App) *cobra.Command {
	r := actors.EditRequest{}
	var description string
	var roles, watch []string
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "change what an actor is there for",
		Long: "Change the description, the roles or what is watched in the file of an actor. Each change\n" +
			"adds a line to its section Evolution. Everything else in the file keeps its bytes.",
		Args:    cli.Takes(1, 1, "one name"),
		Example: "  stig actor edit bo --description 'keeps the tide tables' --role network,tables",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			flags := cmd.Flags()
			if flags.Changed("description") {
				r.Description = &description
			}
			if flags.Changed("role") {
				r.Roles = &roles
			}
			if flags.Changed("watch") {
				r.Watch = &watch
			}
			edited, err := actors.Edit(cmd.Context(), a.App, r)
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
	flags.StringSliceVar(&roles, "role", nil, "labels it serves, `ROLE` after ROLE, in place of those before")
	flags.StringSliceVar(&watch, "watch", nil, "issues and labels it watches, `ID` or label, in place of those before")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func renameCommand(a *cli.App) *cobra.Command {
	var r actors.RenameRequest
	cmd := &cobra.Command{
		Use:   "rename OLD NEW",
		Short: "give an actor another name",
		Long: "Give an actor with a file another name: the file, with a line in its section Evolution,\n" +
			"and its presence in this clone. A notification is left on the first open issue with the\n" +
			"label channel. A name that is taken, and an actor with an issue in hand or a loop that\n" +
			"runs, are refused with exit code 5. Records of runs keep the old name, and so does an\n" +
			"installed unit: stig worker install OLD --remove, then stig worker install NEW.",
		Args:    cli.Takes(2, 2, "the old name and the new one"),
		Example: "  stig actor rename bo tide-tables",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Old, r.New = args[0], args[1]
			renamed, err := actors.Rename(cmd.Context(), a.App, r)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON("actor-renamed", renamed)
			case r.DryRun:
				return a.Print(renamed.Diff)
			}
			return printRenamed(a, renamed)
		},
	}
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printRenamed(a *cli.App, r *actors.Renamed) error {
	for _, id := range r.Assigned {
		a.Warn("%s: still assigned to %s", id, r.Old)
		a.Hint("type stig edit " + id + " --assignee " + r.New)
	}
	told := "announced on " + r.Channel
	if r.Channel == "" {
		told = "announced nowhere: no open issue has the label channel"
	}
	return a.Printf("%s: called %s now, in %s; %s\n", r.Old, r.New, r.File, told)
}
