package main

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/early"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "the version of stig",
		GroupID: "connect",
		Args:    takes(0, 0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON("version", map[string]string{"version": early.Version})
			}
			return a.printf("stig %s\n", early.Version)
		},
	}
}
