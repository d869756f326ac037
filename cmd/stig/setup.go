package main

import (
	"context"

	"github.com/spf13/cobra"
)

// setupCommand has a subcommand for each thing that stig can be connected to.
func (a *app) setupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "setup TARGET",
		Short:   "connect stig to git",
		GroupID: "connect",
		Args:    a.unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.setupGit())
	return cmd
}

// setupOptions are the flags that all targets have.
type setupOptions struct{ check, remove, print, force bool }

// connection is something that stig can be connected to.
type connection interface {
	// missing says what is not there that install would write.
	missing(ctx context.Context) ([]string, error)
	// install and remove give what they changed.
	install(ctx context.Context, force bool) ([]string, error)
	remove(ctx context.Context) ([]string, error)
	// preview is what install would write.
	preview() string
}

// setupFlags binds the flags that all targets have.
func setupFlags(cmd *cobra.Command, o *setupOptions) {
	cmd.Flags().BoolVar(&o.check, "check", false, "exit with 1 when something is missing, write nothing")
	cmd.Flags().BoolVar(&o.remove, "remove", false, "take out what setup put in, and nothing else")
	cmd.Flags().BoolVar(&o.print, "print", false, "print what would be written, write nothing")
	cmd.Flags().BoolVar(&o.force, "force", false, "put stig in the place of another program")
	cmd.MarkFlagsMutuallyExclusive("check", "remove", "print", "force")
}

// setup does what the flags say to a target.
func (a *app) setup(ctx context.Context, name string, t connection, o setupOptions) error {
	var changed []string
	var err error
	switch {
	case o.print:
		return a.print(t.preview())
	case o.remove:
		changed, err = t.remove(ctx)
	case !o.check:
		changed, err = t.install(ctx, o.force)
	}
	if err != nil {
		return err
	}
	missing, err := t.missing(ctx)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON("setup", map[string]any{
			"target": name, "installed": len(missing) == 0,
			"missing": append([]string{}, missing...), "changed": append([]string{}, changed...),
		})
	} else {
		err = a.print(setupReport(name, o, changed, missing))
	}
	if err == nil && o.check && len(missing) > 0 {
		return foundError{}
	}
	return err
}

func setupReport(name string, o setupOptions, changed, missing []string) string {
	text, list := "", changed
	switch {
	case o.check && len(missing) == 0:
		text = name + ": all is there\n"
	case o.check:
		text, list = name+": missing\n", missing
	case len(changed) == 0:
		text = name + ": nothing to do\n"
	case o.remove:
		text = name + ": removed\n"
	default:
		text = name + ": written\n"
	}
	for _, line := range list {
		text += "  " + line + "\n"
	}
	return text
}
