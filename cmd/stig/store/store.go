package store

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Command returns stig store.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "copy a store between a file and a server",
		Long: "Copy whole stores between a file and a server, and keep the copy in git of a store on a\n" +
			"server up to date.",
		Args: a.UnknownCommand,
		RunE: a.HelpAlone,
	}
	cmd.AddCommand(copyCommand(a), syncCommand(a))
	return cmd
}

func copyCommand(a *cli.App) *cobra.Command {
	var r service.CopyRequest
	cmd := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "copy a whole store, byte for byte",
		Long: "Copy every line of a store into one that is empty or does not exist yet. FROM and TO are each\n" +
			"the path of a JSONL file or a URL such as mysql://mara@db.example:3306/harbor. stig reads\n" +
			"back what it wrote and compares. After an interruption, TO is empty: retry.",
		Args:    cli.Takes(2, 2, "two stores, each a file or a URL"),
		Example: "  stig store copy .beads/issues.jsonl mysql://mara@db.example/harbor\n  stig store copy mysql://mara@db.example/harbor backup.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.From, r.To, r.Told = args[0], args[1], a.Counts()
			c, err := service.CopyStore(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printCopied(a, c, r.DryRun)
		},
	}
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// copied is a copy of a store as JSON.
type copied struct {
	Behind  bool   `json:"behind"`
	Bytes   int    `json:"bytes"`
	DryRun  bool   `json:"dry_run"`
	From    string `json:"from"`
	Hash    string `json:"sha256"`
	To      string `json:"to"`
	Written bool   `json:"written"`
}

func printCopied(a *cli.App, c service.Copied, dryRun bool) error {
	if a.JSON {
		return a.PrintJSON("store_copy", copied{
			From: c.From.Name(), To: c.To.Name(), Bytes: c.Bytes, Hash: c.Hash, Behind: true, Written: !dryRun, DryRun: dryRun,
		})
	}
	if dryRun {
		return a.Printf("would copy %s, %s, from %s to %s\n", visible.Counted(c.Issues, "issue"), visible.Counted(c.Bytes, "byte"), c.From.Name(), c.To.Name())
	}
	if err := a.Printf("copied %s, %s, from %s to %s; SHA-256 %s\n", visible.Counted(c.Issues, "issue"), visible.Counted(c.Bytes, "byte"), c.From.Name(), c.To.Name(), c.Hash); err != nil {
		return err
	}
	if c.To.URL != "" && !workspace.Exists(c.To.Path) {
		a.Hint(fmt.Sprintf(`type mkdir -p .beads && echo '{"store": "%s"}' > .beads/stig.json to work there`, c.To.URL))
	}
	return nil
}

func syncCommand(a *cli.App) *cobra.Command {
	var check, dryRun bool
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "write a store on a server to its copy in git",
		Long: "Write what the server has into issues.jsonl beside stig.json, if that differs, for review and\n" +
			"for programs that read files. Lines that the server never had are not overwritten. With\n" +
			"--check, write nothing; the exit code is 1 if the copy is behind. With \"sync_file\": true in\n" +
			"stig.json, every edit made here writes the copy.",
		Args:    cli.Takes(0, 0, "nothing"),
		Example: "  stig store sync\n  stig store sync --check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return sync(cmd.Context(), a, check, check || dryRun)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit with 1 if the copy is behind")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "write nothing")
	a.Acts(cmd)
	return cmd
}

func sync(ctx context.Context, a *cli.App, check, dryRun bool) error {
	s, err := service.SyncCopy(ctx, a.Run, dryRun)
	if err != nil {
		return err
	}
	switch {
	case a.JSON:
		err = a.PrintJSON("store_copy", copied{
			From: s.Store, To: s.Copy, Bytes: s.Bytes, Hash: s.Hash, Behind: s.Behind, Written: s.Written, DryRun: dryRun,
		})
	case !s.Behind:
		err = a.Printf("%s: is current: %s\n", s.Copy, visible.Counted(s.Lines, "line"))
	case s.Written:
		err = a.Printf("%s: written: %s\n", s.Copy, visible.Counted(s.Lines, "line"))
	default:
		err = a.Printf("%s: is behind %s\n", s.Copy, s.Store)
	}
	if err == nil && check && s.Behind {
		a.Hint("type stig store sync, and commit " + s.Copy)
		return workspace.Found()
	}
	return err
}
