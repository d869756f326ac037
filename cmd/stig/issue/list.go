package issue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// found are the first issues of a total as data.
type found[Row any] struct {
	Issues []Row `json:"issues"`
	Total  int   `json:"total"`
}

func ListCommand(a *cli.App) *cobra.Command {
	var r service.ListRequest
	var priorities, values []string
	var limit int
	var all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the issues that are not closed, or those that match",
		Long: "List issues by priority, then id: those that are not closed, unless --all or\n" +
			"--status asks for others. Every filter must match; of several values of one\n" +
			"filter, separated by commas, one is enough. The assignee @me is who asks, and\n" +
			"none is nobody. A view is a list of filters with a name, in .stig.cue:\n" +
			"  views: mine: {assignee: [\"@me\"], sort: \"updated\"}\n" +
			"Flags count more than the view.",
		GroupID: "graph",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if slices.Contains(service.Statuses(), args[0]) {
					return workspace.Usage(fmt.Sprintf("%s: filters are flags; found %q", cli.Called(cmd), args[0]), "type stig list --status "+args[0])
				}
				return workspace.Usage(fmt.Sprintf("%s: filters are flags; found %q", cli.Called(cmd), args[0]), "type stig search "+strings.Join(args, " "))
			}
			return nil
		},
		Example: "  stig list --status open,in_progress --priority 0,1\n" +
			"  stig list --signal cynefin=complex --signal progress=exploring\n" +
			"  stig list --parent demo-4k2 --since 7d --sort updated\n" +
			"  stig list --view mine",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("limit") {
				r.Limit = &limit
			}
			if cmd.Flags().Changed("all") {
				r.All = &all
			}
			if err := readFilters(&r, priorities, values); err != nil {
				return err
			}
			r.Tables = a.JSON
			rows, total, err := service.List(a.Run, r)
			return a.Result("list", found[service.ListRow]{rows, total}, err, func() error {
				err := printList(a, rows, total)
				if err == nil && total == 0 && cmd.Flags().NFlag() == 0 {
					a.Hint("type stig create TITLE to add an issue, or stig list --all to see closed ones")
				}
				return err
			})
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&r.Status, "status", "s", nil, "`STATUS`es such as open,in_progress")
	flags.StringSliceVarP(&r.Types, "type", "t", nil, "`TYPE`s such as bug,task")
	flags.StringSliceVarP(&priorities, "priority", "p", nil, "priorities, 0 (most urgent) to 4, or P0 to P4")
	flags.StringArrayVarP(&r.Labels, "label", "l", nil, "a `LABEL`; of several each must be there")
	flags.StringSliceVarP(&r.Assignees, "assignee", "a", nil, "`NAME`s of those who do it")
	flags.StringArrayVar(&values, "signal", nil, "a `NAME=VALUE` such as cynefin=complex; of several each must hold")
	flags.StringVar(&r.Parent, "parent", "", "`ID` of the epic that holds them")
	flags.StringVar(&r.Since, "since", "", "changed since `WHEN`: a day, a time or an age such as 7d")
	flags.StringVar(&r.Sort, "sort", "", "by `KEY`: "+cli.Either(service.SortKeys())+" (default priority)")
	flags.IntVarP(&limit, "limit", "n", 0, "the first `N` only (default all)")
	flags.StringVar(&r.View, "view", "", "the filters of the view `NAME`")
	flags.BoolVar(&all, "all", false, "closed issues too")
	cli.Filters(cmd, "status", "type", "priority", "label", "assignee", "parent", "since", "sort", "view")
	a.Acts(cmd)
	return cmd
}

// readFilters reads the filters that are more than a text.
func readFilters(r *service.ListRequest, priorities, values []string) error {
	for _, text := range priorities {
		p, err := checkpoint.ParsePriority(text)
		if err != nil {
			return err
		}
		r.Priorities = append(r.Priorities, p)
	}
	for _, text := range values {
		s, err := service.ParseSignalValue(text)
		if err != nil {
			return err
		}
		r.Signals = append(r.Signals, s)
	}
	return nil
}

// printList puts each issue on one line: priority, id, status, type, assignee, last change, title.
func printList(a *cli.App, rows []service.ListRow, total int) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	var lines [][]cli.Cell
	for _, r := range rows {
		assignee, changed := "", ""
		if r.Assignee != "" {
			assignee = "@" + visible.OneLine(r.Assignee)
		}
		if !r.Updated.IsZero() {
			changed = visible.Ago(now.Sub(r.Updated))
		}
		lines = append(lines, []cli.Cell{cli.Priority(r.Priority), {Style: cli.Strong, Text: r.ID}, {Text: r.Status},
			{Style: cli.Faint, Text: r.IssueType}, {Text: visible.Clipped(assignee, 16)}, {Style: cli.Faint, Text: changed}, {Text: visible.OneLine(r.Title)}})
	}
	s := a.Sheet()
	s.Rows(lines, 6, cli.ListWidth)
	count := visible.Counted(total, "issue")
	if len(rows) < total {
		count = fmt.Sprintf("%d of %s", len(rows), count)
	}
	s.Line(cli.Plain, count)
	return a.Show(s)
}
