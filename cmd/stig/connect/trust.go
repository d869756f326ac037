package connect

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/signals"
	"stig/verify"
)

func TrustCommand(a *cli.App) *cobra.Command {
	var revoke, list, dryRun bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "let the commands in this repository's acceptance criteria run on this machine",
		Long: "Let the commands in this repository's acceptance criteria run on this machine. They are\n" +
			"text that came with the repository: read some first, with stig verify ID --plan. What\n" +
			"is trusted is kept in your own state directory, by path and first commit.\n" +
			"STIG_TRUST=1 trusts whatever is there, for machines that run what they check out anyway.",
		GroupID: "connect",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig trust\n  stig trust --list\n  stig trust --revoke",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return listTrust(a)
			}
			trust, grant, err := a.TrustHere(cmd.Context())
			switch {
			case err != nil:
				return err
			case dryRun:
				return previewTrust(a, trust, grant, revoke)
			case revoke:
				return revokeTrust(a, trust, grant)
			}
			return grantTrust(a, trust, grant)
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take it back")
	cmd.Flags().BoolVar(&list, "list", false, "list what is trusted")
	a.Writes(cmd, &dryRun)
	cli.Exclude(cmd, "list", "revoke", "dry-run")
	return cmd
}

func grantTrust(a *cli.App, trust verify.Trust, grant verify.Grant) error {
	if err := trust.Grant(grant); err != nil {
		return err
	}
	return printTrust(a, grant.Root, true, "trusted: its acceptance criteria may run commands on this machine")
}

func revokeTrust(a *cli.App, trust verify.Trust, grant verify.Grant) error {
	there, err := trust.Revoke(grant.Root)
	if err != nil {
		return err
	}
	if !there {
		return printTrust(a, grant.Root, false, "was not trusted, nothing changed")
	}
	return printTrust(a, grant.Root, false, "no longer trusted")
}

// previewTrust shows what would become of the record of a grant.
func previewTrust(a *cli.App, trust verify.Trust, grant verify.Grant, revoke bool) error {
	path, after, err := trust.Record(grant)
	if err != nil {
		return err
	}
	if revoke {
		after = nil
	}
	file := app.HostFile{Path: path}
	before, err := file.Read()
	if err != nil {
		return err
	}
	diff := file.Diff(before, after)
	if a.JSON {
		return a.PrintJSON("trust", map[string]any{
			"root": grant.Root, "trusted": trust.Granted(grant.Root, grant.Commit), "dry_run": true, "diff": diff,
		})
	}
	return a.Print(cmp.Or(diff, "nothing would change\n"))
}

func printTrust(a *cli.App, root string, trusted bool, words string) error {
	if a.JSON {
		return a.PrintJSON("trust", map[string]any{"root": root, "trusted": trusted, "dry_run": false})
	}
	return a.Printf("%s: %s\n", root, words)
}

func listTrust(a *cli.App) error {
	grants, err := verify.Trust{Dir: a.StateDir()}.List()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON("trust", map[string]any{"trusted": append([]verify.Grant{}, grants...)})
	}
	var text strings.Builder
	for _, g := range grants {
		fmt.Fprintf(&text, "%s  %s", signals.Day(g.Time), g.Root)
		if g.By != "" {
			text.WriteString("  by " + g.By)
		}
		text.WriteString("\n")
	}
	if grants == nil {
		text.WriteString("no repository is trusted\n")
	}
	return a.Print(text.String())
}
