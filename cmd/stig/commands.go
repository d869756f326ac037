package main

import (
	"fmt"
	"os"
	"strings"

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

// group is a heading in the list of commands, with its commands.
type group struct {
	title    string
	commands []*cobra.Command
}

// mainGroups is how many of the groups stig without arguments lists.
const mainGroups = 5

// groups returns the commands by heading, in the order of stig help --all.
func groups(a *cli.App) []group {
	return []group{
		{"Work", []*cobra.Command{issue.CreateCommand(a), issue.OrientCommand(a), issue.NextCommand(a), issue.ClaimCommand(a), issue.CheckpointCommand(a), issue.CloseCommand(a)}},
		{"Ask", []*cobra.Command{decide.EscalateCommand(a), decide.ResolveCommand(a)}},
		{"See", []*cobra.Command{graph.ReadyCommand(a), issue.ShowCommand(a), issue.ListCommand(a), graph.GraphCommand(a), check.CheckCommand(a), connect.BoardCommand(a)}},
		{"Night", []*cobra.Command{workers.WorkCommand(a), workers.MorningCommand(a), workers.LandCommand(a)}},
		{"Set up", []*cobra.Command{store.InitCommand(a), connect.SetupCommand(a), connect.DoctorCommand(a)}},
		{"Issues", []*cobra.Command{issue.EditCommand(a), issue.CommentCommand(a), issue.DepCommand(a, graph.TreeCommand(a)), issue.SignalsCommand(a), issue.VerifyCommand(a), issue.ReleaseCommand(a), issue.ReopenCommand(a), issue.DeleteCommand(a),
			issue.PropagateCommand(a), issue.SweepCommand(a), issue.SearchCommand(a), graph.PlanCommand(a)}},
		{"Look back", []*cobra.Command{graph.ReviewCommand(a), decide.RetroCommand(a), traces.DigestCommand(a), traces.RollupCommand(a), traces.RecallCommand(a), graph.TrajectoryCommand(a), store.DiffCommand(a),
			store.LogCommand(a), store.UndoCommand(a), store.RecoverCommand(a)}},
		{"CI", []*cobra.Command{check.VetCommand(a), check.CyclesCommand(a), check.LintCommand(a), check.ExplainCommand(a), store.SchemaCommand(a)}},
		{"Workers", []*cobra.Command{workers.InboxCommand(a), traces.Command(a), traces.WatchCommand(a), workers.ActorCommand(a), workers.WorkerCommand(a), workers.WorktreeCommand(a), workers.SwarmCommand(a), workers.DreamCommand(a)}},
		{"As in bd", []*cobra.Command{graph.BlockedCommand(a), issue.CountCommand(a), issue.StatsCommand(a), issue.LabelCommand(a), issue.CommentsCommand(a)}},
		{"Connect", []*cobra.Command{connect.McpCommand(a), connect.HookCommand(a), connect.TrustCommand(a), hidden(connect.SkillCommand(a)), connect.SendCommand(a), store.Command(a), store.MergeCommand(a), versionCommand(a)}},
	}
}

// hidden is a command that no list shows: stig setup installs the skill, and stig help
// convention prints its text.
func hidden(cmd *cobra.Command) *cobra.Command {
	cmd.Hidden = true
	return cmd
}

// command returns the root command of an app, with its groups of commands in order and the
// global flags.
func command(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:           "stig",
		Short:         "keep what agents learn in beads issues",
		Long:          "stig keeps what agents learn in beads issues, and closes issues only if checks pass.",
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
	flags.BoolVar(&a.NoInput, "no-input", false, "never prompt, and never open an editor")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.Ctx, a.Running = cmd.Context(), cli.Called(cmd)
		if info, err := os.Stat(a.Dir); a.Dir != "" && (err != nil || !info.IsDir()) {
			return workspace.Usage(a.Dir+": no such directory", "name an existing directory with -C, or leave it out")
		}
		return cli.EmptyFilter(cmd)
	}
	root.SetFlagErrorFunc(a.UnknownFlag)
	all := groups(a)
	for _, g := range all { // cobra's own commands are in the last group
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	cli.AddOldNames(root)
	root.SetHelpCommandGroupID("Connect")
	root.SetCompletionCommandGroupID("Connect")
	helpOfCommand := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			helpOfCommand(cmd, args)
			return
		}
		_ = a.Print(root.Long + "\n" + listed(all[:mainGroups]) + "\nAll commands: stig help --all. One of them: stig help COMMAND.\nTopics: stig help " + strings.Join(topicNames(), ", ") + "\n")
	})
	rewordLibrary(a, root, all)
	return root
}

func topicNames() (names []string) {
	for _, t := range cli.Topics() {
		name, _, _ := strings.Cut(t, "\t")
		names = append(names, name)
	}
	return names
}

// listed returns the list of commands, by group.
func listed(groups []group) string {
	var text strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&text, "\n%s:\n", g.title)
		for _, cmd := range g.commands {
			if !cmd.Hidden {
				fmt.Fprintf(&text, "  %-11s %s\n", cmd.Name(), cmd.Short)
			}
		}
	}
	return text.String()
}

// rewordLibrary rewords the commands that cobra adds, and makes them reject unknown words as
// ours do.
func rewordLibrary(a *cli.App, root *cobra.Command, all []group) {
	root.SetOut(a.Out) // the commands below now take their output from it
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	last := &all[len(all)-1]
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			last.commands = append(last.commands, cmd)
			everything := cmd.Flags().Bool("all", false, "list all commands and global flags")
			cmd.Use = "help [COMMAND | TOPIC]"
			cmd.Short = "show help for a command or a topic"
			cmd.Long = "Show help for a command, as COMMAND --help does, or for a topic:\n" + strings.Join(topicNames(), ", ") + "."
			complete := cmd.ValidArgsFunction
			cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
				list, directive := complete(cmd, args, word)
				for _, t := range cli.Topics() {
					if len(args) == 0 && strings.HasPrefix(t, word) {
						list = append(list, t)
					}
				}
				return list, directive
			}
			cmd.Run, cmd.RunE = nil, func(cmd *cobra.Command, args []string) error {
				if *everything && len(args) == 0 {
					return a.Print(root.Long + "\n" + listed(all) + "\nGlobal flags:\n" + root.PersistentFlags().FlagUsages())
				}
				return help(a, cmd, args)
			}
		case "completion":
			last.commands = append(last.commands, cmd)
			cmd.Short = "print a shell completion script"
			cmd.Long = "Print the script with which a shell completes stig command lines. The help of\n" +
				"each shell says where it goes."
			cmd.Args, cmd.RunE = a.UnknownCommand, a.HelpAlone
			for _, shell := range cmd.Commands() {
				shell.Short = "print the script for " + shell.Name()
			}
		}
	}
}

// help prints the help of the named command or topic, or the general help.
func help(a *cli.App, cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		if found, err := a.Topic(args[0]); found {
			return err
		}
	}
	of, rest, err := cmd.Root().Find(a.Modernize(cmd.Root(), args))
	if err == nil && len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		rest = nil // the flag that an old name stands for
	}
	if err != nil || len(rest) > 0 {
		return a.UnknownHelp(of, rest)
	}
	of.InitDefaultHelpFlag()
	return of.Help()
}
