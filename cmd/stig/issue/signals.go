package issue

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
	"stig/signals"
)

func SignalsCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "signals",
		Short: "read and write the signal table of an issue",
		Args:  a.UnknownCommand,
		RunE:  a.HelpAlone,
	}
	cmd.AddCommand(signalsGet(a), signalsSet(a), signalsInit(a), signalsReconcile(a))
	return cmd
}

func signalsGet(a *cli.App) *cobra.Command {
	var withDates bool
	cmd := &cobra.Command{
		Use:     "get ID [SIGNAL]",
		Short:   "print the signals of an issue",
		Long:    "Print the signals of an issue; with --json exactly what the schema describes.",
		Args:    cli.Takes(1, 2, "one issue, and one signal at most"),
		Example: "  stig signals get demo-1\n  stig signals get demo-1 surprise",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && (a.JSON || withDates) {
				return workspace.Usage("one signal is printed as plain text, without its date", "leave out "+args[1]+", or --json and --dates")
			}
			id, table, err := service.SignalTable(a.Run, args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				return printSignal(a, table, args[1])
			}
			return printTable(a, id, table, withDates)
		},
	}
	cmd.Flags().BoolVar(&withDates, "dates", false, "also print the date and the problems of each row")
	return cmd
}

func signalsSet(a *cli.App) *cobra.Command {
	var r service.SetSignalsRequest
	cmd := &cobra.Command{
		Use:     "set ID SIGNAL=VALUE…",
		Short:   "set rows of the signal table",
		Args:    cli.Takes(2, -1, "one issue and SIGNAL=VALUE at least once"),
		Example: "  stig signals set demo-1 surprise=0.4 cynefin=complex",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if r.ID, r.Set, err = readRows(args); err != nil {
				return err
			}
			edit, err := service.SetSignals(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return a.PrintChanges(edit.Changes, edit.Warnings, r.DryRun)
		},
	}
	cmd.Flags().BoolVar(&r.Reaffirm, "reaffirm", false, "update the date of the rows even if the value stays")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// readRows parses ID SIGNAL=VALUE….
func readRows(args []string) (id string, set map[signals.Signal]string, err error) {
	set = map[signals.Signal]string{}
	for _, arg := range args[1:] {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return "", nil, workspace.Usage(fmt.Sprintf("%q: must be SIGNAL=VALUE", arg), "such as surprise=0.4")
		}
		s, err := signalNamed(name)
		if err != nil {
			return "", nil, err
		}
		if _, twice := set[s]; twice {
			return "", nil, workspace.Usage(fmt.Sprintf("%s: given twice", s), "")
		}
		set[s] = value
	}
	return args[0], set, nil
}

func signalsInit(a *cli.App) *cobra.Command {
	var r service.InitSignalsRequest
	cmd := &cobra.Command{
		Use:     "init [ID…]",
		Short:   "add a signal table to issues without one",
		Long:    "Add a signal table to issues that have none; without ID, to every unclosed issue.",
		Args:    cli.Takes(0, -1, "any number of issues"),
		Example: "  stig signals init demo-1\n  stig signals init --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.IDs = args
			edit, err := service.InitSignals(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return a.PrintChanges(edit.Changes, edit.Warnings, r.DryRun)
		},
	}
	cmd.Flags().BoolVar(&r.Evidence, "evidence", false, "also add the rows confidence, evidence-freshness and regression-guard")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func signalsReconcile(a *cli.App) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "reconcile ID",
		Short:   "merge the signal tables that a bad merge left",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig signals reconcile demo-1 --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			edit, err := service.ReconcileSignals(cmd.Context(), a.Run, args[0], dryRun)
			if err != nil {
				return err
			}
			return a.PrintChanges(edit.Changes, edit.Warnings, dryRun)
		},
	}
	a.Writes(cmd, &dryRun)
	return cmd
}
