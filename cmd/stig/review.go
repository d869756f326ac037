package main

import (
	"github.com/spf13/cobra"

	"stig/dag"
	"stig/orient"
	"stig/signals"
)

func (a *app) reviewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "review ID",
		Short: "where finished work comes together: its trails, surprise and evidence",
		Long: "Review what an issue is to be built on: what its finished dependencies left, in the\n" +
			"order they were built, how much they surprised against what its domain allows, the\n" +
			"weakest and the oldest evidence, and what its own criteria would run. Runs nothing.",
		GroupID: "graph",
		Args:    takes(1, 1, "one issue"),
		Example: "  stig review demo-1",
		RunE: func(_ *cobra.Command, args []string) error {
			file, at, err := a.openIssue(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			rules, err := a.reading(file, signals.ThresholdStaleDays)
			if err != nil {
				return err
			}
			review, err := orient.Assess(file, dag.New(file), at, rules)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON("review", review)
			}
			return a.print(review.Markdown())
		},
	}
}
