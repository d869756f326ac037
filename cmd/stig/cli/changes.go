package cli

import (
	"stig/app"
	"stig/beads"
)

// PrintChanges says which issues an edit changed, or shows the diff of a dry run.
func (a *App) PrintChanges(changes []beads.Change, warnings []string, dryRun bool) error {
	if a.JSON {
		return a.PrintEdit("edit", map[string]any{"warnings": append([]string{}, warnings...)}, changes, dryRun)
	}
	if dryRun {
		return a.PrintDiff(changes)
	}
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
}

// PrintEdit prints the data of an edit; see app.EditOutput.
func (a *App) PrintEdit(kind string, body any, changes []beads.Change, dryRun bool) error {
	return a.PrintOutput(app.EditOutput(kind, body, changes, dryRun))
}

func (a *App) PrintDiff(changes []beads.Change) error {
	if len(changes) == 0 {
		return a.Print("nothing would change\n")
	}
	text, err := app.DiffText(changes)
	if err != nil {
		return err
	}
	return a.Print(text)
}
