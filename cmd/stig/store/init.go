package store

import (
	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
)

func InitCommand(a *cli.App) *cobra.Command {
	var r app.InitRequest
	cmd := &cobra.Command{
		Use:   "init",
		Short: "make an empty store in this repository",
		Long: "Make .beads with an empty issues.jsonl in the directory of -C, else at the root\n" +
			"of the git repository, else here. Ids begin with the prefix, which is kept in\n" +
			".beads/prefix until issues show it; config.yaml, if there is one, counts more.",
		GroupID: "store",
		Args:    cli.Takes(0, 0, "nothing"),
		Example: "  stig init --prefix demo",
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := a.Init(cmd.Context(), r)
			if err != nil {
				return err
			}
			return printMade(a, m, r.DryRun)
		},
	}
	cmd.Flags().StringVar(&r.Prefix, "prefix", "", "what ids begin with (default the name of the directory)")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printMade(a *cli.App, m *app.Made, dryRun bool) error {
	if a.JSON {
		data := map[string]any{"store": m.Store, "prefix": m.Prefix, "made": m.Files, "dry_run": dryRun}
		if dryRun {
			data["diff"] = m.Diff
		}
		return a.PrintJSON("init", data)
	}
	if dryRun {
		if err := a.Print(m.Diff); err != nil {
			return err
		}
		a.Note("would make %s; ids begin with %s-", m.Store, m.Prefix)
		return nil
	}
	if err := a.Printf("made %s; ids begin with %s-\n", m.Store, m.Prefix); err != nil {
		return err
	}
	if m.Ignored {
		a.Warn("git ignores the store: nobody else gets it, and it has no history")
		a.Hint("take .beads out of .gitignore, or type git add -f " + m.Store)
	}
	a.Hint("type stig create TITLE to add the first issue")
	return nil
}
