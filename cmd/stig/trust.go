package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/gate"
)

func (a *app) trustCommand() *cobra.Command {
	var revoke, list bool
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
			switch {
			case list:
				return a.listTrust()
			case revoke:
				return a.revokeTrust(cmd.Context())
			}
			return a.grantTrust(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take it back")
	cmd.Flags().BoolVar(&list, "list", false, "list what is trusted")
	cmd.MarkFlagsMutuallyExclusive("revoke", "list")
	return cmd
}

// trustHere gives what is trusted and the repository that stig is started in.
func (a *app) trustHere(ctx context.Context) (trust gate.Trust, root, commit string, err error) {
	store, err := a.discover()
	if err != nil {
		return trust, "", "", err
	}
	s, err := a.site(ctx, store)
	if err != nil {
		return trust, "", "", err
	}
	if trust.Dir = s.state; trust.Dir == "" {
		return trust, "", "", usage("nobody says where to keep what is trusted", "set XDG_STATE_HOME or HOME")
	}
	root, commit, err = s.repository(ctx)
	return trust, root, commit, err
}

func (a *app) grantTrust(ctx context.Context) error {
	trust, root, commit, err := a.trustHere(ctx)
	if err != nil {
		return err
	}
	now, err := a.clock()
	if err != nil {
		return err
	}
	if err := trust.Grant(root, commit, now); err != nil {
		return err
	}
	return a.printTrust(root, true, "trusted: its acceptance criteria may run commands on this machine")
}

func (a *app) revokeTrust(ctx context.Context) error {
	trust, root, _, err := a.trustHere(ctx)
	if err != nil {
		return err
	}
	there, err := trust.Revoke(root)
	if err != nil {
		return err
	}
	if !there {
		return a.printTrust(root, false, "was not trusted, nothing changed")
	}
	return a.printTrust(root, false, "no longer trusted")
}

func (a *app) printTrust(root string, trusted bool, words string) error {
	if a.json {
		return a.printJSON("trust", map[string]any{"root": root, "trusted": trusted})
	}
	return a.printf("%s: %s\n", root, words)
}

func (a *app) listTrust() error {
	grants, err := gate.Trust{Dir: a.stateDir()}.List()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON("trust", map[string]any{"trusted": append([]gate.Grant{}, grants...)})
	}
	var text strings.Builder
	for _, g := range grants {
		fmt.Fprintf(&text, "%s  %s\n", g.Time.Local().Format(time.DateOnly), g.Root)
	}
	if grants == nil {
		text.WriteString("no repository is trusted\n")
	}
	return a.print(text.String())
}
