package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/checkpoint"
)

// reopenOptions are the flags of a reopening.
type reopenOptions struct {
	reason string
	text   text // the same, given in another way
	dryRun bool
}

func (a *app) reopenCommand() *cobra.Command {
	var o reopenOptions
	cmd := &cobra.Command{
		Use:   "reopen ID",
		Short: "open a closed issue again, and say why",
		Long: "Open a closed issue again. The reason goes into its notes, with the one that it had been\n" +
			"closed with; those who wait for the issue wait again.",
		GroupID: "work",
		Args:    takes(1, 2, "one issue, and - to read the reason from standard input"),
		Example: "  stig reopen demo-1 --reason \"the second form is still refused\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if args = o.text.dash(args); len(args) != 1 {
				return usage(fmt.Sprintf("%s: takes one issue; found %d", called(cmd), len(args)), "quote the reason, and give it with --reason")
			}
			return a.reopen(cmd.Context(), args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.reason, "reason", "", "what is wrong with it")
	takesText(cmd, &o.text, "the reason")
	a.writes(cmd, &o.dryRun)
	return cmd
}

func (a *app) reopen(ctx context.Context, id string, o reopenOptions) error {
	reason, err := a.reason(o.reason, o.text, "what is wrong with it")
	if err != nil {
		return err
	}
	store, options, err := a.toWrite(ctx, o.dryRun)
	if err != nil {
		return err
	}
	actor, err := a.actorName(ctx)
	if err != nil {
		return err
	}
	reopened, err := checkpoint.Reopen(ctx, store, options, id, reason, actor, checkpoint.Rules{Schema: a.schema, Now: options.Now})
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printEdit("reopen", reopened, reopened.Lines, o.dryRun)
	case !reopened.Changed:
		return a.printf("%s: is not closed (status %s), nothing changed\n", reopened.ID, reopened.Status)
	case o.dryRun:
		return a.printDiff(reopened.Lines)
	}
	return a.printReopened(reopened)
}

func (a *app) printReopened(r *checkpoint.Reopened) error {
	var text strings.Builder
	text.WriteString(r.ID + ": open again\n")
	for _, d := range r.Dependents {
		text.WriteString("waiting for it: " + d.ID + " " + d.Title + "\n")
	}
	if !a.quiet {
		text.WriteString("next: stig orient " + r.ID + "\n")
	}
	if err := a.print(text.String()); err != nil {
		return err
	}
	a.warnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}
