package issue

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
)

func ListCommand(a *cli.App) *cobra.Command {
	var r app.ListRequest
	var priorities, values []string
	cmd := &cobra.Command{
		Use:        "list",
		SuggestFor: []string{"ls", "search"},
		Short:      "the issues that are not closed, or those that match",
		Long: "List issues by priority, then id: those that are not closed, unless --all or\n" +
			"--status asks for others. Every filter must match; of several values of one\n" +
			"filter, separated by commas, one is enough.",
		GroupID: "graph",
		Args:    cli.Takes(0, 0, "no arguments; filters are flags"),
		Example: "  stig list --status open,in_progress --priority 0,1\n" +
			"  stig list --signal cynefin=complex --signal progress=exploring",
		RunE: func(*cobra.Command, []string) error {
			if err := readFilters(&r, priorities, values); err != nil {
				return err
			}
			r.Tables = a.JSON
			rows, err := a.List(r)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON("list", map[string]any{"issues": rows})
			}
			return a.Print(listText(rows))
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&r.Status, "status", nil, "`STATUS`es such as open,in_progress")
	flags.StringSliceVar(&r.Types, "type", nil, "`TYPE`s such as bug,task")
	flags.StringSliceVar(&priorities, "priority", nil, "priorities, 0 (most urgent) to 4, or P0 to P4")
	flags.StringArrayVar(&r.Labels, "label", nil, "a `LABEL`; of several each must be there")
	flags.StringSliceVar(&r.Assignees, "assignee", nil, "`NAME`s of those who do it")
	flags.StringArrayVar(&values, "signal", nil, "a `NAME=VALUE` such as cynefin=complex; of several each must hold")
	flags.BoolVar(&r.All, "all", false, "closed issues too")
	return cmd
}

// readFilters reads the filters that are more than a text.
func readFilters(r *app.ListRequest, priorities, values []string) error {
	for _, text := range priorities {
		p, err := priorityOf(text)
		if err != nil {
			return err
		}
		r.Priorities = append(r.Priorities, p)
	}
	for _, text := range values {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return app.Usage(fmt.Sprintf("--signal: must be NAME=VALUE; found %q", text), "for example --signal cynefin=complex")
		}
		s, err := signalNamed(name)
		if err != nil {
			return err
		}
		r.Signals = append(r.Signals, app.SignalValue{Signal: s, Value: value})
	}
	return nil
}

// listText puts each issue on one line.
func listText(rows []app.ListRow) string {
	var id, status, kind int
	for _, r := range rows {
		id, status, kind = max(id, utf8.RuneCountInString(r.ID)), max(status, len(r.Status)), max(kind, len(r.IssueType))
	}
	var b strings.Builder
	for _, r := range rows {
		line := fmt.Sprintf("P%d  %-*s  %-*s  %-*s  %s", r.Priority, id, r.ID, status, r.Status, kind, r.IssueType, r.Title)
		if r.Assignee != "" {
			line = fmt.Sprintf("P%d  %-*s  %-*s  %-*s  @%s  %s", r.Priority, id, r.ID, status, r.Status, kind, r.IssueType, r.Assignee, r.Title)
		}
		b.WriteString(cli.CutLine(line, cli.ListWidth) + "\n")
	}
	fmt.Fprintf(&b, "%s\n", app.Counted(len(rows), "issue"))
	return b.String()
}
