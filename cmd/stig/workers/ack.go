package workers

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service/traces"
	"stig/internal/visible"
)

// AckCommand is stig ack.
func AckCommand(a *cli.App) *cobra.Command {
	var r traces.AckRequest
	cmd := &cobra.Command{
		Use:   "ack ITEM… | --all",
		Short: "acknowledge items of your inbox",
		Long: "Acknowledge items of an inbox, so that stig inbox lists them no more: all that are named,\n" +
			"or none. What is acknowledged already stays so. A trace that answers another one, with\n" +
			"--re, acknowledges that by itself: for everybody it was addressed to by role, else for\n" +
			"who answered. Acknowledgements are kept in this clone, or in the database, until the\n" +
			"issue is closed for seven days.",
		GroupID: "workers",
		Args:    cli.Takes(0, -1, "items"),
		Example: "  stig ack t-k2qhn5rzvw\n  stig ack --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Items = args
			acked, err := traces.Ack(cmd.Context(), a.Run, r)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON("acked", acked)
			}
			return printAcked(a, acked, r.DryRun)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&r.All, "all", false, "everything that is not acknowledged yet")
	flags.StringSliceVar(&r.Roles, "role", nil, "serve `ROLE` too, as for stig inbox")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printAcked(a *cli.App, acked *traces.Acked, dryRun bool) error {
	did := "acknowledged "
	if dryRun {
		did = "would acknowledge "
	}
	if len(acked.Acked)+len(acked.There) == 0 {
		return a.Printf("nothing to acknowledge\n")
	}
	s := a.Sheet()
	for _, id := range acked.Acked {
		s.Line(cli.Plain, did+id)
	}
	for _, id := range acked.There {
		s.Line(cli.Plain, visible.OneLine(id)+" was acknowledged before")
	}
	return a.Show(s)
}
