package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/checkpoint"
)

func (a *app) propagateCommand() *cobra.Command {
	var to []string
	var discovery text
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "propagate ID --to ID…",
		Short: "put a discovery into the notes of the issues that it bears on",
		Long: "Put a text into the notes of other issues, as a section propagated-from ID DATE,\n" +
			"into all of them or none. Without --to these are the unclosed issues that wait\n" +
			"for ID. Their briefings show it.",
		GroupID: "work",
		Args:    takes(1, -1, "one issue, and - to read the text from standard input"),
		Example: "  stig propagate demo-1 --to demo-2 --to demo-3 -m \"times are UTC now\"\n  stig propagate demo-1 -m \"…\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			rest := discovery.dash(args[1:])
			// --to A B C names three, as the usage line has it.
			if len(rest) > 0 && len(to) == 0 {
				return usage(fmt.Sprintf("%s: takes one issue; found %q after it", called(cmd), rest[0]), "name who is to be told with --to ID")
			}
			text, d, err := a.textOrDraft(cmd.Context(), discovery, "", "What was found out in "+args[0]+", as those need to know it whom it concerns.\n")
			if err != nil {
				return err
			}
			return a.keep(d, a.propagate(cmd, args[0], append(to, rest...), text, dryRun))
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&to, "to", nil, "`ID`s of the issues to tell (default those that wait for it)")
	takesText(cmd, &discovery, "the discovery")
	a.writes(cmd, &dryRun)
	return cmd
}

func (a *app) propagate(cmd *cobra.Command, id string, to []string, text string, dryRun bool) error {
	store, options, err := a.toWrite(cmd.Context(), dryRun)
	if err != nil {
		return err
	}
	report, err := checkpoint.Propagate(cmd.Context(), store, options, id, to, text, checkpoint.Rules{Schema: a.schema, Now: options.Now})
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printEdit("propagate", report, report.Lines, dryRun)
	case dryRun:
		return a.printDiff(report.Lines)
	}
	var out strings.Builder
	for _, t := range report.Targets {
		if t.Changed {
			fmt.Fprintf(&out, "%s: told, in section %s\n", t.ID, t.Section)
		} else {
			fmt.Fprintf(&out, "%s: was told already, in section %s\n", t.ID, t.Section)
		}
	}
	if err := a.print(out.String()); err != nil {
		return err
	}
	a.warnOfEdit("", report.Warnings, report.Lines)
	return nil
}
