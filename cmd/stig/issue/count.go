package issue

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
)

func CountCommand(a *cli.App) *cobra.Command {
	var f filters
	var by string
	cmd := &cobra.Command{
		Use:   "count",
		Short: "count the issues that match",
		Long: "Count issues, closed ones too unless --status selects others. The filters are those of stig\n" +
			"list.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig count --status open\n  stig count --by status",
		RunE: func(*cobra.Command, []string) error {
			r, err := f.read()
			if err != nil {
				return err
			}
			counted, err := service.Count(a.Run, r, by)
			return a.Result("count", counted, err, func() error { return a.Print(countText(counted)) })
		},
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&by, "by", "", "count by `KEY`: "+cli.Either(service.GroupKeys()))
	cli.Filters(cmd, "by")
	a.Acts(cmd)
	for _, key := range service.GroupKeys() {
		cmd.Flags().BoolFunc("by-"+key, "", func(string) error { by = key; return nil })
		cmd.Flags().Lookup("by-" + key).Hidden = true
	}
	return cmd
}

// countText returns the number alone, or a line for each group and one for the total.
func countText(c *service.Counted) string {
	if c.Groups == nil {
		return fmt.Sprintf("%d\n", c.Count)
	}
	var b strings.Builder
	width := len(fmt.Sprint(c.Count))
	for _, g := range c.Groups {
		fmt.Fprintf(&b, "%*d  %s\n", width, g.Count, visible.OneLine(g.Group))
	}
	return b.String() + visible.Counted(c.Count, "issue") + "\n"
}

func StatsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "stats",
		Short:   "count the issues of the store by status",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig stats",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := service.Stats(cmd.Context(), a.Run)
			return a.Result("stats", statsOutput{s}, err, func() error { return a.Print(statsText(s)) })
		},
	}
}

// statsOutput has the counts under the same key as bd.
type statsOutput struct {
	Summary *service.Statistics `json:"summary"`
}

func statsText(s *service.Statistics) string {
	var b strings.Builder
	for _, row := range []struct {
		name string
		n    int
	}{
		{"issues", s.Total}, {"open", s.Open}, {"in progress", s.InProgress}, {"deferred", s.Deferred}, {"pinned", s.Pinned}, {"closed", s.Closed},
		{"ready", s.Ready}, {"blocked by unclosed issues", s.Blocked}, {"epics to close", s.Complete},
	} {
		fmt.Fprintf(&b, "%*d  %s\n", len(fmt.Sprint(s.Total)), row.n, row.name)
	}
	return b.String()
}
