package issue

import (
	"context"
	"fmt"
	"strings"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// createAll adds the issues of a file.
func createAll(ctx context.Context, a *cli.App, from string, args []string, dryRun bool) error {
	if len(args) > 0 {
		return workspace.Usage(fmt.Sprintf("--from: the file has the titles; found %q", args[0]), "omit one of them")
	}
	text, err := lines(a, from)
	if err != nil {
		return err
	}
	result, err := service.CreateAll(ctx, a.Run, service.CreateAllRequest{From: from, Text: text, DryRun: dryRun})
	if err != nil {
		return err
	}
	noteIDs(a, dryRun)
	for _, c := range result.Created {
		if dryRun && !a.JSON {
			a.WarnOfEdit(c.ID, c.Warnings, nil)
		}
	}
	switch {
	case a.JSON:
		return a.PrintEdit("created-all", result, result.Changes, dryRun)
	case dryRun && result.Plan != nil:
		return a.Print(outline(result.Plan, result.Created))
	case dryRun:
		return a.PrintDiff(result.Changes)
	}
	for _, c := range result.Created {
		line := c.ID
		if !a.Quiet {
			line += ": created (" + visible.OneLine(c.Title) + ")"
			if c.After != nil {
				line += " after " + strings.Join(c.After, ", ")
			}
		}
		if err := a.Printf("%s\n", line); err != nil {
			return err
		}
		a.WarnOfEdit(c.ID, c.Warnings, nil)
	}
	a.WarnOfLines(result.Changes)
	return nil
}

// noteIDs notes that the ids of a dry run are not final, because they depend on the time.
func noteIDs(a *cli.App, dryRun bool) {
	if dryRun {
		a.Note("dry run: the ids may change when the issues are written")
	}
}

// outline formats the issues of a plan, each below its epic, with what it waits for.
func outline(drafts []checkpoint.Draft, made []*checkpoint.Created) string {
	depth := map[string]int{}
	var b strings.Builder
	for i, d := range drafts {
		if above, ok := depth[d.Parent]; ok && d.Parent != "" {
			depth[d.Name] = above + 1
		} else {
			depth[d.Name] = 0
		}
		fmt.Fprintf(&b, "%s%s  P%d %s: %s", strings.Repeat("  ", depth[d.Name]), made[i].ID, d.Priority, d.Type, visible.OneLine(d.Title))
		if after := made[i].After; after != nil {
			b.WriteString("  after " + strings.Join(after, ", "))
		}
		b.WriteString("\n")
	}
	return b.String()
}
