package check

import (
	"context"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
)

func CheckCommand(a *cli.App) *cobra.Command {
	var o outputs
	r := service.CheckRequest{Command: "check"}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "validate the store against every rule",
		Long: "Validate the store against every rule: stig vet validates lines and signal tables, stig\n" +
			"cycles finds dependency cycles, stig lint finds empty links and criteria that cannot run,\n" +
			"stig schema prints the CUE schema, stig explain explains a rule. Text output folds many\n" +
			"findings of one rule into one line; --all prints each.\n\n" +
			"--against also finds what this branch did since it left REV: issues closed without the\n" +
			"gate, deleted content, signals that moved backwards. --verify runs the criteria of every\n" +
			"issue that was closed since then again, here, also in an untrusted repository: for CI.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig check\n  stig check --against origin/main --verify\n  stig check --strict --format github --format sarif=stig.sarif",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return check(cmd.Context(), a, r, o)
		},
	}
	cmd.Flags().BoolVar(&r.Verify, "verify", false, "run the criteria of what was closed since --against again")
	cmd.Flags().StringVar(&r.Against, "against", "", "compare the store with that of `REV` too, where this branch left it")
	cmd.Flags().BoolVar(&o.all, "all", false, "print every breach, not one line for many of one rule")
	o.bind(cmd)
	return cmd
}

func LintCommand(a *cli.App) *cobra.Command {
	var o outputs
	cmd := &cobra.Command{
		Use:   "lint [ID…]",
		Short: "find empty links and criteria that cannot run",
		Long: "Find links that mean nothing, trails that say nothing, and criteria that are missing or that\n" +
			"nothing can run.",
		Args:    cli.Takes(0, -1, "any number of issues"),
		Example: "  stig lint\n  stig lint demo-1 --strict",
		RunE: func(cmd *cobra.Command, ids []string) error {
			return check(cmd.Context(), a, service.CheckRequest{Command: "lint", IDs: ids}, o)
		},
	}
	o.bind(cmd)
	return cmd
}

// check runs a check and writes what was found.
func check(ctx context.Context, a *cli.App, r service.CheckRequest, o outputs) error {
	to, err := destinations(a, o)
	if err != nil {
		return err
	}
	checked, err := service.Check(ctx, a.Run, r)
	if err != nil {
		return err
	}
	if err := keepStore(checked.Store, to); err != nil {
		return err
	}
	return deliver(a, outcome{checked, o.strict, r.Command == "check" && !o.all}, to)
}
