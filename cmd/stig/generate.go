package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"stig/app"
	"stig/cmd/stig/cli"
)

// generateCommand writes what a release has beside the program.
func generateCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:    "generate DIR",
		Short:  "write manual pages and completions for a release",
		Long:   "generate writes manual pages into DIR/man, and completions into DIR/completions.",
		Hidden: true,
		Args:   cli.Takes(1, 1, "a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v := built()
			day, err := time.Parse(time.DateOnly, v.Date)
			if err != nil {
				day = a.Now()
			}
			return generate(cmd.Root(), args[0], v.Version, day)
		},
	}
}

// generate writes the pages of all commands below root, with a version and its day.
func generate(root *cobra.Command, dir, version string, day time.Time) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	if err := errors.Join(os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755)); err != nil {
		return app.Usage(err.Error(), "name a directory that may be written")
	}
	root.DisableAutoGenTag = true
	return errors.Join(
		doc.GenManTree(root, &doc.GenManHeader{Source: "stig " + version, Date: &day}, man),
		root.GenBashCompletionFileV2(filepath.Join(completions, "stig.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_stig")),
		root.GenFishCompletionFile(filepath.Join(completions, "stig.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "stig.ps1")),
	)
}
