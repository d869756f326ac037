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

// SetupCommand returns stig setup, with a subcommand for each thing that stig can be connected
// to.
func SetupCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup TARGET",
		Short: "connect stig to git and to assistants",
		Long: "Write stig's own entries into files of other programs, and keep every other byte of them.\n" +
			"--remove takes the entries out again and leaves the files as they were. setup stages nothing\n" +
			"and never touches another program's hooks.",
		Args: func(cmd *cobra.Command, args []string) error { return unknownTarget(a.UnknownCommand(cmd, args)) },
		RunE: a.HelpAlone,
	}
	for _, settings := range assistant.AllSettings() {
		cmd.AddCommand(setupHost(a, settings))
	}
	cmd.AddCommand(setupGit(a), setupInstructions(a))
	return cmd
}

// unknownTarget adds a hint for assistants that setup does not know to the error for an unknown
// target.
func unknownTarget(err error) error {
	refused, ok := errors.AsType[*fault.Error](err)
	if ok {
		refused.Hint += "; for another assistant, type stig setup agents-md: most of them read AGENTS.md"
	}
	return err
}

// setupFlags binds the flags that all targets have.
func setupFlags(a *cli.App, cmd *cobra.Command, o *doctor.SetupOptions) {
	cmd.Flags().BoolVar(&o.Check, "check", false, "write nothing; exit with 1 if something is missing or does not run")
	cmd.Flags().BoolVar(&o.Remove, "remove", false, "remove what setup wrote, and nothing else")
	cmd.Flags().BoolVar(&o.Print, "print", false, "print what would be written; write nothing")
	a.Writes(cmd, &o.DryRun)
}

// userFlag binds the flag of targets that can also be written to the user's home.
func userFlag(cmd *cobra.Command, o *doctor.SetupOptions) {
	cmd.Flags().BoolVar(&o.User, "user", false, "for all projects of this user instead of this one")
}

// forceFlag binds the flag of targets whose place something else may have taken.
func forceFlag(cmd *cobra.Command, o *doctor.SetupOptions, usage string) {
	cmd.Flags().BoolVar(&o.Force, "force", false, usage)
}

func setupGit(a *cli.App) *cobra.Command {
	var o doctor.SetupOptions
	cmd := &cobra.Command{
		Use:   "git",
		Short: "let git merge the store with stig merge",
		Long: "Let git merge the store line by line and key by key when branches are merged. setup writes a\n" +
			"line for the store to .gitattributes, which you commit, and names the program in the\n" +
			"configuration of this repository, which git does not share: everybody who clones it types\n" +
			"stig setup git once or, for all repositories, stig setup git --user. If stig is not in PATH\n" +
			"when git merges, or is killed, git merges by lines, with conflict markers, and always reports\n" +
			"a conflict, so that a person checks the store before it is committed.\n\n" +
			"If another program, such as bd, is configured here to merge the store, setup writes nothing.\n" +
			"--force replaces its entry, and --remove restores it.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig setup git\n  stig setup git --check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := doctor.SetupGit(cmd.Context(), a.Run, o)
			return printSetup(a, "git", o, result, err)
		},
	}
	setupFlags(a, cmd, &o)
	userFlag(cmd, &o)
	forceFlag(cmd, &o, "replace another program's merge driver")
	return cmd
}

// setupHost returns the command that connects an assistant's program.
func setupHost(a *cli.App, settings assistant.Settings) *cobra.Command {
	var o doctor.SetupOptions
	name := string(settings.Host)
	file := filepath.Join(settings.Dir, settings.File)
	cmd := &cobra.Command{
		Use:   name,
		Short: "connect " + name + ": hooks in " + file + ", skill",
		Long: "Write stig's hooks into " + file + " and the skill into " + settings.Skills + "\n" +
			"of the project, or with --user of your home. Comments, layout, other keys and other\n" +
			"programs' hooks keep their bytes; a SKILL.md with another text is kept unless --force\n" +
			"is given. If stig is not in PATH, the hooks do nothing.\n\n" +
			"setup reports what keeps " + name + " from running the hooks, as far as its files tell; --check\n" +
			"then exits with 1. It quotes lines of AGENTS.md, CLAUDE.md, other instructions and\n" +
			"settings that name a command of bd or br for which stig has another.",
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

// setupInstructions returns the command for the file that assistants read first.
func setupInstructions(a *cli.App) *cobra.Command {
	var o doctor.SetupOptions
	others := slices.DeleteFunc(assistant.Instructions(), func(name string) bool { return name == agentsFile })
	cmd := &cobra.Command{
		Use:   "agents-md [FILE]",
		Short: "write into AGENTS.md, or another FILE, how to work with stig",
		Long: "Keep a short block in AGENTS.md, or in " + strings.Join(others, " or ") + "\n" +
			"if you name it, that says how to work with stig. setup replaces the block in place, and\n" +
			"touches nothing else. It keeps a block that somebody edited; --force replaces the block,\n" +
			"or with --remove takes it out.",
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
