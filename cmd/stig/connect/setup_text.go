package connect

import (
	"cmp"
	"strings"

	"stig/cmd/stig/cli"
	"stig/internal/doctor"
	"stig/internal/workspace"
)

// printSetup says what was done to a target, or would be, and what is missing now;
// with --check it ends in exit 1 when something is. An error of setup is passed on.
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
	for _, obstacle := range r.Obstacles {
		a.Hint(obstacle.Do)
	}
	if o.Check && len(r.Missing)+len(r.Obstacles) > 0 {
		return workspace.Found()
	}
	return nil
}

func setupJSON(target string, o doctor.SetupOptions, r *doctor.SetupResult) map[string]any {
	if o.Print {
		return map[string]any{"target": target, "text": r.Text}
	}
	data := map[string]any{
		"target": target, "installed": len(r.Missing) == 0, "dry_run": o.DryRun,
		"missing": append([]string{}, r.Missing...), "changed": append([]string{}, r.Changed...),
	}
	if o.DryRun {
		data["diff"] = r.Diff
	}
	var obstacles []map[string]string
	for _, obstacle := range r.Obstacles {
		obstacles = append(obstacles, map[string]string{"file": obstacle.File, "found": obstacle.Found, "do": obstacle.Do})
	}
	if len(obstacles) > 0 {
		data["obstacles"] = obstacles
	}
	return data
}

func setupText(target string, o doctor.SetupOptions, r *doctor.SetupResult) string {
	title, list := "written", r.Changed
	switch {
	case o.Check && len(r.Missing) == 0:
		title = "all is there"
	case o.Check:
		title, list = "missing", r.Missing
	case len(r.Changed) == 0:
		title = "nothing to do"
	case o.Remove:
		title = "removed"
	}
	text := target + ": " + strings.Join(append([]string{title}, list...), "\n  ") + "\n"
	for _, obstacle := range r.Obstacles {
		text += "  does not run: " + obstacle.File + ": " + obstacle.Found + "\n"
	}
	return text
}
