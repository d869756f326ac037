package issue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/notes"
	"stig/signals"
)

func SignalsCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "signals",
		Short:   "read and write the signal table of an issue",
		GroupID: "store",
		Args:    a.UnknownCommand,
		RunE:    a.HelpAlone,
	}
	cmd.AddCommand(signalsGet(a), signalsSet(a), signalsInit(a), signalsReconcile(a))
	return cmd
}

func signalsGet(a *cli.App) *cobra.Command {
	var withDates bool
	cmd := &cobra.Command{
		Use:     "get ID [SIGNAL]",
		Short:   "the signals of an issue; with --json exactly what the schema describes",
		Args:    cli.Takes(1, 2, "one issue, and one signal at most"),
		Example: "  stig signals get demo-1\n  stig signals get demo-1 surprise",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && (a.JSON || withDates) {
				return app.Usage("one signal is printed as plain text, without its date", "leave out "+args[1]+", or --json and --dates")
			}
			file, at, err := a.OpenIssue(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			record, err := file.At(at).Record()
			if err != nil {
				return err
			}
			table := signals.Read(notes.Parse(record.Text(beads.Notes)), a.Schema)
			if len(args) == 2 {
				return printSignal(a, table, args[1])
			}
			return printTable(a, file.At(at).ID, table, withDates)
		},
	}
	cmd.Flags().BoolVar(&withDates, "dates", false, "with the date of each row, and what is wrong with it")
	return cmd
}

func printSignal(a *cli.App, table *signals.Table, name string) error {
	s, err := signalNamed(name)
	if err != nil {
		return err
	}
	return a.Printf("%s\n", table.Value(s))
}

func printTable(a *cli.App, id string, table *signals.Table, withDates bool) error {
	switch {
	case a.JSON && withDates:
		return a.PrintJSON("signals", map[string]any{
			"id": id, "signals": table, "updated": dates(table), "violations": append([]signals.Finding{}, table.Findings()...),
		})
	case a.JSON:
		text, err := table.MarshalJSON()
		if err != nil {
			return err
		}
		return a.Printf("%s\n", text)
	}
	var text strings.Builder
	for _, s := range table.Signals() {
		fmt.Fprintf(&text, "%-18s %s", s, table.Raw(s))
		if withDates {
			fmt.Fprintf(&text, "  %s", table.Updated(s))
		}
		text.WriteString("\n")
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	for _, f := range table.Findings() {
		a.Warn("%s notes:%d:%d: %s", id, f.Line, f.Column, f.Message)
	}
	if !table.Present() {
		a.Hint("the defaults: the issue has no table; type stig signals init " + id)
	}
	return nil
}

func signalNamed(name string) (signals.Signal, error) {
	s, ok := signals.Named(name)
	if !ok {
		return 0, app.Usage(fmt.Sprintf("signal: must be one of %s; found %q", signalNames(), name), "")
	}
	return s, nil
}

func signalNames() string {
	var names []string
	for _, s := range signals.All() {
		names = append(names, s.String())
	}
	return strings.Join(names, ", ")
}

func signalsSet(a *cli.App) *cobra.Command {
	var dryRun, reaffirm bool
	cmd := &cobra.Command{
		Use:     "set ID SIGNAL=VALUE…",
		Short:   "set rows of the signal table, and nothing else",
		Args:    cli.Takes(2, -1, "one issue and SIGNAL=VALUE at least once"),
		Example: "  stig signals set demo-1 surprise=0.4 cynefin=complex",
		RunE: func(cmd *cobra.Command, args []string) error {
			set := map[signals.Signal]string{}
			for _, arg := range args[1:] {
				name, value, ok := strings.Cut(arg, "=")
				if !ok {
					return app.Usage(fmt.Sprintf("%q: must be SIGNAL=VALUE", arg), "such as surprise=0.4")
				}
				s, err := signalNamed(name)
				if err != nil {
					return err
				}
				if _, twice := set[s]; twice {
					return app.Usage(fmt.Sprintf("%s: given twice", s), "")
				}
				set[s] = value
			}
			table := notes.Permit{Change: []string{signals.Section}}
			return editSignals(cmd.Context(), a, args[:1], dryRun, table, func(d *notes.Doc, now time.Time) (*notes.Doc, []string, error) {
				doc, _, warnings, err := signals.Apply(d, signals.Update{Set: set, Today: signals.Day(now), Reaffirm: reaffirm, Evidence: a.Config.Signals.Evidence}, a.Schema)
				return doc, warnings, err
			})
		},
	}
	cmd.Flags().BoolVar(&reaffirm, "reaffirm", false, "date the rows even where their value stays")
	a.Writes(cmd, &dryRun)
	return cmd
}

func signalsInit(a *cli.App) *cobra.Command {
	var dryRun, evidence bool
	cmd := &cobra.Command{
		Use:     "init [ID…]",
		Short:   "give a signal table to issues that have none; without ID to every unclosed one",
		Args:    cli.Takes(0, -1, "any number of issues"),
		Example: "  stig signals init demo-1\n  stig signals init --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := a.WithoutTable(args)
			if err != nil {
				return err
			}
			table := notes.Permit{Change: []string{signals.Section}}
			return editSignals(cmd.Context(), a, ids, dryRun, table, func(d *notes.Doc, now time.Time) (*notes.Doc, []string, error) {
				doc, _, warnings, err := signals.Apply(d, signals.Update{Today: signals.Day(now), Evidence: evidence || a.Config.Signals.Evidence}, a.Schema)
				return doc, warnings, err
			})
		},
	}
	cmd.Flags().BoolVar(&evidence, "evidence", false, "with the rows confidence, evidence-freshness and regression-guard")
	a.Writes(cmd, &dryRun)
	return cmd
}

