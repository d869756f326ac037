package traces

import (
	"fmt"

	"stig/cmd/stig/cli"
	"stig/internal/service/traces"
)

func printAdded(a *cli.App, added *traces.Added, dryRun bool) error {
	for _, w := range added.Warnings {
		a.Warn("%s", w)
	}
	return a.EditResult("trace-added", added, added.Changes, dryRun, func() error { return printNames(a, added) })
}

// printNames prints the names of the traces.
func printNames(a *cli.App, added *traces.Added) error {
	a.WarnOfLines(added.Changes)
	for _, one := range added.Traces {
		line := one.ID
		if !a.Quiet {
			line = fmt.Sprintf("%s: %s on %s", one.ID, one.Type, one.Issue)
			if added.Project != "" {
				line += " of project " + added.Project
			}
			if one.There {
				line += ", left before"
			}
		}
		if err := a.Printf("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}
