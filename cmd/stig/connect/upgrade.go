package connect

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/cmd/stig/early"
	"stig/upgrade"
)

// upgradeOutput is what the latest release is, beside the program that asks.
type upgradeOutput struct {
	Version string `json:"version"`
	Newer   bool   `json:"newer"`
	upgrade.Release
}

func UpgradeCommand(a *cli.App) *cobra.Command {
	var check bool
	var at string
	cmd := &cobra.Command{
		Use:   "upgrade --check",
		Short: "say whether there is a later release, and what is new",
		Long: "upgrade --check sends one request for the latest release and prints what is new in it. The\n" +
			"request says nothing about you, this machine or this version, and no other command asks.\n" +
			"The address is that of --url, or else STIG_UPGRADE_URL, or else the one that the release\n" +
			"knows: a URL that answers with a release as JSON, as GitHub, Gitea and Forgejo do.\n" +
			"stig does not replace itself: what installed it upgrades it.",
		GroupID: "connect",
		Args:    cli.Takes(0, 0, "nothing"),
		Example: "  stig upgrade --check\n  stig upgrade --check --url https://api.github.com/repos/OWNER/stig/releases/latest",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !check {
				return app.Usage("stig does not replace itself", "type stig upgrade --check to see whether there is a later release, and upgrade it with what installed it")
			}
			at := cmp.Or(at, a.Getenv("STIG_UPGRADE_URL"), early.Latest)
			if at == "" {
				return app.Usage("this program knows no address to ask", "name one: stig upgrade --check --url URL")
			}
			latest, err := upgrade.Latest(cmd.Context(), at)
			out := upgradeOutput{early.Version, upgrade.IsNewer(latest.Version, early.Version), latest}
			return a.Result("upgrade", out, err, func() error { return a.Print(out.text()) })
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "ask for the latest release, change nothing")
	cmd.Flags().StringVar(&at, "url", "", "ask at `URL`")
	return cmd
}

func (o upgradeOutput) text() string {
	if !o.Newer {
		return fmt.Sprintf("no later release: this is stig %s, the latest is %s\n", o.Version, o.Release.Version)
	}
	text := fmt.Sprintf("stig %s is new, this is %s\n", o.Release.Version, o.Version)
	for _, more := range []string{o.Date, o.Page} {
		if more != "" {
			text += more + "\n"
		}
	}
	if o.Notes != "" {
		text += "\n" + o.Notes + "\n"
	}
	return text
}
