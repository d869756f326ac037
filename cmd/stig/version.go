package main

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/cmd/stig/early"
)

func versionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "the version of stig",
		GroupID: "connect",
		Args:    cli.Takes(0, 0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return a.PrintJSON("version", map[string]string{"version": early.Version})
			}
			return a.Printf("stig %s\n", early.Version)
		},
	}
}
