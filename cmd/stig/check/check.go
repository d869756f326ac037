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
			"--against also reports what this branch did since it left REV: issues closed without the\n" +
			"gate, deleted content, signals that moved backwards. --verify reruns the criteria of every\n" +
			"issue closed since then, even in an untrusted repository: for CI. Where work lands by review,\n" +
			"it also verifies issues that commits since REV name, and the criteria are those of REV.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig check\n  stig check --against origin/main --verify\n  stig check --strict --format github --format sarif=stig.sarif",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return check(cmd.Context(), a, r, o)
		},
	}
	cmd.Flags().BoolVar(&r.Verify, "verify", false, "rerun the criteria of issues closed since --against")
	cmd.Flags().StringVar(&r.Against, "against", "", "also compare the store with its state where this branch left `REV`")
	cmd.Flags().BoolVar(&o.all, "all", false, "print every finding; do not fold those of one rule")
	o.bind(cmd)
	return cmd
}

func LintCommand(a *cli.App) *cobra.Command {
	var o outputs
	cmd := &cobra.Command{
		Use:   "lint [ID…]",
		Short: "find empty links and criteria that cannot run",
		Long: "Find links and trails without content, and criteria that are missing or that cannot\n" +
			"run.",
		Args:    cli.Takes(0, -1, "any number of issues"),
		Example: "  stig lint\n  stig lint demo-1 --strict",
		RunE: func(cmd *cobra.Command, ids []string) error {
			return check(cmd.Context(), a, service.CheckRequest{Command: "lint", IDs: ids}, o)
		},
	}
	o.bind(cmd)
	return cmd
}

// check runs a check and writes the findings.
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
