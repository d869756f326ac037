package check

import (
	"context"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
)

func CheckCommand(a *cli.App) *cobra.Command {
	var o outputs
	var against string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "everything that is wrong with the store, in one pass",
		Long: "Hold the store against every rule: what stig vet, stig cycles and stig lint look for.\n" +
			"With --against also what happened since this branch left the revision: issues closed\n" +
			"past the gate, things that vanished, signals that moved backwards; what is only for\n" +
			"information is left out where this branch did not touch the issue.\n" +
			"stig explain lists the rules.",
		GroupID: "check",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig check\n  stig check --against origin/main\n  stig check --strict --format github --format sarif=stig.sarif",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return check(cmd.Context(), a, app.CheckRequest{Command: "check", Against: against}, o)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "compare the store with that of `REV` too, where this branch left it")
	o.bind(cmd)
	return cmd
}

func LintCommand(a *cli.App) *cobra.Command {
	var o outputs
	cmd := &cobra.Command{
		Use:     "lint [ID…]",
		Short:   "links that mean nothing, trails that say nothing, criteria that nothing can run",
		GroupID: "check",
		Args:    cli.Takes(0, -1, "any number of issues"),
		Example: "  stig lint\n  stig lint demo-1 --strict",
		RunE: func(cmd *cobra.Command, ids []string) error {
			return check(cmd.Context(), a, app.CheckRequest{Command: "lint", IDs: ids}, o)
		},
	}
	o.bind(cmd)
	return cmd
}

// check runs a check and writes what was found.
func check(ctx context.Context, a *cli.App, r app.CheckRequest, o outputs) error {
	to, err := destinations(a, o)
	if err != nil {
		return err
	}
	checked, err := a.Check(ctx, r)
	if err != nil {
		return err
	}
	if err := keepStore(checked.Store, to); err != nil {
		return err
	}
	return deliver(a, outcome{checked, o.strict}, to)
}
