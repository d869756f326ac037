package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/signals"
	"stig/verify"
)

func (a *app) trustCommand() *cobra.Command {
	var revoke, list, dryRun bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "let the commands in this repository's acceptance criteria run on this machine",
		Long: "Let the commands in this repository's acceptance criteria run on this machine. They are\n" +
			"text that came with the repository: read some first, with stig verify ID --plan. What\n" +
			"is trusted is kept in your own state directory, by path and first commit.\n" +
			"STIG_TRUST=1 trusts whatever is there, for machines that run what they check out anyway.",
		GroupID: "connect",
		Args:    takes(0, 0, "no arguments"),
		Example: "  stig trust\n  stig trust --list\n  stig trust --revoke",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return a.listTrust()
			}
			trust, grant, err := a.trustHere(cmd.Context())
			switch {
			case err != nil:
				return err
			case dryRun:
				return a.previewTrust(trust, grant, revoke)
			case revoke:
				return a.revokeTrust(trust, grant)
			}
			return a.grantTrust(trust, grant)
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take it back")
	cmd.Flags().BoolVar(&list, "list", false, "list what is trusted")
	a.writes(cmd, &dryRun)
	exclude(cmd, "list", "revoke", "dry-run")
	return cmd
}

// trustHere gives what is trusted, and the grant for the repository that stig is
// started in.
func (a *core) trustHere(ctx context.Context) (trust verify.Trust, grant verify.Grant, err error) {
	store, err := a.discover()
	if err != nil {
		return trust, grant, err
	}
	s, err := a.site(ctx, store)
	if err != nil {
		return trust, grant, err
	}
	if trust.Dir = s.state; trust.Dir == "" {
		return trust, grant, usage("nobody says where to keep what is trusted", "set XDG_STATE_HOME or HOME")
	}
	if grant.Root, grant.Commit, err = s.repository(ctx); err != nil {
		return trust, grant, err
	}
	if grant.Time, err = a.clock(); err != nil {
		return trust, grant, err
	}
	grant.By, err = a.actorName(ctx)
	return trust, grant, err
}

func (a *app) grantTrust(trust verify.Trust, grant verify.Grant) error {
	if err := trust.Grant(grant); err != nil {
		return err
	}
	return a.printTrust(grant.Root, true, "trusted: its acceptance criteria may run commands on this machine")
}

func (a *app) revokeTrust(trust verify.Trust, grant verify.Grant) error {
	there, err := trust.Revoke(grant.Root)
	if err != nil {
		return err
	}
	if !there {
		return a.printTrust(grant.Root, false, "was not trusted, nothing changed")
	}
	return a.printTrust(grant.Root, false, "no longer trusted")
}

// previewTrust shows what would become of the record of a grant.
func (a *app) previewTrust(trust verify.Trust, grant verify.Grant, revoke bool) error {
	path, after, err := trust.Record(grant)
	if err != nil {
		return err
	}
	if revoke {
		after = nil
	}
	file := hostFile{path: path}
	before, err := file.read()
	if err != nil {
		return err
	}
	diff := file.diff(before, after)
	if a.json {
		return a.printJSON("trust", map[string]any{
			"root": grant.Root, "trusted": trust.Granted(grant.Root, grant.Commit), "dry_run": true, "diff": diff,
		})
	}
	return a.print(cmp.Or(diff, "nothing would change\n"))
}

func (a *app) printTrust(root string, trusted bool, words string) error {
	if a.json {
		return a.printJSON("trust", map[string]any{"root": root, "trusted": trusted, "dry_run": false})
	}
	return a.printf("%s: %s\n", root, words)
}

func (a *app) listTrust() error {
	grants, err := verify.Trust{Dir: a.stateDir()}.List()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON("trust", map[string]any{"trusted": append([]verify.Grant{}, grants...)})
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
	return a.print(text.String())
}
