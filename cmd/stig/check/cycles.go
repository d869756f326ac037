package check

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
)

func CyclesCommand(a *cli.App) *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "cycles",
		Short: "find dependency cycles",
		Long: "Find deadlocks: sets of unclosed issues of which none can ever start or be closed, over\n" +
			"blocking rows and epics together. Each is shown as its shortest cycle, with the row to\n" +
			"remove. Cycles of blocking rows that include closed issues are warnings.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig cycles\n  stig cycles --strict --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			checked, err := service.Check(cmd.Context(), a.Run, service.CheckRequest{Command: "cycles"})
			if err != nil {
				return err
			}
			if len(checked.Found) == 0 && !a.JSON {
				return a.Printf("none: no dependency cycles among %s\n", visible.Counted(checked.Issues, "issue"))
			}
			return outcome{Checked: checked, strict: strict}.print(a)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings too")
	return cmd
}
