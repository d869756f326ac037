package connect

import (
	"cmp"
	"strings"

	"stig/cmd/stig/cli"
	"stig/internal/doctor"
	"stig/internal/workspace"
)

// printSetup prints what was done to a target, or would be, and what is missing. With --check
// it returns exit code 1 if something is missing. An error of setup is returned as it is.
func printSetup(a *cli.App, target string, o doctor.SetupOptions, r *doctor.SetupResult, err error) error {
	switch {
	case err != nil:
		return err
	case a.JSON:
		err = a.PrintJSON("setup", setupJSON(target, o, r))
	case o.Print:
		err = a.Print(r.Text)
	case o.DryRun:
		err = a.Print(cmp.Or(r.Diff, "nothing would change\n"))
	default:
		err = a.Print(setupText(target, o, r))
	}
	if err != nil || o.Print {
		return err
	}
	if o.Check { // otherwise Next says how to remove them
		for _, obstacle := range r.Obstacles {
			a.Hint(obstacle.Do)
		}
	}
	if o.Check && len(r.Missing)+len(r.Obstacles) > 0 {
		return workspace.Found()
	}
	return nil
}

// setupOutput is the result of setup as JSON: what was done to a target, or with --print its
// text alone.
type setupOutput struct {
	Changed   []string   `json:"changed,omitzero"`
	Diff      *string    `json:"diff,omitempty"` // only of a dry run
	DryRun    *bool      `json:"dry_run,omitempty"`
	Installed *bool      `json:"installed,omitempty"`
	Missing   []string   `json:"missing,omitzero"`
	Next      string     `json:"next,omitempty"`
	Obstacles []obstacle `json:"obstacles,omitempty"`
	Orders    []order    `json:"orders,omitempty"`
	Target    string     `json:"target"`
	Text      *string    `json:"text,omitempty"`
}

// obstacle is an assistant.Obstacle as JSON.
type obstacle struct {
	Do    string `json:"do"`
	File  string `json:"file"`
	Found string `json:"found"`
}

// order is a doctor.FoundOrder as JSON.
type order struct {
	File    string `json:"file"`
	Instead string `json:"instead"`
	Lines   []int  `json:"lines"`
	Text    string `json:"text"`
}

func setupJSON(target string, o doctor.SetupOptions, r *doctor.SetupResult) setupOutput {
	if o.Print {
		return setupOutput{Target: target, Text: &r.Text}
	}
	data := setupOutput{
		Target: target, Installed: new(len(r.Missing) == 0), DryRun: &o.DryRun,
		Missing: append([]string{}, r.Missing...), Changed: append([]string{}, r.Changed...), Next: r.Next,
	}
	if o.DryRun {
		data.Diff = &r.Diff
	}
	for _, o := range r.Obstacles {
		data.Obstacles = append(data.Obstacles, obstacle{o.Do, o.File, o.Found})
	}
	for _, o := range r.Orders {
		data.Orders = append(data.Orders, order{o.File, o.Instead, o.Lines, o.Text})
	}
	return data
}

func setupText(target string, o doctor.SetupOptions, r *doctor.SetupResult) string {
	title, list := "written", r.Lines
	switch {
	case o.Check && len(r.Missing) == 0:
		title = "nothing is missing"
	case o.Check:
		title, list = "missing", r.Missing
	case len(r.Lines) == 0:
		title = "nothing to do"
	case o.Remove:
		title = "removed"
	}
	text := target + ": " + strings.Join(append([]string{title}, list...), "\n  ") + "\n"
	if !o.Check && !o.Remove {
		for _, missing := range r.Missing {
			text += "  not written: " + missing + "\n"
		}
	}
	for _, obstacle := range r.Obstacles {
		text += "  does not run: " + obstacle.File + ": " + obstacle.Found + "\n"
	}
	for _, order := range r.Orders {
		text += order.Quote() + ": " + order.Instead + "\n"
	}
	if r.Next != "" && !o.Check {
		text += "next: " + r.Next + "\n"
	}
	return text
}
