package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/criteria"
	"stig/signals"
)

func (a *app) verifyCommand() *cobra.Command {
	var o trialOptions
	var plan bool
	cmd := &cobra.Command{
		Use:   "verify ID",
		Short: "run the commands in an issue's acceptance criteria",
		Long: "Run the commands in an issue's acceptance criteria, in the root of the repository, one\n" +
			"at a time and in order. What passes counts until the criteria or the work tree change:\n" +
			"stig close then runs nothing again. A repository must be trusted once; see stig trust.",
		GroupID: "work",
		Args:    takes(1, 1, "one issue"),
		Example: "  stig verify demo-1 --plan\n  stig verify demo-1 --keep-going --timeout 90s",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			t, err := a.trialOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if plan {
				return a.printPlan(t)
			}
			now, err := a.clock()
			if err != nil {
				return err
			}
			f := finding{id: t.id, trial: t, err: a.try(cmd.Context(), t, o)}
			if err := errors.Join(cmd.Context().Err(), t.settle()); err != nil {
				return err
			}
			a.notify(cmd.Context(), t.site.store, now, f.notices(signals.Day(now)))
			if err := a.tell(f); err != nil {
				return err
			}
			if err := a.warnOfStale(cmd.Context(), t); err != nil {
				return err
			}
			return a.conclude([]finding{f})
		},
	}
	cmd.Flags().BoolVar(&plan, "plan", false, "print what would run, what would not, and why; run nothing")
	o.bind(cmd)
	a.acts(cmd)
	return cmd
}

// trialOf plans the criteria of an issue of the store.
func (a *core) trialOf(ctx context.Context, id string) (*trial, error) {
	file, at, err := a.openIssue(id)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	issue := file.At(at)
	if issue.Status == "tombstone" {
		return nil, &beads.RefusedError{Path: file.Store().Path, Line: issue.Line,
			Reason: issue.ID + " was deleted (status tombstone)", Hint: "verify another issue"}
	}
	record, err := issue.Record()
	if err != nil {
		return nil, err
	}
	s, err := a.site(ctx, file.Store())
	if err != nil {
		return nil, err
	}
	return a.trial(ctx, s, issue.ID, criteria.Source(record.Text(beads.AcceptanceCriteria), record.Text(beads.Description))), nil
}

// warnOfStale says when the checks themselves changed the work tree, so that what
// they showed counts no more.
func (a *core) warnOfStale(ctx context.Context, t *trial) error {
	if _, kept := t.site.verdicts(); !kept || !t.verdict.Passed() {
		return nil
	}
	fresh, err := t.site.fresh(ctx)
	if err != nil {
		return err
	}
	if _, counts := fresh(t.id, t.criteria); !counts {
		a.warn("%s: its checks changed the work tree, so that stig close runs them again", t.id)
		a.hint("let git ignore what they write")
	}
	return nil
}

func (a *app) printPlan(t *trial) error {
	if err := t.settle(); err != nil {
		return err
	}
	if a.json {
		return a.printJSON("verdict", finding{id: t.id, trial: t}.object())
	}
	if t.edited != nil {
		a.warnOfEdited(t)
	}
	text := planText(t)
	if !t.asks() {
		text += "what could show it:\n" + t.fence()
	}
	return a.print(text)
}
