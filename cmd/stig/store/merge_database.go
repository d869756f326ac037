package store

import (
	"cmp"
	"context"
	"strings"

	"stig/app"
	"stig/app/merging"
	"stig/cmd/stig/cli"
	"stig/merge"
)

// mergeDatabase merges a branch of Dolt, and lists what somebody has to decide.
func mergeDatabase(ctx context.Context, a *cli.App, r merging.Request) error {
	m, err := merging.Merge(ctx, a.App, r)
	if err != nil {
		return err
	}
	for _, w := range m.Warnings {
		a.Warn("%s: %s", w.ID, w.Message)
	}
	if err := printMerged(a, m, r.DryRun); err != nil {
		return err
	}
	if len(m.Tables) > 0 {
		a.Warn("conflicts are left in tables that are not stig's: %s", strings.Join(m.Tables, ", "))
		a.Hint("resolve them with CALL DOLT_CONFLICTS_RESOLVE('--ours', 'TABLE'), then type stig merge --database")
	}
	if len(m.Conflicts) > 0 {
		a.Hint(app.AnswerHint(m.Conflicts[0]) + "; or undo the merge: CALL DOLT_MERGE('--abort')")
	}
	if len(m.Conflicts)+len(m.Tables) > 0 {
		return app.Found()
	}
	return nil
}

func printMerged(a *cli.App, m *merging.Merged, dryRun bool) error {
	switch {
	case a.JSON:
		data := map[string]any{
			"conflicts": append([]merge.Conflict{}, m.Conflicts...), "warnings": append([]merge.Warning{}, m.Warnings...),
			"written": m.Store, "dry_run": dryRun,
		}
		if dryRun {
			data["written"], data["diff"] = "", m.Diff()
		}
		return a.PrintJSON("merge", data)
	case dryRun && len(m.Conflicts) == 0:
		return a.Print(cmp.Or(m.Diff(), "nothing would change\n"))
	case dryRun:
		return a.Print(m.Diff() + "\n" + conflictsText(m.Conflicts))
	case m.Nothing:
		return a.Printf("%s: nothing to merge\n", m.Branch)
	case m.Done:
		return a.Printf("merged %s\n", m.Branch)
	}
	return a.Print(conflictsText(m.Conflicts))
}
