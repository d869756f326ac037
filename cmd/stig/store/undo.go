package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/cmd/stig/cli"
	"stig/live"
	"stig/recovery"
)

func UndoCommand(a *cli.App) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "undo [N]",
		Short: "take back your last edits",
		Long: "undo takes back the last edit, or the last N, that this actor made in this work tree on\n" +
			"the branch that is checked out, as a new edit. It refuses when somebody changed since\n" +
			"what the edit wrote. stig log lists the edits. An undone create leaves a tombstone.",
		GroupID: "store",
		Args:    cli.Takes(0, 1, "one number at most"),
		Example: "  stig undo\n  stig undo 2 --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			count := 1
			if len(args) == 1 {
				var err error
				if count, err = strconv.Atoi(args[0]); err != nil || count < 1 {
					return app.Usage(fmt.Sprintf("undo: must be a number of edits, 1 or more; found %q", args[0]), "stig log lists the edits")
				}
			}
			return undo(cmd.Context(), a, count, dryRun)
		},
	}
	a.Writes(cmd, &dryRun)
	return cmd
}

func undo(ctx context.Context, a *cli.App, count int, dryRun bool) error {
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return err
	}
	actor, err := a.MustActor(ctx)
	if err != nil {
		return err
	}
	place, err := live.At(store.Place().Path)
	if err != nil {
		return err
	}
	journal, err := place.Journal()
	if err != nil {
		return err
	}
	records := recovery.Undoable(journal, place, actor, count)
	if len(records) < count {
		return app.Usage(fmt.Sprintf("undo: %s has %s to undo here; found %d", actor, app.Counted(len(records), "edit"), count), "stig log --actor "+actor+" lists them")
	}
	for _, r := range records {
		a.Journal.Undoes = append(a.Journal.Undoes, r.Seq)
	}
	lines, err := recovery.Undo(ctx, store, options, records, actor, a.Schema)
	if err != nil {
		return err
	}
	return printUndone(a, records, lines, dryRun)
}

func printUndone(a *cli.App, records []live.Record, lines []beads.Change, dryRun bool) error {
	undone := []logged{}
	for _, r := range records {
		undone = append(undone, loggedOf(r, nil))
	}
	switch {
	case a.JSON:
		return a.PrintEdit("undo", map[string]any{"undone": undone}, lines, dryRun)
	case dryRun:
		return a.PrintDiff(lines)
	}
	for _, e := range undone {
		for _, c := range e.Changes {
			if err := a.Printf("%s: undone: %s\n", c.Issue, changeLine(c)); err != nil {
				return err
			}
		}
	}
	return nil
}
