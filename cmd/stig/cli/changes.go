package cli

import (
	"stig/internal/beads"
	"stig/internal/workspace"
)

// PrintChanges prints which issues an edit changed, or the diff in a dry run.
func (a *App) PrintChanges(changes []beads.Change, warnings []string, dryRun bool) error {
	body := struct {
		Warnings []string `json:"warnings"`
	}{append([]string{}, warnings...)}
	return a.EditResult("edit", body, changes, dryRun, func() error {
		if len(changes) == 0 {
			return a.Print("nothing changed\n")
		}
		for _, c := range changes {
			if err := a.Printf("%s: written\n", c.ID); err != nil {
				return err
			}
		}
		a.WarnOfEdit("", warnings, changes)
		return nil
	})
}

// EditResult ends a command that writes: with --json it prints body and the changes as an
// object of this kind, in a dry run the diff, and otherwise it calls show.
func (a *App) EditResult(kind string, body any, changes []beads.Change, dryRun bool, show func() error) error {
	switch {
	case a.JSON:
		return a.PrintEdit(kind, body, changes, dryRun)
	case dryRun:
		return a.PrintDiff(changes)
	}
	return show()
}

// PrintEdit prints the JSON output of an edit; see workspace.EditOutput.
func (a *App) PrintEdit(kind string, body any, changes []beads.Change, dryRun bool) error {
	return a.PrintOutput(workspace.EditOutput(kind, body, changes, dryRun))
}

func (a *App) PrintDiff(changes []beads.Change) error {
	if len(changes) == 0 {
		return a.Print("nothing would change\n")
	}
	text, err := workspace.DiffText(changes)
	if err != nil {
		return err
	}
	return a.Print(text)
}
