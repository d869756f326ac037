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

// PrintEdit prints the data of an edit: its own keys, whether it was written,
// the issues it touched, and for a dry run the diff.
func (a *App) PrintEdit(kind string, body any, changes []beads.Change, dryRun bool) error {
	own := struct {
		Issues []string `json:"issues"`
		DryRun bool     `json:"dry_run"`
		Diff   *string  `json:"diff,omitempty"`
	}{Issues: []string{}, DryRun: dryRun}
	for _, c := range changes {
		own.Issues = append(own.Issues, c.ID)
	}
	if dryRun {
		text, err := app.DiffText(changes)
		if err != nil {
			return err
		}
		own.Diff = &text
	}
	return a.PrintJSON(kind, body, own)
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
