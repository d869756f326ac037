package store

import (
	"context"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/jsonl"
)

func InitCommand(a *cli.App) *cobra.Command {
	var prefix string
	var dryRun bool
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
			dir, err := a.Home(cmd.Context())
			if err != nil {
				return err
			}
			if prefix, err = a.Prefix(prefix, dir); err != nil {
				return err
			}
			return runInit(cmd.Context(), a, dir, prefix, dryRun)
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "what ids begin with (default the name of the directory)")
	a.Writes(cmd, &dryRun)
	return cmd
}

func runInit(ctx context.Context, a *cli.App, dir, prefix string, dryRun bool) error {
	if dryRun {
		return previewInit(a, dir, prefix)
	}
	store, made, err := jsonl.Init(dir, prefix)
	if err != nil {
		return err
	}
	if a.JSON {
		files := []string{}
		for _, f := range made {
			files = append(files, app.Shortest(f))
		}
		return a.PrintJSON("init", map[string]any{"store": app.Shortest(store.Path), "prefix": prefix, "made": files, "dry_run": false})
	}
	if err := a.Printf("made %s; ids begin with %s-\n", app.Shortest(store.Path), prefix); err != nil {
		return err
	}
	a.WarnOfIgnored(ctx, store)
	a.Hint("type stig create TITLE to add the first issue")
	return nil
}

// previewInit shows the files that init would make. The store is empty, so that
// the diff has no line of it.
func previewInit(a *cli.App, dir, prefix string) error {
	store, files, err := jsonl.Blank(dir, prefix)
	if err != nil {
		return err
	}
	path, diff := app.Shortest(store.Path), ""
	for _, f := range files {
		diff += app.HostFile{Path: f.Path}.Diff(nil, []byte(f.Text))
	}
	if a.JSON {
		return a.PrintJSON("init", map[string]any{"store": path, "prefix": prefix, "made": []string{}, "dry_run": true, "diff": diff})
	}
	if err := a.Print(diff); err != nil {
		return err
	}
	a.Note("would make %s; ids begin with %s-", path, prefix)
	return nil
}
