package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"stig/internal/workspace"
)

// App is the environment of the commands and the flags they share.
type App struct {
	*workspace.Run
	In       io.Reader
	Out, Err io.Writer

	JSON    bool
	Quiet   bool
	NoColor bool
	NoInput bool
}

// Front returns an App on three streams.
func Front(in io.Reader, out, err io.Writer, c *workspace.Run) *App {
	a := &App{Run: c, In: in, Out: out, Err: err}
	c.Say, c.Progress, c.Terminal = a.complaint, err, IsTerminal(err)
	return a
}

// Execute runs one command line on a command tree and returns the exit code.
func (a *App) Execute(ctx context.Context, root *cobra.Command, args []string) int {
	args = a.Modernize(root, args)
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // only shells ask for completions
		a.complete(root)
	}
	cmd, err := root.ExecuteContextC(ctx)
	a.Disconnect()
	if err != nil && ctx.Err() != nil {
		return workspace.ExitInterrupted
	}
	return a.report(err, cmd, args)
}

// HelpAlone prints the help of a command that was called without one of its subcommands; with
// --json it returns an error.
func (a *App) HelpAlone(cmd *cobra.Command, _ []string) error {
	if a.JSON {
		return workspace.Usage(Called(cmd)+": a command is missing", "")
	}
	return cmd.Help()
}

// Writes binds the flags of a command that writes: --dry-run, which prints the diff of the same
// computation without writing it, and --actor.
func (a *App) Writes(cmd *cobra.Command, dryRun *bool) {
	cmd.Flags().BoolVar(dryRun, "dry-run", false, "print the diff of what would change, write nothing")
	a.Acts(cmd)
}

// Acts binds --actor, for a command that records who ran it.
func (a *App) Acts(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Actor, "actor", "", "act as `NAME` (default STIG_ACTOR, BD_ACTOR, the assistant's session, git user.name)")
}
