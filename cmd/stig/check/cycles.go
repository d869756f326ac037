package check

import (
	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/dag"
	"stig/lint"
)

func CyclesCommand(a *cli.App) *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "cycles",
		Short: "find dependency cycles",
		Long: "Find deadlocks: unclosed issues of which none can ever start or be closed, over\n" +
			"blocking rows and epics together; each as its shortest circle, with the row to\n" +
			"remove. Rings of blocking rows with closed issues in them are warnings.",
		GroupID: "check",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig cycles\n  stig cycles --strict --json",
		RunE:    func(*cobra.Command, []string) error { return cycles(a, strict) },
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings too")
	return cmd
}

// cycles reports deadlocks; errors, and with strict warnings, end in exit 1.
func cycles(a *cli.App, strict bool) error {
	file, err := a.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	found := append([]lint.Diagnostic{}, lint.Cycles(file, dag.New(file))...)
	counts := lint.Count(found)
	if a.JSON {
		err = a.PrintJSON("check", map[string]any{"diagnostics": found, "counts": counts, "issues": file.Len()})
	} else {
		err = printDiagnostics(a, found, counts, file.Len())
	}
	if err != nil {
		return err
	}
	if counts.Error > 0 || strict && counts.Warning > 0 {
		return app.FoundError{}
	}
	return nil
}
