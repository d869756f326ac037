package connect

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/gate"
	"stig/internal/workspace"
	"stig/signals"
)

func TrustCommand(a *cli.App) *cobra.Command {
	var r workspace.TrustRequest
	var list bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "allow this repository to run acceptance commands",
		Long: "Allow the commands in this repository's acceptance criteria to run on this machine. They are\n" +
			"text that came with the repository: read some first, with stig verify ID --plan. If a person\n" +
			"trusts the repository, the commands in the files of .stig/actors may run too, as they are\n" +
			"now. Trust is kept in your own state directory, by path and first commit. STIG_TRUST=1 trusts\n" +
			"any repository, for machines that run what they check out anyway.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig trust\n  stig trust --list\n  stig trust --revoke",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return listTrust(a)
			}
			result, err := a.Trust(cmd.Context(), r)
			if err != nil {
				return err
			}
			return printTrust(a, r, result)
		},
	}
	cmd.Flags().BoolVar(&r.Revoke, "revoke", false, "revoke the trust")
	cmd.Flags().BoolVar(&list, "list", false, "list what is trusted")
	a.Writes(cmd, &r.DryRun)
	cli.Exclude(cmd, "list", "revoke", "dry-run")
	return cmd
}

func printTrust(a *cli.App, r workspace.TrustRequest, t *workspace.TrustResult) error {
	if a.JSON {
		data := struct {
			Diff    *string `json:"diff,omitempty"`
			DryRun  bool    `json:"dry_run"`
			Root    string  `json:"root"`
			Trusted bool    `json:"trusted"`
		}{DryRun: r.DryRun, Root: t.Root, Trusted: t.Trusted}
		if r.DryRun {
			data.Diff = &t.Diff
		}
		return a.PrintJSON("trust", data)
	}
	words := "trusted: its acceptance criteria may run commands on this machine"
	switch {
	case r.DryRun:
		return a.Print(cmp.Or(t.Diff, "nothing would change\n"))
	case r.Revoke && t.Before:
		words = "no longer trusted"
	case r.Revoke:
		words = "was not trusted, nothing changed"
	}
	return a.Printf("%s: %s\n", t.Root, words)
}

func listTrust(a *cli.App) error {
	grants, err := a.Grants()
	body := struct {
		Trusted []gate.Grant `json:"trusted"`
	}{append([]gate.Grant{}, grants...)}
	return a.Result("trust", body, err, func() error {
		return a.Print(grantsText(grants))
	})
}

func grantsText(grants []gate.Grant) string {
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
	return text.String()
}
