package connect

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/assistant"
	"stig/internal/doctor"
	"stig/internal/fault"
)

// SetupCommand has a subcommand for each thing that stig can be connected to.
func SetupCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup TARGET",
		Short: "connect stig to git and to the programs of assistants",
		Long: "setup puts stig's own entries into files that others read, and keeps every other\n" +
			"byte of them. --remove takes the entries out again and leaves the files as they were.\n" +
			"It stages nothing, and never touches another program's hooks.",
		Args: func(cmd *cobra.Command, args []string) error { return unknownTarget(a.UnknownCommand(cmd, args)) },
		RunE: a.HelpAlone,
	}
	for _, settings := range assistant.AllSettings() {
		cmd.AddCommand(setupHost(a, settings))
	}
	cmd.AddCommand(setupGit(a), setupInstructions(a))
	return cmd
}

// unknownTarget adds to the refusal of a target what serves assistants that setup
// does not know.
func unknownTarget(err error) error {
	refused, ok := errors.AsType[*fault.Error](err)
	if ok {
		refused.Hint += "; for another assistant, type stig setup agents-md: most of them read AGENTS.md"
	}
	return err
}

// setupFlags binds the flags that all targets have.
func setupFlags(a *cli.App, cmd *cobra.Command, o *doctor.SetupOptions) {
	cmd.Flags().BoolVar(&o.Check, "check", false, "exit with 1 when something is missing or does not run, write nothing")
	cmd.Flags().BoolVar(&o.Remove, "remove", false, "take out what setup put in, and nothing else")
	cmd.Flags().BoolVar(&o.Print, "print", false, "print what would be written, write nothing")
	a.Writes(cmd, &o.DryRun)
}

// userFlag binds the flag of targets that a home has too.
func userFlag(cmd *cobra.Command, o *doctor.SetupOptions) {
	cmd.Flags().BoolVar(&o.User, "user", false, "for all projects of this user instead of this one")
}

// forceFlag binds the flag of targets where something may stand in the way.
func forceFlag(cmd *cobra.Command, o *doctor.SetupOptions, usage string) {
	cmd.Flags().BoolVar(&o.Force, "force", false, usage)
}

func setupGit(a *cli.App) *cobra.Command {
	var o doctor.SetupOptions
	cmd := &cobra.Command{
		Use:   "git",
		Short: "have git merge the store with stig merge",
		Long: "setup git has git merge the store line by line and key by key when branches come\n" +
			"together. It writes a line for the store to .gitattributes, which is to be committed,\n" +
			"and names the program in the configuration of this repository, which git does not\n" +
			"share: everybody who clones it types stig setup git once, or, for all repositories,\n" +
			"stig setup git --user. Where stig is not in PATH when git merges, or is killed, git\n" +
			"merges by lines instead, with conflict markers, and always ends with a conflict, so\n" +
			"that a person looks at the store before it is committed.\n\n" +
			"When another program that is configured here merges the store already, such as that\n" +
			"of bd, nothing is written; --force puts stig in its place, and --remove gives it back.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig setup git\n  stig setup git --check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := doctor.SetupGit(cmd.Context(), a.Run, o)
			return printSetup(a, "git", o, result, err)
		},
	}
	setupFlags(a, cmd, &o)
	userFlag(cmd, &o)
	forceFlag(cmd, &o, "put stig in the place of another program")
	return cmd
}

// setupHost connects the program of an assistant.
func setupHost(a *cli.App, settings assistant.Settings) *cobra.Command {
	var o doctor.SetupOptions
	name := string(settings.Host)
	file := filepath.Join(settings.Dir, settings.File)
	cmd := &cobra.Command{
		Use:   name,
		Short: "connect " + name + ": hooks in " + file + ", skill",
		Long: "setup " + name + " puts stig's hooks into " + file + " and the skill into " + settings.Skills + "\n" +
			"of the project, or with --user of the home. Comments, layout, other keys and other\n" +
			"programs' hooks keep their bytes; a SKILL.md with another text is kept unless --force\n" +
			"is given. Where stig is not in PATH the hooks do nothing.\n\n" +
			"It says what keeps " + name + " from running the hooks, as far as its files tell; --check\n" +
			"then exits with 1. It quotes lines of AGENTS.md, CLAUDE.md, other instructions and\n" +
			"settings that name a command of bd or br which stig does in another way.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig setup " + name + "\n  stig setup " + name + " --user --check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := doctor.SetupHost(cmd.Context(), a.Run, settings, o)
			return printSetup(a, name, o, result, err)
		},
	}
	setupFlags(a, cmd, &o)
	userFlag(cmd, &o)
	forceFlag(cmd, &o, skillForce)
	return cmd
}

// agentsFile is where instructions go when no file is named.
const agentsFile = "AGENTS.md"

// setupInstructions connects what assistants read first.
func setupInstructions(a *cli.App) *cobra.Command {
	var o doctor.SetupOptions
	others := slices.DeleteFunc(assistant.Instructions(), func(name string) bool { return name == agentsFile })
	cmd := &cobra.Command{
		Use:   "agents-md [FILE]",
		Short: "say in AGENTS.md, or a FILE like it, how to work with stig",
		Long: "setup agents-md keeps a block of a few lines in AGENTS.md, or in " + strings.Join(others, " or ") + "\n" +
			"when one is named: how an assistant works with stig. It replaces the block in its\n" +
			"place, and touches nothing else. A block that somebody edited is kept; --force puts\n" +
			"stig's own in its place, or with --remove takes it out.",
		Args:    cli.Takes(0, 1, "at most one file"),
		Example: "  stig setup agents-md\n  stig setup agents-md CLAUDE.md --check",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := agentsFile
			if len(args) > 0 {
				name = args[0]
			}
			result, err := doctor.SetupInstructions(cmd.Context(), a.Run, name, o)
			return printSetup(a, "agents-md", o, result, err)
		},
	}
	setupFlags(a, cmd, &o)
	userFlag(cmd, &o)
	forceFlag(cmd, &o, "also replace or remove a block that was edited by hand")
	return cmd
}
