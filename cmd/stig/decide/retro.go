package decide

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
	"stig/orient"
)

func RetroCommand(a *cli.App) *cobra.Command {
	var last int
	cmd := &cobra.Command{
		Use:   "retro [EPIC]",
		Short: "find patterns in closed issues",
		Long: "Look back at the issues that were closed last: their surprise, and what passed its criteria\n" +
			"at first, was waived, was reopened, or surprised nobody. stig draws no conclusions from four\n" +
			"issues or fewer. It drafts a question to a person about what stands out; to ask it, type stig\n" +
			"escalate ID --process.",
		Args:    cli.Takes(0, 1, "one epic at most"),
		Example: "  stig retro\n  stig retro demo-e --last 12",
		RunE: func(_ *cobra.Command, args []string) error {
			if last < 1 {
				return workspace.Usage(fmt.Sprintf("--last: must be at least 1; found %d", last), "")
			}
			r, err := service.LookBack(a.Run, strings.Join(args, ""), last)
			if err != nil {
				return err
			}
			return a.Result("retro", r, nil, func() error { return a.PrintMarkdown(r.Markdown()) })
		},
	}
	cmd.Flags().IntVar(&last, "last", orient.RetroLast, "look at the last `N` closed issues")
	return cmd
}
