package traces

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service/traces"
)

// DigestCommand returns stig digest.
func DigestCommand(a *cli.App) *cobra.Command {
	var r traces.DigestRequest
	cmd := &cobra.Command{
		Use:   "digest ID [-- CMD ARG…]",
		Short: "show the traces on an issue since its last summary",
		Long: "Show the traces on an issue since the last summary, by type, newest first, repeated ones only\n" +
			"once. A command gets the digest on standard input, and its output is left as the summary: the\n" +
			"first line, and the text below.",
		Args:    cli.TakesCommand("one issue", &r.Command),
		Example: "  stig digest demo-1\n  stig digest demo-1 -- ./summarise.sh",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Issue = args[0]
			d, err := traces.MakeDigest(cmd.Context(), a.Run, r)
			switch {
			case err != nil:
				return err
			case d.Added != nil:
				return printAdded(a, d.Added, r.DryRun)
			case a.JSON:
				return a.PrintJSON("digest", digestBody(d))
			}
			return a.PrintMarkdown(d.Markdown)
		},
	}
	cmd.Flags().IntVar(&r.Budget, "budget", traces.DigestBudget, "at most `N` characters")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// digested is a digest as JSON.
type digested struct {
	Groups []group `json:"groups"`
	ID     string  `json:"id"`
	Newest string  `json:"newest"`
	Since  string  `json:"since"`
	Title  string  `json:"title"`
	Total  int     `json:"total"`
}

// group is the traces of one type.
type group struct {
	Traces []said `json:"traces"`
	Type   string `json:"type"`
}

type said struct {
	traces.Row
	Times int `json:"times"`
}

func digestBody(d *traces.Digest) digested {
	groups := []group{}
	for _, g := range d.Digest.Groups {
		one := group{[]said{}, g.Type}
		for _, s := range g.Said {
			one.Traces = append(one.Traces, said{traces.RowOf(s.Left), s.Times})
		}
		groups = append(groups, one)
	}
	return digested{groups, d.ID, d.Digest.Newest, d.Digest.Since, d.Title, d.Digest.Total}
}

// RollupCommand returns stig rollup.
func RollupCommand(a *cli.App) *cobra.Command {
	var r traces.RollupRequest
	cmd := &cobra.Command{
		Use:   "rollup EPIC",
		Short: "summarize the results of the issues in an epic",
		Long: "Gather the results of the closed issues within an epic, dependencies before dependents: of\n" +
			"each the newest completion, else the close reason and the state estimate. Issues that are not\n" +
			"closed, or left nothing, are listed as missing. --write writes the results to the notes of\n" +
			"the epic, in place of earlier ones.",
		Args:    cli.Takes(1, 1, "one epic"),
		Example: "  stig rollup demo-4k2\n  stig rollup demo-4k2 --write",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Epic = args[0]
			rollup, err := traces.RollUp(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return a.EditResult("rollup", rollup, rollup.Changes, r.DryRun, func() error {
				a.WarnOfLines(rollup.Changes)
				return a.PrintMarkdown(rollup.Markdown)
			})
		},
	}
	cmd.Flags().BoolVar(&r.Write, "write", false, "write it to the notes of the epic, section synthesis")
	a.Writes(cmd, &r.DryRun)
	return cmd
}
