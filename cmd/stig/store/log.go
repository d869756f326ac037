package store

import (
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// logOptions are the flags of stig log.
type logOptions struct {
	actor, since string
	limit        int
	forget       bool
}

// goingBack begins the help of log, undo and recover.
const goingBack = "Three commands deal with past edits:\n" +
	"  log      lists the edits that stig made in this clone\n" +
	"  undo     takes back your last edits, after a mistake\n" +
	"  recover  puts back edits that the store lost: through a bad merge, a reset, another program\n\n"

func LogCommand(a *cli.App) *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log [ID]",
		Short: "list the edits that stig made in this clone",
		Long: goingBack +
			"log reads the journal that stig keeps in git's directory (without git, beside the store), for\n" +
			"all work trees of the clone, oldest edit first. It keeps edits for at least 90 days, 64 MB at\n" +
			"most. --forget removes an issue, or all, from the journal, but nothing from the store.",
		Args:    cli.Takes(0, 1, "one ID at most"),
		Example: "  stig log\n  stig log demo-1 --since 7d\n  stig log --limit 5\n  stig log --actor mara --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.forget && (o.since != "" || o.actor != "" || cmd.Flags().Changed("limit")) {
				return workspace.Usage("--forget: takes an issue, or all; --since, --actor and --limit choose what is listed", "leave them out")
			}
			if o.forget {
				return forgetLog(a, args)
			}
			return log(a, args, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.actor, "actor", "", "only edits by `NAME`")
	flags.StringVar(&o.since, "since", "", "only edits since `WHEN`: a day, a time, or an age such as 24h, 7d, 2w")
	cli.Filters(cmd, "actor", "since")
	flags.IntVarP(&o.limit, "limit", "n", 0, "the last `N` edits (default all)")
	flags.BoolVar(&o.forget, "forget", false, "remove the issue, or all, from the journal")
	return cmd
}

// logged is the log as JSON.
type logged struct {
	Edits     []service.Logged `json:"edits"`
	Forgotten *int             `json:"forgotten,omitempty"`
}

func log(a *cli.App, ids []string, o logOptions) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	since, err := workspace.TimeOf(o.since, now)
	if err != nil {
		return err
	}
	edits, err := service.Log(a.Run, service.LogRequest{IDs: ids, Actor: o.actor, Since: since, Limit: o.limit})
	return a.Result("log", logged{Edits: edits}, err, func() error {
		if len(edits) == 0 {
			return a.Print("no edits\n")
		}
		var text strings.Builder
		for _, e := range edits {
			writeEdit(&text, e)
		}
		return a.Print(text.String())
	})
}

func forgetLog(a *cli.App, ids []string) error {
	count, err := service.ForgetLog(a.Run, ids)
	return a.Result("log", logged{[]service.Logged{}, &count}, err, func() error { return a.Printf("%s forgotten\n", visible.Counted(count, "edit")) })
}
