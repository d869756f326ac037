package graph

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func BlockedCommand(a *cli.App) *cobra.Command {
	var parent string
	var bd bool
	cmd := &cobra.Command{
		Use:   "blocked",
		Short: "list blocked issues, and what they wait for",
		Long: "List the issues with unclosed blockers, their own or those of an epic above them, by\n" +
			"priority, then id. For issues of status blocked without blockers: stig list --status blocked.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig blocked\n  stig blocked --parent demo-4k2",
		RunE: func(*cobra.Command, []string) error {
			list, err := service.Blocked(a.Run, parent)
			if err == nil && bd {
				return a.PrintBD(list.BD)
			}
			return a.Result("blocked", list, err, func() error { return printBlocked(a, list) })
		},
	}
	cmd.Flags().StringVar(&parent, "parent", "", "only issues within the epic `ID`")
	cli.Filters(cmd, "parent")
	a.BDFormat(cmd, &bd)
	return cmd
}

func printBlocked(a *cli.App, list *service.BlockedList) error {
	var b strings.Builder
	widest := 0
	for _, row := range list.Rows {
		widest = max(widest, utf8.RuneCountInString(row.ID))
	}
	for _, row := range list.Rows {
		fmt.Fprintf(&b, "P%d  %-*s  %s  (%s)\n", row.Priority, widest, row.ID, visible.OneLine(row.Title), strings.Join(row.Holds, "; "))
	}
	fmt.Fprintf(&b, "%s\n", visible.Counted(list.Total, "issue"))
	if err := a.Print(b.String()); err != nil {
		return err
	}
	if list.StatusBlocked > 0 {
		a.Hint(fmt.Sprintf("%s with status blocked: stig list --status blocked", visible.Counted(list.StatusBlocked, "other issue")))
	}
	return nil
}

// TreeCommand returns stig dep tree.
func TreeCommand(a *cli.App) *cobra.Command {
	var up bool
	var direction string
	depth := 50
	cmd := &cobra.Command{
		Use:     "tree ID",
		Short:   "show what an issue depends on, as a tree",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig dep tree demo-2\n  stig dep tree demo-2 --direction up",
		RunE: func(_ *cobra.Command, args []string) error {
			switch direction {
			case "down":
			case "up":
				up = true
			default:
				return workspace.Usage(fmt.Sprintf("--direction: must be down or up; found %q", direction), "")
			}
			rows, err := service.Tree(a.Run, args[0], up, depth)
			return a.Result("tree", treeOutput{rows}, err, func() error { return a.Print(treeText(rows)) })
		},
	}
	cmd.Flags().StringVar(&direction, "direction", "down", "down: what it depends on; up: what depends on it")
	cmd.Flags().BoolVar(&up, "reverse", false, "the same as --direction up")
	cmd.Flags().IntVarP(&depth, "max-depth", "d", depth, "at most `N` levels deep")
	return cmd
}

type treeOutput struct {
	Tree []service.TreeRow `json:"tree"`
}

// treeText draws the rows as a tree.
func treeText(rows []service.TreeRow) string {
	var b strings.Builder
	var more []bool // by depth: whether another row follows at that depth, below the same issue
	for k, row := range rows {
		more = append(more[:min(row.Depth, len(more))], follows(rows[k:]))
		for d := 1; d <= row.Depth; d++ {
			switch {
			case d < row.Depth && more[d]:
				b.WriteString("│   ")
			case d < row.Depth:
				b.WriteString("    ")
			case more[d]:
				b.WriteString("├── ")
			default:
				b.WriteString("└── ")
			}
		}
		fmt.Fprintf(&b, "%s %s (%s)\n", row.ID, visible.OneLine(row.Title), treeWords(row))
	}
	if len(rows) == 1 {
		b.WriteString("no dependencies\n")
	}
	return b.String()
}

// follows reports whether another row at the depth of the first comes before a shallower one.
func follows(rows []service.TreeRow) bool {
	for _, row := range rows[1:] {
		if row.Depth <= rows[0].Depth {
			return row.Depth == rows[0].Depth
		}
	}
	return false
}

func treeWords(row service.TreeRow) string {
	words := row.Status
	if row.Type != "" {
		words = row.Type + ", " + words
	}
	switch {
	case row.Cycle:
		words += "; forms a cycle"
	case row.Truncated:
		words += "; not expanded"
	}
	return words
}