func signalsReconcile(a *cli.App) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "reconcile ID",
		Short:   "unite the signal tables that a bad merge left in one issue",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig signals reconcile demo-1 --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			all := notes.Permit{Unite: signals.Singles()}
			return editSignals(cmd.Context(), a, args, dryRun, all, func(d *notes.Doc, _ time.Time) (*notes.Doc, []string, error) {
				return signals.Reconcile(d, a.Schema)
			})
		},
	}
	a.Writes(cmd, &dryRun)
	return cmd
}

// editSignals makes one edit of the notes of each issue, all at once or not at
// all; it may do no more to their sections than is permitted.
func editSignals(ctx context.Context, a *cli.App, ids []string, dryRun bool, may notes.Permit, edit func(*notes.Doc, time.Time) (*notes.Doc, []string, error)) error {
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return err
	}
	options.Notes = may.Check
	var warnings []string
	changes, err := store.Edit(ctx, options, func(tx *beads.Tx) error {
		warnings = nil
		for _, id := range ids {
			record, err := tx.Record(id)
			if err != nil {
				return err
			}
			doc, said, err := edit(notes.Parse(record.Text(beads.Notes)), options.Now)
			if err != nil {
				return &checkpoint.IssueError{ID: record.Text(beads.ID), Err: err}
			}
			for _, w := range said {
				warnings = append(warnings, record.Text(beads.ID)+": "+w)
			}
			if err := tx.Set(id, beads.Set{Key: beads.Notes, Text: doc.Text()}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !dryRun {
		a.Notify(ctx, store.Place(), options.Now, app.ShiftNotices(changes, a.Schema, signals.Day(options.Now)))
	}
	return a.PrintChanges(changes, warnings, dryRun)
}

// usageOf tells the values of a signal in the help of its flag.
func usageOf(s signals.Signal) string {
	switch {
	case s == signals.Surprise:
		return "how far the work left its description, 0.0 to 1.0"
	case s == signals.EvidenceFreshness:
		return "day of the newest evidence, YYYY-MM-DD or absent"
	case s == signals.PlanningDepth:
		return strings.Join(s.Domain(), ", ") + ", or auto: what follows from cynefin"
	}
	return strings.Join(s.Domain(), ", ")
}

// dates are the days of the rows of a table by JSON key; rows without one are left out.
func dates(table *signals.Table) map[string]string {
	byKey := map[string]string{}
	for _, s := range table.Signals() {
		if day := table.Updated(s); day != "" {
			byKey[s.Key()] = day
		}
	}
	return byKey
}
