package main

import (
	"os"

	"github.com/spf13/cobra"

	"stig/cmd/stig/check"
	"stig/cmd/stig/cli"
	"stig/cmd/stig/connect"
	"stig/cmd/stig/decide"
	"stig/cmd/stig/graph"
	"stig/cmd/stig/issue"
	"stig/cmd/stig/store"
	"stig/cmd/stig/traces"
	"stig/cmd/stig/workers"
	"stig/internal/workspace"
)

// command is the root command of an app: the groups of commands in their order, and the
// flags that all have.
func command(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "stig",
		Short: "share a codebase through the issues in its repository",
		Long: "stig briefs a worker before work and keeps what was learned after it,\n" +
			"in the notes of the issues in .beads/issues.jsonl.",
		Example:       "  stig orient\n  stig orient ID\n  stig checkpoint ID --surprise 0.2 --done … --remains …",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          a.UnknownCommand,
		RunE:          a.HelpAlone,
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&a.Dir, "directory", "C", "", "act as if started in `DIR`")
	flags.StringVar(&a.Store, "store", "", "use the store `FILE`, or the one at mysql://…")
	flags.BoolVar(&a.JSON, "json", false, "print one JSON object")
	flags.BoolVarP(&a.Quiet, "quiet", "q", false, "print results only, no hints")
	flags.BoolVar(&a.NoColor, "no-color", false, "print without colour")
	flags.BoolVar(&a.NoInput, "no-input", false, "ask nothing and open no editor, on a terminal too")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.Ctx, a.Running = cmd.Context(), cli.Called(cmd)
		if info, err := os.Stat(a.Dir); a.Dir != "" && (err != nil || !info.IsDir()) {
			return workspace.Usage(a.Dir+": no such directory", "name with -C a directory that is there, or leave it out")
		}
		return cli.EmptyFilter(cmd)
	}
	root.SetFlagErrorFunc(a.UnknownFlag)
	root.AddGroup(
		&cobra.Group{ID: "work", Title: "Work:"},
		&cobra.Group{ID: "decide", Title: "Decide:"},
		&cobra.Group{ID: "check", Title: "Check:"},
		&cobra.Group{ID: "graph", Title: "Graph:"},
		&cobra.Group{ID: "store", Title: "Store:"},
		&cobra.Group{ID: "workers", Title: "Workers:"},
		&cobra.Group{ID: "connect", Title: "Connect:"},
		&cobra.Group{ID: "bd", Title: "As in bd:"},
	)
	root.AddCommand(
		issue.OrientCommand(a), issue.NextCommand(a), issue.CheckpointCommand(a), check.VetCommand(a), check.CheckCommand(a), check.LintCommand(a), check.ExplainCommand(a), issue.ShowCommand(a),
		issue.VerifyCommand(a), issue.CloseCommand(a), issue.ReopenCommand(a), connect.TrustCommand(a),
		issue.ClaimCommand(a), issue.ReleaseCommand(a), issue.SweepCommand(a), issue.PropagateCommand(a), graph.ReviewCommand(a),
		traces.Command(a), traces.DigestCommand(a), traces.RollupCommand(a), traces.WatchCommand(a), traces.RecallCommand(a),
		decide.EscalateCommand(a), decide.EscalationsCommand(a), decide.ResolveCommand(a), decide.AwaitCommand(a), decide.RetroCommand(a),
		store.InitCommand(a), store.Command(a), issue.CreateCommand(a), issue.EditCommand(a), issue.DepCommand(a, graph.TreeCommand(a)), issue.CommentCommand(a), issue.DeleteCommand(a), issue.DuplicateCommand(a), issue.SearchCommand(a),
		workers.WorkCommand(a), workers.SwarmCommand(a), workers.InboxCommand(a), workers.AckCommand(a), workers.ActorCommand(a), workers.WorkerCommand(a), workers.DreamCommand(a), workers.MorningCommand(a), workers.LandCommand(a), workers.WorktreeCommand(a),
		connect.HookCommand(a), connect.McpCommand(a), connect.BoardCommand(a), connect.SendCommand(a),
		issue.SignalsCommand(a), store.SchemaCommand(a), versionCommand(a), store.DiffCommand(a),
		store.LogCommand(a), store.RecoverCommand(a), store.UndoCommand(a), store.MergeCommand(a), connect.SetupCommand(a), connect.DoctorCommand(a), connect.SkillCommand(a), graph.ReadyCommand(a), check.CyclesCommand(a), graph.PlanCommand(a), issue.ListCommand(a), graph.TrajectoryCommand(a), graph.GraphCommand(a),
		graph.BlockedCommand(a), issue.CountCommand(a), issue.StatsCommand(a), issue.LabelCommand(a), issue.CommentsCommand(a),
	)
	root.SetHelpCommandGroupID("connect")
	root.SetCompletionCommandGroupID("connect")
	rewordLibrary(a, root)
	return root
}

// rewordLibrary gives the commands that come with the library our words, and has them
// refuse what is not there as ours do.
func rewordLibrary(a *cli.App, root *cobra.Command) {
	root.SetOut(a.Out) // which the commands below take from it now
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Short, cmd.Long = "show what a command does, and its flags", "help says what a command does, and its flags, as --help behind that command does."
			cmd.Run, cmd.RunE = nil, func(cmd *cobra.Command, args []string) error { return help(a, cmd, args) }
		case "completion":
			cmd.Short = "print the script with which a shell completes commands"
			cmd.Long = "completion prints the script with which a shell completes command lines. The help of\n" +
				"each shell says where it goes."
			cmd.Args, cmd.RunE = a.UnknownCommand, a.HelpAlone
			for _, shell := range cmd.Commands() {
				shell.Short = "print the script for " + shell.Name()
			}
		}
	}
}

// help is the help of the command that is named, or of all.
func help(a *cli.App, cmd *cobra.Command, args []string) error {
	of, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return a.UnknownCommand(of, rest)
	}
	of.InitDefaultHelpFlag()
	return of.Help()
}
