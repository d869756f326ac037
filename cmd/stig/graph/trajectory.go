package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/orient"
	"stig/signals"
)

// pointsText formats a trajectory as a table.
func pointsText(id, title string, points []orient.Point) string {
	if len(points) == 0 {
		return id + ": no commit changed its signals\n"
	}
	var b strings.Builder
	b.WriteString(cli.CutLine(id+" "+title, cli.ListWidth) + "\n\n")
	fmt.Fprintf(&b, "%-10s  %-7s  %8s  %-12s  %-11s  %s\n", "date", "commit", "surprise", "progress", "cynefin", "subject (> handoff)")
	for _, p := range points {
		mark := " "
		if p.Handoff {
			mark = ">"
		}
		values := fmt.Sprintf("%-35s", signals.NoTable)
		if p.Surprise != nil {
			values = fmt.Sprintf("%8s  %-12s  %-11s", trimmed(*p.Surprise), *p.Progress, *p.Cynefin)
		}
		line := fmt.Sprintf("%s  %.7s  %s %s%s", p.Time[:len("2006-01-02")], p.Commit, values, mark, p.Subject)
		b.WriteString(cli.CutLine(line, cli.ListWidth) + "\n")
	}
	return b.String()
}

// trimmed formats a surprise as a signal table does: 0.25, but 0.0.
func trimmed(surprise float64) string {
	text := strings.TrimRight(fmt.Sprintf("%.4f", surprise), "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text
}

// The size of a plot, which fits into 80 columns with its scale.
const (
	plotRows    = 5 // of 0.2 each, above the row of 0.0
	plotColumns = 72
)

// plotSurprise plots surprise by commit, one column a commit. If there are too many commits, a
// column shows the highest surprise of several.
func plotSurprise(points []orient.Point) string {
	columns := min(len(points), plotColumns)
	width := min(6, plotColumns/columns)       // characters per column
	level := slices.Repeat([]int{-1}, columns) // -1: no commit of the column has signals
	handoff := []byte(strings.Repeat(" ", columns*width))
	for i, p := range points {
		at := i * columns / len(points)
		if p.Surprise != nil {
			level[at] = max(level[at], int(*p.Surprise*plotRows+0.5))
		}
		if p.Handoff {
			handoff[at*width] = '^'
		}
	}
	var b strings.Builder
	b.WriteString("surprise, commit by commit\n")
	for row := plotRows; row >= 0; row-- {
		line := fmt.Sprintf("%.1f |", float64(row)/plotRows)
		for _, l := range level {
			mark := " "
			switch {
			case l == row:
				mark = "*"
			case l > row:
				mark = ":"
			}
			line += mark + strings.Repeat(" ", width-1)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if marks := strings.TrimRight(string(handoff), " "); marks != "" {
		b.WriteString("     " + marks + "  ^ handoff\n")
	}
	return b.String()
}

func TrajectoryCommand(a *cli.App) *cobra.Command {
	var since string
	var plot bool
	cmd := &cobra.Command{
		Use:   "trajectory ID",
		Short: "show how an issue's signals changed over commits",
		Long: "List the commits that changed the signals or the state estimate of an issue, oldest first,\n" +
			"also under earlier names of the store. A handoff is a checkpoint, or a new state estimate. On\n" +
			"a terminal, surprise is plotted.",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig trajectory demo-1\n  stig trajectory demo-1 --since 2026-11-01\n  stig trajectory demo-1 --since v1.2 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := service.TrajectoryOf(cmd.Context(), a.Run, args[0], since)
			return a.Result("trajectory", t, err, func() error {
				text := pointsText(t.ID, t.Title, t.Points)
				if len(t.Points) > 0 && (plot || a.ToTerminal()) {
					text += "\n" + plotSurprise(t.Points)
				}
				return a.Print(text)
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only changes after `WHEN`: a date, a time, or a revision")
	cmd.Flags().BoolVar(&plot, "plot", false, "plot surprise, as on a terminal")
	return cmd
}
