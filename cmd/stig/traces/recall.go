package traces

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service/traces"
	"stig/internal/visible"
	"stig/orient"
)

// RecallCommand returns stig recall.
func RecallCommand(a *cli.App) *cobra.Command {
	r := traces.RecallRequest{Limit: traces.RecallLimit}
	cmd := &cobra.Command{
		Use:   "recall WORDS…",
		Short: "show what the store knows about words or an issue",
		Long: "Show what the whole store knows about words, or with --like about the subject of an issue:\n" +
			"issues, closed ones before others, with the passage that says most about it, and the memories\n" +
			"that bd keeps. Titles, descriptions, close reasons, checkpoints, comments, findings, errors,\n" +
			"summaries and completions are searched. Not every word has to be found, and endings do not\n" +
			"matter: ask in your own words. To find issues with given words, type stig search.",
		Args:    cli.Takes(0, -1, "words to ask with"),
		Example: "  stig recall why are the tides copied by hand\n  stig recall --like demo-1",
		RunE: func(_ *cobra.Command, args []string) error {
			r.Words = strings.Join(args, " ")
			out, err := traces.Recall(a.Run, r)
			return a.Result("recall", out, err, func() error { return printRecalled(a, out) })
		},
	}
	cmd.Flags().StringVar(&r.Like, "like", "", "search with the text of the issue `ID`")
	cmd.Flags().IntVarP(&r.Limit, "limit", "n", r.Limit, "the best `N` answers; 0 for all")
	return cmd
}

// printRecalled prints each answer on a line, with its passage below it.
func printRecalled(a *cli.App, out *traces.Recalled) error {
	s := a.Sheet()
	for _, k := range out.Known {
		head := k.ID + "  " + k.Kind
		if k.Kind == orient.KindIssue {
			head = fmt.Sprintf("%s  %s  %s", k.ID, k.Status, visible.OneLine(k.Title))
		}
		s.Line(cli.Plain, cli.CutLine(head, cli.ListWidth))
		if k.Passage != "" {
			from := strings.TrimSpace(k.From + " " + k.Trace)
			s.Line(cli.Faint, cli.CutLine("    "+from+": "+visible.OneLine(k.Passage), passageWidth))
		}
	}
	count := visible.Counted(out.Total, "answer")
	switch {
	case out.Total == 0:
		count = "nothing is known about that"
	case len(out.Known) < out.Total:
		count = fmt.Sprintf("%d of %s; --limit 0 shows all", len(out.Known), count)
	}
	if len(out.Unread) > 0 {
		count += fmt.Sprintf("; there may be more in the %s of the store that could not be read", visible.Counted(len(out.Unread), "place"))
	}
	s.Line(cli.Plain, count)
	return a.Show(s)
}

// passageWidth is the maximum width of a passage, in characters.
const passageWidth = 340
