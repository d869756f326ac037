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

// found is the first issues of total, as JSON.
type found[Row any] struct {
	Issues []Row `json:"issues"`
	Total  int   `json:"total"`
}

func ListCommand(a *cli.App) *cobra.Command {
	var f filters
	var limit int
	var all, bd bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the unclosed issues, or those that match",
		Long: "List issues by priority, then id. Closed issues are left out, unless --all or --status\n" +
			"includes them. Every filter must match; a filter with several values, separated by commas,\n" +
			"matches any of them. The assignee @me is you, and none is nobody. A view is a list of filters\n" +
			"with a name, in .stig.cue:\n" +
			"  views: mine: {assignee: [\"@me\"], sort: \"updated\"}\n" +
			"Flags override the view.",
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
			r, err := f.read()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("limit") {
				r.Limit = &limit
			}
			if cmd.Flags().Changed("all") {
				r.All = &all
			}
			r.Tables, r.BD = a.JSON, bd
			list, err := service.List(a.Run, r)
			if err == nil && bd {
				return a.PrintBD(list.BD)
			}
			return a.Result("list", list, err, func() error {
				if n := list.Waiting; n > 0 {
					words := map[bool]string{true: "of another status waits", false: "of other statuses wait"}[n == 1]
					defer a.Hint(fmt.Sprintf("%s %s for unclosed issues; type stig blocked", visible.Counted(n, "issue"), words))
				}
				err := printList(a, list.Rows, list.Total)
				if err == nil && list.Total == 0 && cmd.Flags().NFlag() == 0 {
					a.Hint("type stig create TITLE to add an issue, or stig list --all to see closed ones")
				}
				return err
			})
		},
	}
	f.bind(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.Sort, "sort", "", "sort by `KEY`: "+cli.Either(service.SortKeys())+" (default priority)")
	flags.IntVarP(&limit, "limit", "n", 0, "at most `N` issues (default all)")
	flags.BoolVar(&all, "all", false, "closed issues too")
	a.BDFormat(cmd, &bd)
	cli.Filters(cmd, "sort")
	a.Acts(cmd)
	return cmd
}

// filters are the flags that select issues.
type filters struct {
	service.ListRequest
	priorities, values []string
}

func (f *filters) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.Status, "status", "s", nil, "`STATUS`es, such as open,in_progress")
	flags.StringSliceVarP(&f.Types, "type", "t", nil, "`TYPE`s, such as bug,task")
	flags.StringSliceVarP(&f.priorities, "priority", "p", nil, "priorities, 0 (most urgent) to 4, or P0 to P4")
	flags.StringArrayVarP(&f.Labels, "label", "l", nil, "`LABEL`; of several, all must be present")
	flags.StringSliceVarP(&f.Assignees, "assignee", "a", nil, "`NAME`s of assignees")
	flags.StringArrayVar(&f.values, "signal", nil, "`NAME=VALUE`, such as cynefin=complex; of several, all must match")
	flags.StringVar(&f.Parent, "parent", "", "only issues within the epic `ID`")
	flags.StringVar(&f.Since, "since", "", "changed since `WHEN`: a day, a time or an age such as 7d")
	flags.BoolVar(&f.Overdue, "overdue", false, "not closed, and due before now")
	flags.StringVar(&f.View, "view", "", "use the filters of the view `NAME`")
	cli.Filters(cmd, "status", "type", "priority", "label", "assignee", "parent", "since", "view")
}

// read parses the filters that are not plain texts.
func (f *filters) read() (service.ListRequest, error) {
	for _, text := range f.priorities {
		p, err := checkpoint.ParsePriority(text)
		if err != nil {
			return f.ListRequest, err
		}
		f.Priorities = append(f.Priorities, p)
	}
	for _, text := range f.values {
		s, err := service.ParseSignalValue(text)
		if err != nil {
			return f.ListRequest, err
		}
		f.Signals = append(f.Signals, s)
	}
	if slices.Equal(f.Status, []string{"all"}) { // as in bd
		f.Status, f.All = nil, new(true)
	}
	return f.ListRequest, nil
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
