package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/internal/visible"
	"stig/internal/workspace"
)

// report prints an error as text or JSON and returns its exit code. A usage error without a
// hint of its own refers to the help.
func (a *App) report(err error, cmd *cobra.Command, args []string) int {
	if err == nil {
		return workspace.ExitDone
	}
	f := workspace.Classify(err).For(cmd.CommandPath())
	if _, saidAll := errors.AsType[workspace.Ended](err); saidAll {
		return f.Code
	}
	if a.JSON || wantsJSON(args) {
		if a.PrintOutput(f.Output(), nil) == nil {
			return f.Code
		}
	}
	a.Complain(f.Message, f.Hint)
	return f.Code
}

// wantsJSON looks for --json in a command line that could not be parsed.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// UnknownCommand returns an error for an unknown command, with similar commands as a hint.
func (a *App) UnknownCommand(cmd *cobra.Command, args []string) error {
	return unknown("command", cmd, args, commandsOf(cmd))
}

// UnknownHelp returns an error for words without a help page.
func (a *App) UnknownHelp(cmd *cobra.Command, args []string) error {
	names := commandsOf(cmd)
	if !cmd.HasParent() {
		for _, t := range topics() {
			names = append(names, t.name)
		}
	}
	return unknown("command or topic", cmd, args, names)
}

// unknown returns an error for words that are not among names, with similar names as a hint.
func unknown(what string, cmd *cobra.Command, args, names []string) error {
	if len(args) == 0 {
		return nil
	}
	behind := ""
	if cmd.HasParent() {
		behind = Called(cmd) + " "
	}
	all := cmd.CommandPath() + " --help"
	if !cmd.HasParent() {
		all = "stig help --all"
	}
	hint := "type " + all + " to see what there is"
	elsewhere := Elsewhere()
	if here := elsewhere[behind+strings.ToLower(args[0])]; here != "" {
		hint = "type " + here
	} else if near := nearest(args[0], names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	} else if likely := elsewhere[behind+"*"]; likely != "" {
		hint = "type " + likely + ", or " + all + " to see what there is"
	}
	return workspace.Usage(fmt.Sprintf("unknown %s %q", what, args[0]), hint)
}

// UnknownFlag returns an error for an unknown flag. If the word before it is an unknown
// command, the error is about that, because the flags of such a command cannot be known.
func (a *App) UnknownFlag(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		if unknown := a.UnknownCommand(cmd, cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	return flagError(cmd, err)
}

// Called returns a command's path as messages name it: without "stig", with which all messages
// begin.
func Called(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "stig ") }

// Takes validates the number of arguments; most < 0 means no limit.
func Takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return workspace.Usage(fmt.Sprintf("%s: takes %s; found %s", Called(cmd), what, visible.Counted(len(args), "argument")), "")
	}
}

// TakesCommand takes one argument, and sets command to the words after --.
func TakesCommand(what string, command *[]string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if at := cmd.ArgsLenAtDash(); at >= 0 {
			if at == len(args) {
				return workspace.Usage("no command after --", "name the program to run, or omit --")
			}
			*command, args = args[at:], args[:at]
		}
		return Takes(1, 1, what)(cmd, args)
	}
}

// Exclude rejects a flag together with any of the others. Unlike cobra's flag groups it uses
// our wording and exit code.
func Exclude(cmd *cobra.Command, one string, others ...string) {
	checkFirst(cmd, func(given func(string) bool) error {
		for _, other := range others {
			if given(one) && given(other) {
				return workspace.Usage(fmt.Sprintf("--%s and --%s cannot be used together", one, other), "omit one of them")
			}
		}
		return nil
	})
}

// Needs rejects any of the others without the flag.
func Needs(cmd *cobra.Command, one string, others ...string) {
	checkFirst(cmd, func(given func(string) bool) error {
		for _, other := range others {
			if given(other) && !given(one) {
				return workspace.Usage(fmt.Sprintf("--%s needs --%s", other, one), "give --"+one+" too, or leave --"+other+" out")
			}
		}
		return nil
	})
}

// checkFirst adds a check of the given flags that runs before the command, after its earlier
// checks.
func checkFirst(cmd *cobra.Command, check func(given func(string) bool) error) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		return check(cmd.Flags().Changed)
	}
}
