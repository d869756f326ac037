package issue

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
)

func SearchCommand(a *cli.App) *cobra.Command {
	r := service.SearchRequest{Limit: 20}
	var f filters
	cmd := &cobra.Command{
		Use:   "search WORDS",
		Short: "find issues by words in any of their texts",
		Long: "Find issues by words in any of their texts, closed ones too, the best first. Issues with more\n" +
			"of the words come first; then ids, titles, labels and external references count more than\n" +
			"other texts, and rare words more than frequent ones. A word also finds longer words that\n" +
			"begin with it. The filters are those of stig list.",
		Args:    cli.Takes(1, -1, "the words to look for"),
		Example: "  stig search tide gauge\n  stig search lock --open --limit 5",
		RunE: func(_ *cobra.Command, args []string) error {
			among, err := f.read()
			if err != nil {
				return err
			}
			if r.Among = &among; len(among.Status) == 0 {
				among.All = new(true)
			}
			r.Words = strings.Join(args, " ")
			rows, total, err := service.Search(a.Run, r)
			return a.Result("search", found[service.SearchRow]{rows, total}, err, func() error { return printFound(a, rows, total) })
		},
	}
	f.bind(cmd)
	a.Acts(cmd)
	cmd.Flags().BoolVar(&r.Open, "open", false, "leave out closed issues")
	cmd.Flags().IntVarP(&r.Limit, "limit", "n", r.Limit, "the best `N` issues; 0 for all")
	return cmd
}

// printFound prints a line for each issue and, below it, the matching line if that is not the
// title.
func printFound(a *cli.App, rows []service.SearchRow, total int) error {
	s := a.Sheet()
	for _, r := range rows {
		s.Line(cli.Plain, cli.CutLine(fmt.Sprintf("%s  %s  %s", r.ID, r.Status, visible.OneLine(r.Title)), cli.ListWidth))
		if r.Field != "title" && r.Field != "id" {
			s.Line(cli.Faint, cli.CutLine("    "+r.Field+": "+r.Excerpt, cli.ListWidth))
		}
	}
	count := visible.Counted(total, "issue")
	if len(rows) < total {
		count = fmt.Sprintf("%d of %s; --limit 0 shows all", len(rows), count)
	}
	s.Line(cli.Plain, count)
	return a.Show(s)
}
