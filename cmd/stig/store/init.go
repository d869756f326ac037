package store

import (
	"context"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func InitCommand(a *cli.App) *cobra.Command {
	var r service.InitRequest
	var server service.ServerRequest
	cmd := &cobra.Command{
		Use:   "init",
		Short: "create an empty store in this repository",
		Long: "Create .beads with an empty issues.jsonl in the directory of -C, else at the root of the git\n" +
			"repository, else here. An empty directory outside of a repository becomes a repository, which\n" +
			"is trusted. Ids begin with the prefix, which is kept in .beads/prefix until issues show it;\n" +
			"config.yaml, if there is one, overrides it.\n" +
			"With --store mysql://USER@HOST:PORT/DATABASE, create stig's tables in that empty database,\n" +
			"and .beads/stig.json, which names it: see docs/database.md.",
		Args:    cli.Takes(0, 0, "nothing"),
		Example: "  stig init --prefix demo\n  stig init --store mysql://mara@db.example/harbor --import",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if jsonl.IsURL(a.Store) {
				server.Prefix, server.DryRun, server.Told = r.Prefix, r.DryRun, a.Counts()
				return initServer(cmd.Context(), a, server)
			}
			for _, flag := range []string{"import", "sync-file", "tls", "ca"} {
				if cmd.Flags().Changed(flag) {
					return workspace.Usage("--"+flag+": needs --store mysql://…", "leave it out, or name a server with --store")
				}
			}
			m, err := service.Init(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printMade(a, m, r.DryRun)
		},
	}
	cmd.Flags().StringVar(&r.Prefix, "prefix", "", "prefix of ids (default the directory's name)")
	cmd.Flags().BoolVar(&server.Import, "import", false, "on a server: import the issues of the local file")
	cmd.Flags().BoolVar(&server.SyncFile, "sync-file", false, "on a server: write issues.jsonl as a copy after each edit")
	cmd.Flags().StringVar(&server.TLS, "tls", "verify", "on a server: verify its certificate (verify), or not (off)")
	cmd.Flags().StringVar(&server.CA, "ca", "", "on a server: `FILE` with the authority of its certificate")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// made is a new store as JSON.
type made struct {
	Diff     *string  `json:"diff,omitempty"` // only of a dry run
	DryRun   bool     `json:"dry_run"`
	Founded  bool     `json:"founded"`            // a git repository was created, too
	Imported *int     `json:"imported,omitempty"` // on a server: number of issues
	Made     []string `json:"made"`
	Prefix   string   `json:"prefix"`
	Store    string   `json:"store"`
}

func printMade(a *cli.App, m *service.Made, dryRun bool) error {
	if a.JSON {
		data := made{Store: m.Store, Prefix: m.Prefix, Made: m.Files, Founded: m.Founded, DryRun: dryRun}
		if dryRun {
			data.Diff = &m.Diff
		}
		return a.PrintJSON("init", data)
	}
	if dryRun {
		if err := a.Print(m.Diff); err != nil {
			return err
		}
		a.Note("would make %s%s; ids begin with %s-", repository(m.Founded), m.Store, m.Prefix)
		return nil
	}
	if err := a.Printf("made %s%s; ids begin with %s-\n", repository(m.Founded), m.Store, m.Prefix); err != nil {
		return err
	}
	if m.Ignored {
		a.Warn("git ignores the store: nobody else gets it, and it has no history")
		a.Hint("take .beads out of .gitignore, or type git add -f " + m.Store)
	}
	a.Hint("type stig create TITLE to add the first issue")
	return nil
}

// repository returns the words for a git repository that was created with the store.
func repository(founded bool) string {
	if founded {
		return "a git repository with "
	}
	return ""
}

// initServer creates a store on the server that --store names.
func initServer(ctx context.Context, a *cli.App, r service.ServerRequest) error {
	if r.TLS != "verify" && r.TLS != "off" {
		return workspace.Usage("--tls: must be verify or off; found "+r.TLS, "leave it out to verify the server's certificate")
	}
	m, err := service.InitOnServer(ctx, a.Run, r)
	if err != nil {
		return err
	}
	if a.JSON {
		data := made{Store: m.Store, Prefix: m.Prefix, Made: m.Files, Imported: &m.Issues, DryRun: r.DryRun}
		if r.DryRun {
			data.Diff = &m.Diff
		}
		return a.PrintJSON("init", data)
	}
	verb := "made"
	if r.DryRun {
		if err := a.Print(m.Diff); err != nil {
			return err
		}
		verb = "would make"
	}
	what := "an empty store"
	if r.Import {
		what = "a store of " + visible.Counted(m.Issues, "issue")
	}
	if err := a.Printf("%s %s at %s; ids begin with %s-\n", verb, what, m.Store, m.Prefix); err != nil || r.DryRun {
		return err
	}
	switch {
	case r.Import && !r.SyncFile:
		a.Hint("commit .beads/stig.json, and remove the file of issues: git rm .beads/issues.jsonl; other clones need only the password")
	default:
		a.Hint("commit .beads/stig.json; other clones need only the password")
	}
	return nil
}
