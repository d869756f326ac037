package connect

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/doctor"
	"stig/internal/workspace"
)

func DoctorCommand(a *cli.App) *cobra.Command {
	var migrate, dryRun bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "show what stig finds here, what works, and what to do next",
		Long: "Check the store, the programs around it, git, the configuration, and the programs that stig\n" +
			"is connected to. doctor leaves nothing behind. The exit code is 1 if something is broken;\n" +
			"what is only missing is listed as something to do.\n" +
			"With --migrate, only migrate stig's tables on a server to the version of this stig. Programs\n" +
			"of an earlier version refuse them afterwards.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig doctor\n  stig doctor --json\n  stig doctor --migrate --dry-run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if migrate {
				report, err := doctor.Migrate(cmd.Context(), a.Run, dryRun)
				return a.Result("doctor", report, err, func() error { return printReport(a, report) })
			}
			if dryRun {
				return workspace.Usage("--dry-run needs --migrate", "leave it out; without --migrate doctor changes nothing")
			}
			report := doctor.Examine(cmd.Context(), a.Run)
			err := a.Result("doctor", report, cmd.Context().Err(), func() error { return printReport(a, report) })
			if err == nil && report.Counts[doctor.Broken] > 0 {
				return workspace.Found()
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&migrate, "migrate", false, "migrate the tables of a store on a server to this version")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "with --migrate: change nothing")
	return cmd
}

func printReport(a *cli.App, r *doctor.Report) error {
	var text strings.Builder
	for _, s := range r.Symptoms {
		fmt.Fprintf(&text, "%-6s  %-11s  %s\n", s.State, s.Name, below(s.Found))
		if s.Do != "" {
			fmt.Fprintf(&text, "%21s→ %s\n", "", s.Do)
		}
	}
	n := r.Counts
	fmt.Fprintf(&text, "\n%d ok, %d to do, %d broken\nnext: %s\n", n[doctor.OK], n[doctor.Todo], n[doctor.Broken], r.Next)
	return a.Print(text.String())
}

// below wraps text at 80 columns and indents all lines but the first.
func below(text string) string {
	const margin = 21
	return strings.Join(cli.Wrapped(text, 79-margin), "\n"+strings.Repeat(" ", margin))
}
