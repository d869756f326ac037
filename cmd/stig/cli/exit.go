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

// report prints an error the way the command line asked for, and gives its code.
// A command line that has no hint of its own is referred to the help.
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

// UnknownCommand refuses words that are no command, with the nearest that are.
func (a *App) UnknownCommand(cmd *cobra.Command, args []string) error {
	return unknown("command", cmd, args, commandsOf(cmd))
}

// UnknownHelp refuses words of which there is no help.
func (a *App) UnknownHelp(cmd *cobra.Command, args []string) error {
	names := commandsOf(cmd)
	if !cmd.HasParent() {
		for _, t := range topics() {
			names = append(names, t.name)
		}
	}
	return unknown("command or topic", cmd, args, names)
}

// unknown refuses words that are none of some names, with the nearest that are.
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

// UnknownFlag refuses a flag that is not there, or the word before it that is no
// command: its flags cannot be known.
func (a *App) UnknownFlag(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		if unknown := a.UnknownCommand(cmd, cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	return flagError(cmd, err)
}

// Called is a command as messages place it: without the name of the program, which
// they all begin with.
func Called(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "stig ") }

// Takes checks how many arguments a command got.
func Takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return workspace.Usage(fmt.Sprintf("%s: takes %s; found %s", Called(cmd), what, visible.Counted(len(args), "argument")), "")
	}
}

// TakesCommand takes one argument, and what stands behind -- as a command.
func TakesCommand(what string, command *[]string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if at := cmd.ArgsLenAtDash(); at >= 0 {
			if at == len(args) {
				return workspace.Usage("no command behind --", "name the program that is to be run, or leave -- out")
			}
			*command, args = args[at:], args[:at]
		}
		return Takes(1, 1, what)(cmd, args)
	}
}

// Exclude refuses a flag together with any of the others, in our words and with
// our exit code, which a group of the library has neither of.
func Exclude(cmd *cobra.Command, one string, others ...string) {
	checkFirst(cmd, func(given func(string) bool) error {
		for _, other := range others {
			if given(one) && given(other) {
				return workspace.Usage(fmt.Sprintf("--%s and --%s exclude each other", one, other), "leave one of them out")
			}
		}
		return nil
	})
}

// Needs refuses any of the others without a flag.
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

// checkFirst has a command check which flags are given before it runs, after its other checks.
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
