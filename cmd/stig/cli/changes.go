package cli

import (
	"stig/internal/beads"
	"stig/internal/workspace"
)

// PrintChanges says which issues an edit changed, or shows the diff of a dry run.
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

// EditResult ends a command that writes: with --json it prints body and the changes, of the kind, as
// data, in a dry run the diff, else show says for a reader what was done.
func (a *App) EditResult(kind string, body any, changes []beads.Change, dryRun bool, show func() error) error {
	switch {
	case a.JSON:
		return a.PrintEdit(kind, body, changes, dryRun)
	case dryRun:
		return a.PrintDiff(changes)
	}
	return show()
}

// PrintEdit prints the data of an edit; see workspace.EditOutput.
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
